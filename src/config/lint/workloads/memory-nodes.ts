import type { Finding, LintRule, LintSubject } from '../lint-rule.js';
import type { MachineFacts } from '../machine.js';

/** Workloads that a cpuset keeps off some memory nodes: evictd watches the machine, not single nodes. */
export function lintMemoryNodes(_subject: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const bound = (machine?.workloads?.present ?? []).filter(({ memoryNodes }) => memoryNodes !== undefined);
  const [first] = bound;
  if (first?.memoryNodes === undefined) return [];
  const rest = bound.length === 1 ? '' : `, and ${String(bound.length - 1)} more workloads are bound`;
  return [
    {
      level: 'warn',
      code: 'EVICTD_LINT_MEMORY_NODES',
      message: `${first.name} is bound to memory node ${first.memoryNodes.join(' and ')}${rest}: when it is full, the kernel ends processes; evictd does not watch single memory nodes`,
      hint: 'give the workload a limit (MemoryMax=) below what its nodes have, or more nodes (AllowedMemoryNodes=)',
      key: 'workloads',
    },
  ];
}

export const memoryNodesRule: LintRule = { codes: ['EVICTD_LINT_MEMORY_NODES'], find: lintMemoryNodes };
