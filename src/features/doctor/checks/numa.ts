import { numbersIn } from '../../../core/oom/memory-node.js';
import { unseen } from '../check.js';
import { defineCheck } from '../check-kind.js';
import { judged } from '../findings.js';

const HAS_MEMORY = '/sys/devices/system/node/has_memory';
/** A kernel without NUMA has no other file with nodes. */
const ZONES = '/proc/zoneinfo';

/** Workloads that may use some memory nodes only (cpuset.mems). */
export const numaCheck = defineCheck('workloads.numa', ['kernelFile', 'workloads'], ({ kernelFile, workloads }, id) => {
  const nodes = memoryNodes(kernelFile(HAS_MEMORY), kernelFile(ZONES));
  if (nodes.length === 0) return unseen(id, 'memory nodes', { unseen: `neither ${HAS_MEMORY} nor ${ZONES} can be read` });
  const summary =
    nodes.length === 1
      ? 'one memory node'
      : `${String(nodes.length)} memory nodes, and no workload that a cpuset binds to some of them lacks a threshold or policy; processes that bind themselves (numactl, mbind) are not seen`;
  return judged(id, workloads, summary, { nodes });
});

function memoryNodes(hasMemory: string | undefined, zones = ''): readonly number[] {
  if (hasMemory !== undefined) return numbersIn(hasMemory);
  return [...new Set([...zones.matchAll(/^Node (\d+), zone /gm)].map(([, node]) => Number(node)))];
}
