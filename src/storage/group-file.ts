import { readFileSync } from 'node:fs';

const GROUP_FILE = '/etc/group';

/**
 * The id of a group (group(5)). A number is an id, whether or not a group has it.
 *
 * @throws Error  the file has no such group, or cannot be read
 */
export function groupId(group: string): number {
  if (/^\d+$/.test(group)) return Number(group);
  const [, , id] =
    readFileSync(GROUP_FILE, 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .find(([name]) => name === group) ?? [];
  if (id === undefined) throw new Error(`${GROUP_FILE} has no group ${group}`);
  return Number(id);
}
