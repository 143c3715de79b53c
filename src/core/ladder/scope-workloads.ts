import type { ConfiguredPolicy } from '../policy/configured-policy.js';
import type { Candidates, WorkloadUsage } from '../workload/workload.js';
import { isInScope } from './victim-order.js';

/** The workloads that a policy may act on: those of its scope; one made of ManagedOOM settings has only what is managed. */
export interface ScopeWorkloads {
  readonly managed: ConfiguredPolicy['managed'];
  /** Path of the scope; '': the node. */
  readonly scope: string;
  /** All swap of the node. undefined: not known. */
  readonly swapBytes: bigint | undefined;
}

/** @param found  its workloads in `usages`; where the policy is about managed ones, those are read now */
export function workloadsOf({ managed, scope, swapBytes }: ScopeWorkloads, found: Candidates): readonly WorkloadUsage[] {
  const usages = managed === undefined ? found.usages : (found.managed?.() ?? []);
  return usages.filter(({ workload: { path }, stats }) => {
    if (!isInScope(path, scope)) return false;
    if (managed === undefined) return true;
    if (!managed.within.some((above) => (managed.themselves ? path === above : isInScope(path, above)))) return false;
    // As much is not enough (systemd: oomd_select_by_swap_usage).
    return managed.swapAbove === undefined || Number(stats?.swapBytes ?? 0n) > managed.swapAbove * Number(swapBytes ?? 0n);
  });
}
