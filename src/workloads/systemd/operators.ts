import { readdirSync, readFileSync } from 'node:fs';
import type { FoundOperators, Operator } from '../../core/systemd/operator.js';
import { errnoName } from '../../errors.js';
import { grantsOfAll } from './sudoers.js';

/** Their members may become root by sudo or polkit, as distributions and clouds set them up. */
const GROUPS: readonly string[] = ['sudo', 'wheel', 'admin', 'google-sudoers'];

/** The uids of the operators. */
export function readOperators(root = ''): ReadonlySet<number> {
  return new Set(findOperators(root).operators.map(({ uid }) => uid));
}

/**
 * Those who administer the machine: root, the members of the groups of administrators in /etc/group, and the users and
 * groups to which sudoers grants ALL commands as root: /etc/sudoers, the files in /etc/sudoers.d, and what they include.
 * Users and groups of a directory service are not seen.
 *
 * @param root  prefix of the files; '': the machine's
 */
export function findOperators(root = ''): FoundOperators {
  const unread: string[] = [];
  const textOf = (file: string): string => readIfPresent(root, file, unread, (path) => readFileSync(path, 'utf8')) ?? '';
  const namesIn = (directory: string): readonly string[] => readIfPresent(root, directory, unread, (path) => readdirSync(path)) ?? [];
  const grants = grantsOfAll('/etc/sudoers', SUDOERS_D, { textOf, namesIn });
  const granting = (...to: readonly string[]): readonly string[] => grants.filter((grant) => to.includes(grant.to)).map(({ file }) => file);
  const groups = records(textOf('/etc/group')).map(([name = '', , gid, list = '']) => {
    const why = [...(GROUPS.includes(name) ? [''] : []), ...granting(`%${name}`, `%#${String(gid)}`).map((file) => `, ${file}`)];
    return { gid, members: list.split(','), because: why.map((from) => `member of group ${name}${from}`) };
  });
  const users = records(textOf('/etc/passwd')).map(([name = '', , uid, gid]): Operator => {
    const memberOf = groups.filter((group) => group.members.includes(name) || group.gid === gid);
    const because = [...granting(name, `#${String(uid)}`), ...memberOf.flatMap((group) => group.because)];
    return { uid: Number(uid), name, because: [...new Set(because)] };
  });
  const operators = users.filter(({ uid, because }) => uid !== 0 && because.length > 0);
  return { operators: [{ uid: 0, name: 'root', because: [] }, ...operators], unread };
}

const SUDOERS_D = '/etc/sudoers.d';

/** undefined: it does not exist, or cannot be read, which is noted. */
function readIfPresent<T>(root: string, path: string, unread: string[], read: (path: string) => T): T | undefined {
  try {
    return read(root + path);
  } catch (error) {
    if (errnoName(error) !== 'ENOENT') unread.push(path);
    return undefined;
  }
}

/** The fields of each line. */
function records(text: string): readonly (readonly string[])[] {
  return text
    .split('\n')
    .filter((line) => line.includes(':'))
    .map((line) => line.split(':'));
}
