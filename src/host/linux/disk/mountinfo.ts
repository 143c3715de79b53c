import { readFileSync } from 'node:fs';
import { attempt } from '../../../errors.js';

/** The fields of a mount that evictd needs (man 5 proc_pid_mountinfo). */
export interface Mount {
  /** The number of st_dev. */
  readonly device: bigint;
  /** The part of the filesystem that is mounted; for cgroups seen from this process's cgroup namespace. */
  readonly root: string;
  readonly mountPoint: string;
  readonly type: string;
  /** The filesystem's: on cgroup v1 the controllers are among them. */
  readonly options: readonly string[];
}

/**
 * /proc/self/mountinfo in its order: a later mount hides an earlier one at the same place. Malformed lines are left
 * out.
 *
 * @param isNeeded  of a line; the others are not parsed
 */
export function parseMountinfo(text: string, isNeeded: (line: string) => boolean = () => true): Mount[] {
  return text.split('\n').flatMap((line) => {
    if (!isNeeded(line)) return [];
    const [before = '', after] = line.split(' - ');
    const [, , number = '', root, mountPoint] = before.split(' ');
    const [type, , options] = after?.split(' ') ?? [];
    if (root === undefined || mountPoint === undefined || type === undefined || options === undefined) return [];
    const own = options.split(/(?<!\\),/).map(unescape); // before Linux 4.3 the comma of a value has a backslash
    return [{ device: deviceOf(number), root: unescape(root), mountPoint: unescape(mountPoint), type: unescape(type), options: own }];
  });
}

/** '8:1' as st_dev has it (gnu_dev_makedev). */
function deviceOf(number: string): bigint {
  const [major = 0n, minor = 0n] = number.split(':').map((part) => (/^\d+$/.test(part) ? BigInt(part) : 0n));
  return ((major & 0xfffn) << 8n) | (minor & 0xffn) | ((minor & ~0xffn) << 12n) | ((major & ~0xfffn) << 32n);
}

/** '8:1' of a number of st_dev (gnu_dev_major, gnu_dev_minor). */
export function deviceText(device: bigint): string {
  const [major, minor] = [((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn), (device & 0xffn) | ((device >> 12n) & 0xffffff00n)];
  return `${String(major)}:${String(minor)}`;
}

/** The kernel writes space, tab, newline and backslash as three octal digits, in options also comma and equals sign. */
function unescape(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** The mounts of this process's mount namespace; none if they cannot be read. */
export function readOwnMounts(): readonly Mount[] {
  return attempt(() => parseMountinfo(readFileSync('/proc/self/mountinfo', 'utf8'))) ?? [];
}
