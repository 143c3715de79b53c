import { conditionNeeds } from '../../../core/policy/condition-needs.js';
import type { Finding, LintRule, LintSubject } from '../lint-rule.js';
import type { MachineFacts } from '../machine.js';

/** Workloads that a cpuset keeps off some memory nodes, where only the memory of the machine is watched. */
export function lintMemoryNodes({ policies }: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const bound = (machine?.workloads?.present ?? []).filter(({ memoryNodes }) => memoryNodes !== undefined);
  const [first] = bound;
  const isWatched = policies.some(({ when }) => conditionNeeds([when]).cgroup.has('memory.boundNodes.available'));
  if (first?.memoryNodes === undefined || isWatched) return [];
  const rest = bound.length === 1 ? '' : `, and ${String(bound.length - 1)} more workloads are bound`;
  return [
    {
      level: 'warn',
      code: 'EVICTD_LINT_MEMORY_NODES',
      message: `${first.name} is bound to memory node ${first.memoryNodes.join(' and ')}${rest}: when it is full, the kernel ends processes; no policy watches them`,
      hint: 'add a policy with memory.boundNodes.available, or give the workload a limit (MemoryMax=) below what its nodes have',
      key: 'workloads',
    },
  ];
}

export const memoryNodesRule: LintRule = { codes: ['EVICTD_LINT_MEMORY_NODES'], find: lintMemoryNodes };
