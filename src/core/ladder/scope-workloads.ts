import type { ConfiguredPolicy } from '../policy/configured-policy.js';
import type { Candidates, WorkloadUsage } from '../workload/workload.js';
import { isInScope } from './victim-order.js';

/** The workloads that a policy may act on: those of its scope. `managed` and `within` of a policy that evictd made limit them. */
export interface ScopeWorkloads {
  readonly managed: ConfiguredPolicy['managed'];
  readonly within: ConfiguredPolicy['within'];
  /** Path of the scope; '': the node. */
  readonly scope: string;
  /** The swap capacity of the node, in bytes; undefined: not known. */
  readonly swapBytes: bigint | undefined;
}

/** @param found  its workloads in `usages`; where the policy is about managed ones, those are read now */
export function workloadsOf(of: ScopeWorkloads, found: Candidates): readonly WorkloadUsage[] {
  const { managed, swapBytes } = of;
  const usages = managed === undefined ? found.usages : (found.managed?.() ?? []);
  return usages.filter(({ workload: { path }, stats }) => {
    if (!mayActOn(of, path)) return false;
    // As much is not enough (systemd: oomd_select_by_swap_usage).
    return managed?.swapAbove === undefined || Number(stats?.swapBytes ?? 0n) > managed.swapAbove * Number(swapBytes ?? 0n);
  });
}

/** Whether the workload is in the scope, and in one of the cgroups of the policy. */
export function mayActOn({ managed, within = managed?.within, scope }: ScopeWorkloads, path: string): boolean {
  const isIn = (above: string): boolean => (managed?.themselves ? path === above : isInScope(path, above));
  return isInScope(path, scope) && (within === undefined || within.some(isIn));
}
