import { readFileSync } from 'node:fs';
import { attempt } from '../../errors.js';

/** Their members may become root by sudo or polkit, as distributions set them up. */
const GROUPS: ReadonlySet<string> = new Set(['sudo', 'wheel', 'admin']);

/**
 * The uids of those who administer the machine: root, and the members of the groups of administrators in /etc/group.
 * Users and groups of a directory service are not seen.
 *
 * @param root  prefix of the files; '': the machine's
 */
export function readOperators(root = ''): ReadonlySet<number> {
  const groups = records(`${root}/etc/group`).filter(([name = '']) => GROUPS.has(name));
  const gids = new Set(groups.map(([, , gid]) => gid));
  const members = new Set(groups.flatMap(([, , , list = '']) => list.split(',')));
  const users = records(`${root}/etc/passwd`).filter(([name = '', , , gid]) => members.has(name) || gids.has(gid));
  return new Set([0, ...users.map(([, , uid]) => Number(uid))]);
}

/** The fields of each line; none if the file cannot be read. */
function records(file: string): readonly (readonly string[])[] {
  const lines = (attempt(() => readFileSync(file, 'utf8')) ?? '').split('\n');
  return lines.filter((line) => line.includes(':')).map((line) => line.split(':'));
}
