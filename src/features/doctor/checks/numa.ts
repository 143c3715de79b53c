import { numbersIn } from '../../../core/oom/memory-node.js';
import { defineCheck } from '../check-kind.js';
import { judged } from '../findings.js';

const HAS_MEMORY = '/sys/devices/system/node/has_memory';

/** Workloads that may use some memory nodes only (cpuset.mems). */
export const numaCheck = defineCheck('workloads.numa', ['kernelFile', 'workloads'], ({ kernelFile, workloads }, id) => {
  const nodes = numbersIn(kernelFile(HAS_MEMORY) ?? '');
  const summary =
    nodes.length < 2
      ? 'one memory node'
      : `${String(nodes.length)} memory nodes, and no workload that a cpuset binds to some of them lacks a policy; processes that bind themselves (numactl, mbind) are not seen`;
  return judged(id, workloads, summary, { nodes });
});
