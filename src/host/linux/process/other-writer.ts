import type { Stats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { fsPath } from '../../../byte-paths.js';
import { textOfBytes } from '../../../core/name/byte-text.js';

export type Owner = Pick<Stats, 'uid' | 'gid' | 'mode'>;

const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_OTHERS = 0o002;
const EXECUTABLE = 0o111;
/** As in the kernel (MAXSYMLINKS). */
const LINKS_AT_MOST = 40;

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
 * path elsewhere. undefined: it may. Its filesystem may hang, and the answer never come. Never rejects.
 */
export async function programProblem(program: string): Promise<string | undefined> {
  try {
    return await trustProblem(program, (found) => {
      return found.isFile() && (found.mode & EXECUTABLE) !== 0 ? undefined : `${program} is no program`;
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return `${program} is missing`;
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * The first file or directory on the way to an absolute path that users other than root can change. Goes link by link,
 * as the kernel does: they could exchange a link that only a link leads to. Looks at nothing behind what they can
 * change, such as a filesystem of theirs. Rejects with Node's errors.
 *
 * @param lastProblem  what is wrong with what the path leads to
 */
export async function trustProblem(path: string, lastProblem: (found: Stats) => string | undefined): Promise<string | undefined> {
  // At once: one after another they take a turn of the event loop each, while a signal waits.
  const before = new Map((TRUSTED_WAYS.get(path) ?? []).map((known) => [known, looked(known)] as const));
  const lookAt = async (next: string): Promise<Stats> => (await before.get(next)) ?? lstat(fsPath(next));
  const way: string[] = ['/'];
  const left = path.split('/').filter((name) => name !== '');
  let at = '/';
  let found = await lookAt(at);
  TRUSTED_WAYS.delete(path);
  for (let links = 0; ;) {
    const writer = otherWriter(found);
    if (writer !== undefined) return `${at} ${writer}`;
    const name = left.shift();
    if (name === undefined) break;
    const next = join(at, name);
    const status = await lookAt(next);
    way.push(next);
    if (!status.isSymbolicLink()) {
      [at, found] = [next, status];
      continue;
    }
    links += 1;
    if (links > LINKS_AT_MOST) throw Object.assign(new Error(`ELOOP: too many symbolic links, ${path}`), { code: 'ELOOP' });
    const target = textOfBytes(await readlink(fsPath(next), 'buffer'));
    left.unshift(...target.split('/').filter((part) => part !== ''));
    if (isAbsolute(target)) [at, found] = ['/', await lookAt('/')];
  }
  TRUSTED_WAYS.set(path, way);
  return lastProblem(found);
}

/** By path: what only root could change when it was looked at last. */
const TRUSTED_WAYS = new Map<string, readonly string[]>();

/** undefined: it is looked at again, for the error. */
function looked(path: string): Promise<Stats | undefined> {
  return lstat(fsPath(path)).catch(() => undefined);
}
