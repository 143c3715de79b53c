import type { QosClass } from '../../core/workload/workload.js';

const GUARANTEED = -997;
const BEST_EFFORT = 1000;

/** Whatever a burstable workload asks for, it goes after a guaranteed one that uses all memory (3 = 1000 − 997). */
const BURSTABLE_MIN = 1000n + BigInt(GUARANTEED);
/** Asking for next to nothing is still more than asking for nothing. */
const BURSTABLE_MAX = BigInt(BEST_EFFORT) - 1n;

/**
 * The oom_score_adj of a machine workload, by the kubelet's formula: the kernel takes it as thousandths of the memory
 * added to what a process uses. What uses no more than its request comes to 1000 at most. A memory capacity that is not
 * known (0n) counts as one of which nothing was requested.
 */
export function qosOomScoreAdj(qosClass: QosClass, requestBytes: bigint, memoryCapacityBytes: bigint): number {
  switch (qosClass) {
    case 'Guaranteed':
      return GUARANTEED;
    case 'BestEffort':
      return BEST_EFFORT;
    case 'Burstable': {
      const score = memoryCapacityBytes > 0n ? 1000n - (1000n * requestBytes) / memoryCapacityBytes : BURSTABLE_MAX;
      return Number(score < BURSTABLE_MIN ? BURSTABLE_MIN : score > BURSTABLE_MAX ? BURSTABLE_MAX : score);
    }
  }
}
