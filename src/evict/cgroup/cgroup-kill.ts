import { attempt } from '../../errors.js';
import type { CgroupHandle } from '../../native/binding.js';

/** Ends all processes of a cgroup (v2) by its file `cgroup.kill`; false: the kernel has none, or refused. */
export function writeCgroupKill(cgroup: CgroupHandle): boolean {
  return attempt(() => (cgroup.kill(), true)) ?? false;
}
