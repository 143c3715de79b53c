import { readdirSync, readFileSync } from 'node:fs';
import { attempt } from '../../errors.js';

/** Their members may become root by sudo or polkit, as distributions and clouds set them up. */
const GROUPS: readonly string[] = ['sudo', 'wheel', 'admin', 'google-sudoers'];

/**
 * The uids of those who administer the machine: root, the members of the groups of administrators in /etc/group, and the
 * users and groups to which /etc/sudoers or a file in /etc/sudoers.d grants ALL commands as root. Users and groups of a
 * directory service, aliases and other files that sudoers includes are not seen.
 *
 * @param root  prefix of the files; '': the machine's
 */
export function readOperators(root = ''): ReadonlySet<number> {
  const granted = new Set(sudoers(root).flatMap(grantedIn));
  const named = new Set([...GROUPS, ...[...granted].flatMap((name) => (name.startsWith('%') ? [name.slice(1)] : []))]);
  const groups = records(`${root}/etc/group`).filter(([name = '', , gid]) => named.has(name) || named.has(`#${String(gid)}`));
  const gids = new Set(groups.map(([, , gid]) => gid));
  const members = new Set(groups.flatMap(([, , , list = '']) => list.split(',')));
  const users = records(`${root}/etc/passwd`).filter(
    ([name = '', , uid, gid]) => members.has(name) || gids.has(gid) || granted.has(name) || granted.has(`#${String(uid)}`),
  );
  return new Set([0, ...users.map(([, , uid]) => Number(uid))]);
}

/** The texts of /etc/sudoers and of the files in /etc/sudoers.d that sudo reads: none with a dot or a ~ at its end. */
function sudoers(root: string): readonly string[] {
  const directory = `${root}/etc/sudoers.d`;
  const files = (attempt(() => readdirSync(directory)) ?? []).filter((name) => !name.includes('.') && !name.endsWith('~'));
  return [`${root}/etc/sudoers`, ...files.map((name) => `${directory}/${name}`)].map(
    (file) => attempt(() => readFileSync(file, 'utf8')) ?? '',
  );
}

/**
 * The users and %groups that may run ALL commands as root (man 5 sudoers): `ann, %ops ALL=(ALL:ALL) NOPASSWD: ALL`. Whether
 * the host matches is not asked. An operator too many is only protected.
 */
function grantedIn(text: string): readonly string[] {
  return text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .flatMap((line) => {
      const [, users = ''] = GRANTS_ALL.exec(line) ?? [];
      return users.split(',').map((user) => user.trim());
    })
    .filter((user) => user !== '');
}

/** Users, hosts, (left out: root) whose rights, tags, and ALL as one of the commands. */
const GRANTS_ALL =
  /^\s*((?:%?#?[\w.@-]+)(?:\s*,\s*%?#?[\w.@-]+)*)\s+[^=#]+=\s*(?:\((?:[^():]*[,\s])?(?:ALL|root)\b[^()]*\)\s*)?(?:[A-Z_]+:\s*)*(?:[^#]*,\s*)?ALL\s*(?:[,#]|$)/;

/** The fields of each line; none if the file cannot be read. */
function records(file: string): readonly (readonly string[])[] {
  const lines = (attempt(() => readFileSync(file, 'utf8')) ?? '').split('\n');
  return lines.filter((line) => line.includes(':')).map((line) => line.split(':'));
}
