import { chmodSync, chownSync, lchownSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { groupId } from '../storage/group-file.js';

const SAME_OWNER = -1;
const OTHERS_ENTER = 0o001;
const GROUP = 0o070;
const GROUP_ENTERS = 0o010;
const SOCKET_MODE = 0o660;

/**
 * Lets the members of a group connect to a Unix socket of this process. If its directory is closed to them they may enter
 * it, and not list it. Without CAP_CHOWN this process must be a member, too.
 *
 * @param group  a name of /etc/group, or an id
 * @throws Error  there is no such group, the directory belongs to another one, or the system refuses it
 */
export function shareSocket(path: string, group: string): void {
  const gid = groupId(group);
  const directory = dirname(path);
  const { mode, gid: owner } = statSync(directory);
  if ((mode & OTHERS_ENTER) === 0 && (owner !== gid || (mode & GROUP_ENTERS) === 0)) {
    if (owner !== gid && (mode & GROUP) !== 0) throw new Error(`another group may use ${directory}`);
    chownSync(directory, SAME_OWNER, gid);
    chmodSync(directory, (mode & 0o777) | GROUP_ENTERS);
  }
  lchownSync(path, SAME_OWNER, gid);
  chmodSync(path, SOCKET_MODE);
}
