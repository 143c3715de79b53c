import { broken, degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { CgroupFacts } from '../../../host/facts/cgroup-facts.js';

const ID = 'cgroup.version';
const UNIFIED = 'boot with systemd.unified_cgroup_hierarchy=1';

export function checkCgroupVersion({ memory, unified }: CgroupFacts): Check {
  if (memory === undefined) {
    const fix = 'boot without cgroup_disable=memory (Raspberry Pi: with cgroup_enable=memory), and mount the cgroup filesystem';
    return broken(ID, 'no cgroup memory controller: evictd cannot find or measure workloads', fix, { version: null, unified });
  }
  const { version, mountPoint } = memory;
  const details = { version, unified, mountPoint };
  if (version === 2) return ok(ID, `cgroup v2 at ${mountPoint}`, details);
  const kind = unified ? 'hybrid: memory on cgroup v1' : 'cgroup v1';
  const lost = 'no memory.min and no pressure of cgroups';
  const kill = unified ? '' : ', and evictd ends a cgroup process by process';
  return degraded(ID, `${kind} at ${mountPoint}: ${lost}${kill}`, UNIFIED, details);
}

export const cgroupVersionCheck = defineCheck(ID, ['cgroup'], ({ cgroup }) => checkCgroupVersion(cgroup));
