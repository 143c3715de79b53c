import { hostname } from 'node:os';
import { dirname } from 'node:path';

/** What a user or %group may do, by a rule of sudoers. */
export interface Grant {
  readonly file: string;
  /** A user, '#uid', '%group' or '%#gid'. */
  readonly to: string;
}

export interface SudoersFiles {
  /** Empty: it cannot be read. */
  readonly textOf: (file: string) => string;
  /** None: it cannot be read. */
  readonly namesIn: (directory: string) => readonly string[];
}

/** Larger than any real set of files; sudo itself follows 128 includes in one another. */
const MAX_FILES = 256;

/**
 * The users and %groups that may run ALL commands as root (man 5 sudoers). What sudoers includes is followed, and aliases of
 * users, commands and those to run as are resolved. Whether the host matches is not asked, and `!` excludes none: an operator
 * too many is only protected.
 */
export function grantsOfAll(main: string, directory: string, files: SudoersFiles): readonly Grant[] {
  const lines = linesOf([main, ...filesIn(directory, files)], files);
  const aliases = new Map<string, readonly string[]>();
  for (const { tokens } of lines) for (const [name, members] of aliasesIn(tokens)) aliases.set(name, members);
  return lines.flatMap(({ file, tokens }) => grantedIn(tokens, aliases).map((to) => ({ file, to })));
}

/** sudo reads none with a dot, or a ~ at its end. */
function filesIn(directory: string, { namesIn }: SudoersFiles): readonly string[] {
  return namesIn(directory)
    .filter((name) => !name.includes('.') && !name.endsWith('~'))
    .map((name) => `${directory}/${name}`);
}

interface Line {
  readonly file: string;
  readonly tokens: readonly Token[];
}

/** Each file once, so that a cycle of includes ends. */
function linesOf(first: readonly string[], from: SudoersFiles): readonly Line[] {
  const files = [...first];
  const lines: Line[] = [];
  for (let index = 0; index < files.length && index < MAX_FILES; index += 1) {
    const file = files[index] ?? '';
    const text = from.textOf(file);
    for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
      const [, isDirectory, written] = /^[#@]include(dir)?[ \t]+(.+)$/.exec(line) ?? [];
      if (written === undefined) {
        lines.push({ file, tokens: tokensOf(line) });
        continue;
      }
      const path = includedPath(written, file);
      const found = isDirectory === undefined ? [path] : filesIn(path, from);
      files.push(...found.filter((each) => !files.includes(each)));
    }
  }
  return lines;
}

/** Relative to the directory of the file that includes it; %h is the name of the host without its domain. */
function includedPath(written: string, file: string): string {
  const [, quoted] = /^"([^"]*)"/.exec(written) ?? [];
  const path = (quoted ?? written.trim().replace(/\\(.)/g, '$1')).replaceAll('%h', hostname().split('.')[0] ?? '').replace(/\/+$/, '');
  return path.startsWith('/') ? path : `${dirname(file)}/${path}`;
}

/** A word, or one of `, = : ( ) !`. */
interface Token {
  readonly text: string;
  readonly isWord: boolean;
}

