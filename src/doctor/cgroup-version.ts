import { broken, degraded, ok, type Check } from './check.js';
import type { CgroupFacts } from './facts/cgroup.js';

const ID = 'cgroup.version';
const UNIFIED = 'boot with systemd.unified_cgroup_hierarchy=1';

/** Where the memory controller is. */
export function checkCgroupVersion({ memory, unified }: CgroupFacts): Check {
  if (memory === undefined) {
    const fix = 'boot without cgroup_disable=memory (Raspberry Pi: with cgroup_enable=memory), and mount the cgroup filesystem';
    return broken(ID, 'there is no cgroup memory controller: no workload can be found or measured', fix, { version: null, unified });
  }
  const { version, mountPoint } = memory;
  const details = { version, unified, mountPoint };
  if (version === 2) return ok(ID, `cgroup v2 at ${mountPoint}`, details);
  const kind = unified ? 'hybrid: memory on cgroup v1' : 'cgroup v1';
  const lost = 'memory.min and pressure of a cgroup are not to be had';
  const kill = unified ? '' : ', and a cgroup is ended process by process';
  return degraded(ID, `${kind} at ${mountPoint}: ${lost}${kill}`, UNIFIED, details);
}
