import { lstatSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { EvictdError } from '../../errors.js';

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

/**
 * Checks that only root can change the files that root runs, and every directory above them.
 *
 * @param files  absolute, with symbolic links resolved
 * @param root  the directory of evictd's package; undefined: none
 * @throws EvictdError  another user can change one
 */
export function requireTrusted(files: readonly string[], root: string | undefined, look: (path: string) => Owner = lstatSync): void {
  for (const path of new Set(files.flatMap(withParents))) {
    const writer = otherWriter(look(path));
    if (writer === undefined) continue;
    throw new EvictdError('EVICTD_INSTALL_UNSAFE', `${path} ${writer}: another user could run programs as root`, {
      hint: `install evictd and Node in directories that only root can write, below /opt or /usr/local (npm install --global as root)${repair(path, files, root)}`,
    });
  }
}

/** Suggests chown only for evictd's own files: never for /tmp or a home directory. */
function repair(path: string, files: readonly string[], root: string | undefined): string {
  if (root !== undefined && (path === root || path.startsWith(`${root}/`)))
    return `, or: chown -R root:root ${root} && chmod -R go-w ${root}`;
  return files.includes(path) ? `, or: chown root:root ${path} && chmod go-w ${path}` : '';
}

function withParents(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...withParents(parent), path];
}