/** Quotes and backslashes belong to a word. `#` begins a comment, except before the digits of an id. */
function tokensOf(line: string): readonly Token[] {
  return [...line.matchAll(TOKEN)].flatMap(([, comment, sign, word = '']): Token[] => {
    if (comment !== undefined) return [];
    if (sign !== undefined) return [{ text: sign, isWord: false }];
    return [{ text: word.replace(/"([^"]*)"|\\(.)/g, (_, quoted?: string, escaped?: string) => quoted ?? escaped ?? ''), isWord: true }];
  });
}

const TOKEN = /(#(?!\d).*$)|([,=:()!])|((?:"[^"]*"|\\.|%?#(?=\d)|[^\s,=:()!"\\#])+)/g;

const ALIASES: ReadonlySet<string> = new Set(['User_Alias', 'Runas_Alias', 'Cmnd_Alias', 'Cmd_Alias']);
/** Before a command: `CWD=/tmp`. */
const OPTION = /^(?:ROLE|TYPE|APPARMOR_PROFILE|PRIVS|LIMITPRIVS|NOTBEFORE|NOTAFTER|TIMEOUT|CWD|CHROOT)$/;
/** Before a command: `NOPASSWD:`. */
const TAG = /^(?:NO)?(?:EXEC|FOLLOW|INTERCEPT|LOG_INPUT|LOG_OUTPUT|MAIL|PASSWD|SETENV)$/;

/** `User_Alias ADMINS = ann, bob : OPS = %ops`. The kinds of aliases do not share names in practice. */
function aliasesIn([kind, ...rest]: readonly Token[]): readonly (readonly [string, readonly string[]])[] {
  if (kind === undefined || !ALIASES.has(kind.text)) return [];
  return splitAt(rest, ':').flatMap((definition) => {
    const [name, equals, ...members] = definition;
    if (name === undefined || equals?.text !== '=') return [];
    return [[name.text, splitAt(members, ',').flatMap(memberOf)] as const];
  });
}

/** The words of a member; none for one with `!`. A command with arguments is one member. */
function memberOf(tokens: readonly Token[]): readonly string[] {
  if (tokens.length === 0 || tokens.some(({ isWord }) => !isWord)) return [];
  return [tokens.map(({ text }) => text).join(' ')];
}

/** `USERS HOSTS = COMMANDS : HOSTS = COMMANDS`: the users, if ALL is among the commands as root. */
function grantedIn(tokens: readonly Token[], aliases: Aliases): readonly string[] {
  const [first] = tokens;
  if (first === undefined || /_Alias$|^Defaults(?:[@>]|$)/.test(first.text)) return [];
  const isItem = (index: number): boolean => index === 0 || [',', '!'].includes(tokens[index - 1]?.text ?? '');
  const hosts = tokens.findIndex(({ isWord }, index) => isWord && !isItem(index));
  if (hosts === -1 || !grantsAll(tokens.slice(hosts), aliases)) return [];
  return splitAt(tokens.slice(0, hosts), ',')
    .flatMap(memberOf)
    .flatMap((name) => resolved(name, aliases));
}

/** Those to run as hold for the commands that follow, until a colon begins other hosts. */
function grantsAll(tokens: readonly Token[], aliases: Aliases): boolean {
  const signAt = (index: number): string | undefined => (tokens[index]?.isWord === false ? tokens[index].text : undefined);
  let [isAsRoot, isInHosts] = [true, true];
  let command: Token[] = [];
  const isAll = (): boolean => isAsRoot && !isInHosts && memberOf(command).some((name) => resolved(name, aliases).includes('ALL'));
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    const sign = signAt(index);
    if (token === undefined) break;
    if (isInHosts) {
      isInHosts = sign !== '=';
    } else if (sign === '(') {
      const end = tokens.findIndex((_, at) => at > index && signAt(at) === ')');
      if (end === -1) return false;
      const [users = []] = splitAt(tokens.slice(index + 1, end), ':');
      const names = splitAt(users, ',').flatMap(memberOf);
      isAsRoot = names.flatMap((name) => resolved(name, aliases)).some((name) => ['ALL', 'root', '#0'].includes(name));
      index = end;
    } else if (command.length === 0 && token.isWord && TAG.test(token.text) && signAt(index + 1) === ':') {
      index += 1;
    } else if (command.length === 0 && token.isWord && OPTION.test(token.text) && signAt(index + 1) === '=') {
      index += 2;
    } else if (sign === ',' || sign === ':') {
      if (isAll()) return true;
      command = [];
      if (sign === ':') [isAsRoot, isInHosts] = [true, true];
    } else {
      command.push(token);
    }
  }
  return isAll();
}

type Aliases = ReadonlyMap<string, readonly string[]>;

/**
 * What an alias stands for, also by way of others; a name that is not one stands for itself.
 *
 * @param seen  the aliases that are resolved already, each once
 */
function resolved(name: string, aliases: Aliases, seen = new Set<string>()): readonly string[] {
  const members = aliases.get(name);
  if (members === undefined) return [name];
  if (seen.has(name)) return [];
  seen.add(name);
  return members.flatMap((member) => resolved(member, aliases, seen));
}

function splitAt(tokens: readonly Token[], sign: string): readonly (readonly Token[])[] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (!token.isWord && token.text === sign) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}
