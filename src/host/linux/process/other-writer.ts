import { lstatSync, realpathSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { fsPath } from '../../../byte-paths.js';

export type Owner = Pick<Stats, 'uid' | 'gid' | 'mode'>;

const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_OTHERS = 0o002;
const EXECUTABLE = 0o111;

/**
 * Why users other than root can change a file or a directory; undefined: they cannot. Access lists show in the group
 * bits.
 */
export function otherWriter({ uid, gid, mode }: Owner): string | undefined {
  if (uid !== 0) return `belongs to user ${String(uid)}`;
  if ((mode & WRITABLE_BY_OTHERS) !== 0) return 'is writable by all users';
  return gid !== 0 && (mode & WRITABLE_BY_GROUP) !== 0 ? `is writable by group ${String(gid)}` : undefined;
}

/** A path and every directory above it. */
export function withParents(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...withParents(parent), path];
}

/**
 * Why root must not run this program: it is missing, no program, or users other than root can change it, what it links
 * to, or a directory above either. undefined: it may. Never throws.
 */
export function programProblem(program: string): string | undefined {
  try {
    const file = realpathSync(program);
    const found = statSync(fsPath(file));
    if (!found.isFile() || (found.mode & EXECUTABLE) === 0) return `${program} is no program`;
    return trustProblem([dirname(program), file]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return `${program} is missing`;
    return error instanceof Error ? error.message : String(error);
  }
}

/** The first of these paths, and the directories above them, that users other than root can change. Throws Node's errors. */
export function trustProblem(paths: readonly string[]): string | undefined {
  for (const path of new Set(paths.flatMap(withParents))) {
    const owner = lstatSync(fsPath(path));
    const writer = owner.isSymbolicLink() ? undefined : otherWriter(owner);
    if (writer !== undefined) return `${path} ${writer}`;
  }
  return undefined;
}
