import { constants, type Stats } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { getSystemErrorName } from 'node:util';
import type { FileStatus } from '../../../native/acting.js';
import type { Binding } from '../../../native/binding.js';
import { messageOf } from '../../../errors.js';

export type Owner = Pick<Stats, 'uid' | 'gid' | 'mode'>;
/** Reads files in another process: their filesystem may hang. */
export type StatusReader = Pick<Binding, 'FileStatuses'>;

const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_OTHERS = 0o002;
const EXECUTABLE = 0o111;
/** The limit of the kernel (MAXSYMLINKS). */
const MAX_LINKS = 40;
/** The limit of the kernel (fs/exec.c, exec_binprm). */
const MAX_INTERPRETERS = 5;

/**
 * Why users other than root can change a file or a directory; undefined: they cannot. Access lists show in the group
 * bits, also where the group is root's.
 */
export function otherWriter({ uid, gid, mode }: Owner): string | undefined {
  if (uid !== 0) return `belongs to user ${String(uid)}`;
  if ((mode & WRITABLE_BY_OTHERS) !== 0) return 'is writable by all users';
  return (mode & WRITABLE_BY_GROUP) === 0 ? undefined : `is writable by group ${String(gid)}`;
}

/** A path and every directory above it. */
export function withParents(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...withParents(parent), path];
}

/**
 * Why root must not run this program: it is missing, no program, or users other than root can change it or lead its
 * path elsewhere. The same for the interpreter in the first line of a script. undefined: it may. Its filesystem may
 * hang, and the answer never come. Never rejects.
 */
export async function programProblem(native: StatusReader, program: string): Promise<string | undefined> {
  let path: string | undefined = program;
  for (let scripts = 0; path !== undefined; scripts += 1) {
    if (scripts > MAX_INTERPRETERS) return `ELOOP: too many interpreters, ${program}`;
    const { problem, found }: Trust = await trustOf(native, path);
    const why = problem ?? (isProgram(found) ? undefined : `${path} is not an executable file`);
    if (why !== undefined) return scripts === 0 ? why : `its interpreter ${why}`;
    path = interpreterOf(found?.content ?? '');
  }
  return undefined;
}

function isProgram(found: FileStatus | undefined): boolean {
  return found !== undefined && (found.mode & constants.S_IFMT) === constants.S_IFREG && (found.mode & EXECUTABLE) !== 0;
}

/** fs/binfmt_script.c; a relative path is relative to the directory of the program, which is the root. */
function interpreterOf(content: string): string | undefined {
  const [, path] = /^#![ \t]*([^ \t\n\0]+)/.exec(content) ?? [];
  return path === undefined ? undefined : join('/', path);
}

interface Trust {
  /** Why users other than root can change the file, or why it cannot be read. undefined: only root can change it. */
  readonly problem: string | undefined;
  /** The file that the path leads to. */
  readonly found?: FileStatus;
}

/**
 * Whether only root can change an absolute path and what the path leads to. Goes link by link, as the kernel does: users could
 * exchange a link that only a link leads to. Looks at nothing behind what they can change, such as a filesystem of
 * theirs. Never rejects.
 */
export async function trustOf(native: StatusReader, path: string): Promise<Trust> {
  try {
    return await followed(native, path);
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

async function followed(native: StatusReader, path: string): Promise<Trust> {
  // At once: one after another they take a child process each, while a signal waits.
  const known = TRUSTED_WAYS.get(path) ?? ['/'];
  const before = new Map((await statusesOf(native, known)).map((status, index) => [known[index], status]));
  const lookAt = async (next: string): Promise<FileStatus> => {
    const status = before.get(next) ?? (await statusesOf(native, [next]))[0];
    if (status?.errno === 0) return status;
    const code = getSystemErrorName(-(status?.errno ?? 0));
    throw new Error(code === 'ENOENT' ? `${next} is missing` : `${next} cannot be read: ${code}`);
  };
  const way: string[] = ['/'];
  const left = path.split('/').filter((name) => name !== '');
  let at = '/';
  let found = await lookAt(at);
  for (let links = 0; ;) {
    const writer = otherWriter(found);
    if (writer !== undefined) return { problem: `${at} ${writer}` };
    const name = left.shift();
    if (name === undefined) break;
    const next = join(at, name);
    way.push(next);
    TRUSTED_WAYS.set(path, way);
    const status = await lookAt(next);
    if ((status.mode & constants.S_IFMT) !== constants.S_IFLNK) {
      [at, found] = [next, status];
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw new Error(`ELOOP: too many symbolic links, ${path}`);
    left.unshift(...status.content.split('/').filter((part) => part !== ''));
    if (isAbsolute(status.content)) [at, found] = ['/', await lookAt('/')];
  }
  return { problem: undefined, found };
}

/** The last check of a path, if only root could change the path. */
const TRUSTED_WAYS = new Map<string, readonly string[]>();

function statusesOf(native: StatusReader, paths: readonly string[]): Promise<readonly FileStatus[]> {
  return new Promise((resolve) => {
    new native.FileStatuses(paths, resolve);
  });
}
