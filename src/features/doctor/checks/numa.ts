import { amountOfBytes } from '../../../core/quantity/amount.js';
import { boundTo, numbersIn, parseMemoryNode } from '../../../core/oom/memory-node.js';
import { degraded, ok } from '../check.js';
import { defineCheck } from '../check-kind.js';

const NODES = '/sys/devices/system/node';

/**
 * Workloads that may use some memory nodes only (cpuset.mems). The kernel ends their processes when these nodes are full
 * (CONSTRAINT_CPUSET), whatever the machine has, and evictd watches the machine.
 */
export const numaCheck = defineCheck('workloads.numa', ['kernelFile', 'cgroup', 'workloads'], (facts, id) => {
  const { kernelFile, cgroup, workloads } = facts;
  const all = numbersIn(kernelFile(`${NODES}/has_memory`) ?? '');
  if (all.length < 2) return ok(id, 'one memory node', { nodes: all });
  const mount = cgroup.memory?.version === 2 ? cgroup.memory.mountPoint : '/sys/fs/cgroup/cpuset';
  const file = cgroup.memory?.version === 2 ? 'cpuset.mems.effective' : 'cpuset.effective_mems';
  const bound = workloads.listed.flatMap((workload) => {
    const nodes = boundTo(all, kernelFile(`${mount}${workload.path}/${file}`) ?? '');
    return nodes === undefined ? [] : [{ workload, nodes }];
  });
  const details = { nodes: all, bound: bound.map(({ workload: { path }, nodes }) => ({ path, nodes })) };
  const summary = `${String(all.length)} memory nodes`;
  const [first] = bound;
  if (first === undefined) return ok(id, `${summary}, and no workload that a cpuset keeps off one of them`, details);
  const left = first.nodes.map((node) => leftOf(node, kernelFile));
  const rest = bound.length === 1 ? '' : `, as are ${String(bound.length - 1)} more`;
  const what = `${first.workload.name} is bound to ${left.join(' and ')}${rest}`;
  return degraded(
    id,
    `${summary}; ${what}: when these are full, the kernel ends its processes; evictd does not watch single memory nodes`,
    'give the workload a limit (MemoryMax=) below what its nodes have, or more nodes (AllowedMemoryNodes=)',
    details,
  );
});

/** 'node 1 (1GiB of 8GiB available)' */
function leftOf(node: number, kernelFile: (path: string) => string | undefined): string {
  const [meminfo, zoneinfo] = [`${NODES}/node${String(node)}/meminfo`, '/proc/zoneinfo'].map((path) => kernelFile(path) ?? '');
  const read = parseMemoryNode(node, meminfo ?? '', zoneinfo ?? '');
  return `node ${String(node)}${read ? ` (${amountOfBytes(read.availableBytes)} of ${amountOfBytes(read.capacityBytes)} available)` : ''}`;
}
