import { lstatSync } from 'node:fs';
import { EvictdError } from '../../errors.js';
import { otherWriter, withParents, type Owner } from '../../host/linux/process/other-writer.js';

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
