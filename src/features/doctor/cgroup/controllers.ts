import { broken, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { CgroupFacts } from '../../../host/facts/cgroup-facts.js';

const ID = 'cgroup.controllers';

/** Without the memory controller workloads have neither usage nor limits (cgroup-v2.rst, "Enabling and Disabling"). */
export function checkControllers({ memory, delegations }: CgroupFacts): Check[] {
  if (memory?.version !== 2 || delegations.length === 0) return [];
  const details = { cgroups: delegations.map(({ path, stopsAt }) => ({ path, stopsAt: stopsAt ?? null })) };
  const stopped = delegations.filter(({ stopsAt }) => stopsAt !== undefined);
  if (stopped.length === 0)
    return [ok(ID, `the memory controller is enabled for the children of ${listed(delegations.map(({ path }) => path))}`, details)];
  const disabled = stopped.map(({ path, stopsAt }) => `${path} (disabled in ${String(stopsAt)})`);
  const fix = `Delegate=yes or MemoryAccounting=yes for its unit; without systemd: echo +memory >${memory.mountPoint}${stopped[0]?.stopsAt === '/' ? '' : (stopped[0]?.stopsAt ?? '')}/cgroup.subtree_control`;
  return [
    broken(ID, `the memory controller is disabled for the children of ${listed(disabled)}: evictd cannot measure them`, fix, details),
  ];
}

/** 'a, b, c and 4 more'. */
function listed(names: readonly string[]): string {
  const rest = names.length - 3;
  return names.slice(0, 3).join(', ') + (rest > 0 ? ` and ${String(rest)} more` : '');
}

export const controllersCheck = defineCheck(ID, ['cgroup'], ({ cgroup }) => checkControllers(cgroup));
