import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { errnoName } from '../../../errors.js';

export type Owner = Pick<Stats, 'uid' | 'gid' | 'mode'>;

const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_OTHERS = 0o002;

/**
 * Why users other than root can change a file or a directory; undefined: they cannot. Access lists show in the group
 * bits.
 */
export function otherWriter({ uid, gid, mode }: Owner): string | undefined {
  if (uid !== 0) return `belongs to user ${String(uid)}`;
  if ((mode & WRITABLE_BY_OTHERS) !== 0) return 'is writable by all users';
  return gid !== 0 && (mode & WRITABLE_BY_GROUP) !== 0 ? `is writable by group ${String(gid)}` : undefined;
}

/** The path and every directory above it, from the root on. */
export function withParents(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...withParents(parent), path];
}

/**
 * Why evictd does not run a program as root: it is missing, or a user other than root can change it or a directory above
 * it, by its name or behind symbolic links. undefined: it does.
 *
 * @param program  absolute
 */
export function whyUntrusted(program: string): string | undefined {
  try {
    for (const path of new Set([...withParents(program), ...withParents(realpathSync(program))])) {
      const owner = lstatSync(path);
      // The mode of a link means nothing.
      const writer = otherWriter(owner.isSymbolicLink() ? { uid: owner.uid, gid: 0, mode: 0 } : owner);
      if (writer !== undefined) return `${path} ${writer}: another user could run programs as root`;
    }
    return undefined;
  } catch (error) {
    return errnoName(error) === 'ENOENT' ? `${program} does not exist` : `${program} cannot be examined: ${String(error)}`;
  }
}
