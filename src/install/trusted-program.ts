import { lstatSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { EvictdError } from '../errors.js';

export type Owner = Pick<Stats, 'uid' | 'gid' | 'mode'>;

const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_OTHERS = 0o002;

/** Who besides root may change a file, or what a directory holds; undefined: nobody. An access list shows in the bits of the group. */
export function otherWriter({ uid, gid, mode }: Owner): string | undefined {
  if (uid !== 0) return `belongs to user ${String(uid)}`;
  if ((mode & WRITABLE_BY_OTHERS) !== 0) return 'may be written by everybody';
  return gid !== 0 && (mode & WRITABLE_BY_GROUP) !== 0 ? `may be written by group ${String(gid)}` : undefined;
}

/**
 * What root runs at every start, root alone may change: each file and every directory above it.
 *
 * @param files  absolute, with symbolic links resolved
 * @param root  the directory of evictd's package; undefined: it is in none
 * @throws EvictdError  somebody else can
 */
export function requireTrusted(files: readonly string[], root: string | undefined, look: (path: string) => Owner = lstatSync): void {
  for (const path of new Set(files.flatMap(withParents))) {
    const writer = otherWriter(look(path));
    if (writer === undefined) continue;
    throw new EvictdError('EVICTD_INSTALL_UNSAFE', `${path} ${writer}, who could then run anything as root`, {
      hint: `install evictd, and Node, where only root may write (below /opt or /usr/local; npm install --global as root)${repair(path, files, root)}`,
    });
  }
}

/** Only of what is evictd's own, or the program itself: /tmp, or somebody's home, is not there for evictd. */
function repair(path: string, files: readonly string[], root: string | undefined): string {
  if (root !== undefined && (path === root || path.startsWith(`${root}/`)))
    return `, or: chown -R root:root ${root} && chmod -R go-w ${root}`;
  return files.includes(path) ? `, or: chown root:root ${path} && chmod go-w ${path}` : '';
}

function withParents(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...withParents(parent), path];
}
