import { Command } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { UsageError } from '../errors.js';
import type { CommandEdge, CommandList } from './output/command.js';
import { formatError, usageMessage } from './output/error-text.js';
import { HELP_ALL, HELP_WIDTH, helpLayout, RARE_COMMANDS } from './output/help.js';

/** This command loads every other command. */
const COMPLETION = 'completion';

/** Commands that `evictd --help` only names. */
const RARE: ReadonlySet<string> = new Set([
  'shutdown',
  'admit',
  'reclaim',
  'evict',
  'drain',
  'cordon',
  'uncordon',
  'reload',
  'pause',
  'resume',
  'taint',
  'uninstall',
  'restore',
  'replay',
  'simulate',
  'controller',
  'demo',
  COMPLETION,
]);

/**
 * Parses the command line and runs the command.
 *
 * @param args  without the program's name
 * @throws CommanderError  after help, the version or a usage error were written; else what the command throws
 */
export async function runProgram(edge: CommandEdge, args: readonly string[], list: CommandList): Promise<void> {
  const [name = ''] = args;
  // Only the command that is called is loaded, which halves the time to start `check`. Help, a misspelt name and the
  // completion need all of them.
  const needed = Object.hasOwn(list, name) && name !== COMPLETION ? [name] : Object.keys(list);
  const shown = await commandsOf(edge, needed, list);
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const isWhole = args.includes(HELP_ALL);
  const words = isWhole ? args.map((word, index) => (word === HELP_ALL && index < end ? '--help' : word)) : args;
  await program(edge, shown, isWhole).parseAsync(words, { from: 'user' });
}

async function commandsOf(edge: CommandEdge, names: readonly string[], list: CommandList): Promise<Command[]> {
  const commands = await Promise.all(names.map(async (each) => (await list[each]?.())?.(edge)));
  return commands.filter((command) => command !== undefined);
}

/** evictd with all its commands, for what is made of them. */
export async function wholeProgram(edge: CommandEdge, list: CommandList): Promise<Command> {
  return program(edge, await commandsOf(edge, Object.keys(list), list), true);
}

function program({ io }: CommandEdge, commands: readonly Command[], isWhole: boolean): Command {
  const root = new Command('evictd')
    .description('Watches node pressure and evicts the least important workload')
    .version(manifest.version, '-V, --version');
  for (const command of commands) root.addCommand(RARE.has(command.name()) ? command.helpGroup(RARE_COMMANDS) : command);
  for (const parent of [root, ...commands.filter((command) => command.commands.length > 0)]) {
    parent
      .helpCommand(false)
      .addCommand(helpCommand(parent), { hidden: true })
      .addHelpText('before', () => refuseUnknown(parent));
  }
  for (const each of [root, ...root.commands.flatMap((child) => [child, ...child.commands])]) {
    each
      .exitOverride()
      .helpOption('-h, --help', `show this help; ${HELP_ALL}: with every option`)
      .configureHelp(helpLayout(isWhole))
      .configureOutput({
        getOutHelpWidth: () => io.columns ?? HELP_WIDTH,
        getErrHelpWidth: () => io.columns ?? HELP_WIDTH,
        outputError: (message, write) => {
          write(formatError(usageError(message, each)));
        },
        writeOut: (text) => {
          io.stdout(text);
        },
        writeErr: (text) => {
          io.stderr(text);
        },
      });
  }
  return root;
}

/** `evictd help COMMAND`. commander's own prints nothing for an unknown command. */
function helpCommand(parent: Command): Command {
  return new Command('help')
    .argument('[command...]', 'the command to explain')
    .description('explain a command')
    .action((names: readonly string[]) => {
      const named = names.reduce<Command | undefined>((above, name) => above?.commands.find((child) => child.name() === name), parent);
      if (named === undefined) parent.error(`error: unknown command '${names.join(' ')}'`);
      named.help();
    });
}

/** Makes `evictd nope --help` an error, as `evictd nope` is. commander would print the help of `evictd`. */
function refuseUnknown(parent: Command): string {
  const [name] = parent.args;
  const isUnknown = name !== undefined && !name.startsWith('-') && !parent.commands.some((child) => child.name() === name);
  if (isUnknown) parent.parse([name], { from: 'user' });
  return '';
}

/** commander's message about a wrong command line as an error of evictd. */
function usageError(message: string, command: Command): UsageError {
  const path: string[] = [];
  for (let each: Command | null = command; each; each = each.parent) path.unshift(each.name());
  const text = usageMessage(message);
  const [, unknown = ''] = /^unknown command '(.*?)'/.exec(text) ?? [];
  const below = belowAnother(unknown, command);
  const said = below === undefined ? text : `unknown command '${unknown}' (Did you mean ${below}?)`;
  return new UsageError('EVICTD_USAGE', said, { hint: `${path.join(' ')} --help` });
}

/** Linting is what the documentation calls it. */
const OTHER_WORDS: Readonly<Record<string, string>> = { lint: 'config check' };

/** A word that is a command below another one: 'config schema' for 'schema'. */
function belowAnother(word: string, { commands }: Command): string | undefined {
  if (commands.length > 0 && Object.hasOwn(OTHER_WORDS, word)) return OTHER_WORDS[word];
  const above = commands.find((child) => child.commands.some((below) => below.name() === word && word !== 'help'));
  return above && `${above.name()} ${word}`;
}
