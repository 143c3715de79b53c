import { conditionNeeds } from '../../../core/policy/condition-needs.js';
import { compileScope } from '../../../core/policy/scope-pattern.js';
import type { Finding, LintRule, LintSubject } from '../lint-rule.js';
import type { MachineFacts } from '../machine.js';

/**
 * Workloads that a cpuset keeps off some memory nodes, where only the memory of the machine is watched: no policy of
 * them, or of a cgroup above that is bound, too, asks for their nodes.
 */
export function lintMemoryNodes({ policies }: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const watched = policies.flatMap(({ when, scope }) =>
    scope !== undefined && conditionNeeds([when]).cgroup.has('memory.boundNodes.available') ? [compileScope(scope)] : [],
  );
  const bound = (machine?.workloads?.present ?? []).filter(({ path, memoryNodes, boundAbove = [] }) => {
    return memoryNodes !== undefined && ![path, ...boundAbove].some((cgroup) => watched.some((scope) => scope.matches(cgroup)));
  });
  const [first] = bound;
  if (first?.memoryNodes === undefined) return [];
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
