/** The fields of a mount that evictd needs (man 5 proc_pid_mountinfo). */
export interface Mount {
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
 */
export function parseMountinfo(text: string): Mount[] {
  return text.split('\n').flatMap((line) => {
    const [before = '', after] = line.split(' - ');
    const [, , , root, mountPoint] = before.split(' ');
    const [type, , options] = after?.split(' ') ?? [];
    if (root === undefined || mountPoint === undefined || type === undefined || options === undefined) return [];
    return [{ root: unescape(root), mountPoint: unescape(mountPoint), type, options: options.split(',') }];
  });
}

/** The kernel writes space, tab, newline and backslash as three octal digits. */
function unescape(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
