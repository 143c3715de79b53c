import { coversMemoryNodes } from '../../../core/oom/bound-policies.js';
import { conditionNeeds } from '../../../core/policy/condition-needs.js';
import { compileScope } from '../../../core/policy/scope-pattern.js';
import type { Finding, LintRule, LintSubject } from '../lint-rule.js';
import type { MachineFacts, PresentWorkload } from '../machine.js';

/**
 * Workloads that a cpuset keeps off some memory nodes, where only the memory of the machine is watched: without the
 * departure memory-nodes, or a threshold for it, and no policy of them, or of a cgroup above that is bound, too, asks for
 * their nodes.
 */
export function lintMemoryNodes({ policies, departures, thresholds }: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const watched = policies.flatMap(({ when, scope }) =>
    scope !== undefined && conditionNeeds([when]).cgroup.has('memory.boundNodes.available') ? [compileScope(scope)] : [],
  );
  const present = machine?.workloads?.present ?? [];
  const isCovered = coversMemoryNodes(departures, thresholds);
  const bound = present.filter(({ path, memoryNodes, boundAbove = [] }) => {
    return (
      !isCovered && Array.isArray(memoryNodes) && ![path, ...boundAbove].some((cgroup) => watched.some((scope) => scope.matches(cgroup)))
    );
  });
  const unknown = present.filter(({ memoryNodes, unevictable }) => memoryNodes === 'unknown' && unevictable?.kind !== 'vacant');
  return [...boundFinding(bound), ...unknownFinding(unknown)];
}

const CODE = 'EVICTD_LINT_MEMORY_NODES';

function boundFinding(bound: readonly PresentWorkload[]): Finding[] {
  const [first] = bound;
  if (!Array.isArray(first?.memoryNodes)) return [];
  const rest = bound.length === 1 ? '' : `, and ${String(bound.length - 1)} more workloads are bound`;
  return [
    {
      level: 'warn',
      code: CODE,
      message: `${first.name} is bound to memory node ${first.memoryNodes.join(' and ')}${rest}: if it is full, the kernel kills processes, because evictd does not watch it`,
      hint: 'set a hard threshold of memory.available and departures.memory-nodes, add a policy with memory.boundNodes.available, or set MemoryMax= below the memory of the nodes',
      key: 'workloads',
    },
  ];
}

/** Workloads whose memory nodes are not known. Workloads without processes do not count: they use no memory. */
function unknownFinding(unknown: readonly PresentWorkload[]): Finding[] {
  const [first] = unknown;
  if (first === undefined) return [];
  const rest = unknown.length === 1 ? '' : `, and of ${String(unknown.length - 1)} more workloads`;
  return [
    {
      level: 'warn',
      code: CODE,
      message: `the memory nodes that a cpuset permits to ${first.name}${rest} are not known: neither its cpuset nor a process of it can be read`,
      hint: 'run it as root, and in the pid namespace of the machine',
      key: 'workloads',
    },
  ];
}

export const memoryNodesRule: LintRule = { codes: [CODE], find: lintMemoryNodes };
