import { qosOomScoreAdj } from '../../../src/features/oom-score-adj/qos-score.js';
import { quantityValue } from '../../../src/core/quantity/quantity.js';
import { aggregateContainers } from '../../../src/core/quantity/resource-list.js';
import type { Container, PodParts, ResourceList, Workload } from '../../../src/core/workload/workload.js';

const BURSTABLE_MIN = 3n;
const BURSTABLE_MAX = 999n;

const NODE_CRITICAL = 'system-node-critical';

/**
 * The oom_score_adj of one container of a pod (kubelet: qos/policy.go, GetContainerOOMScoreAdjust, v1.36.2).
 *
 * The kubelet bounds a burstable score only below and at exactly 1000, and computes in 64 bits that wrap: a pod whose
 * containers ask for more than spec.resources grants can come out above 1000, and so can a request of more than 8 PiB.
 */
export function containerOomScoreAdj(workload: Workload, pod: PodParts, container: Container, memoryCapacityBytes: bigint): number {
  if (isNodeCritical(workload, pod)) return qosOomScoreAdj('Guaranteed', 0n, memoryCapacityBytes);
  if (workload.qosClass !== 'Burstable') return qosOomScoreAdj(workload.qosClass, 0n, memoryCapacityBytes);
  if (memoryCapacityBytes <= 0n) return Number(BURSTABLE_MAX);
  const extra = remainingPodMemReqPerContainer(pod);
  const scoreOf = (requestBytes: bigint): bigint => 1000n - int64(1000n * (requestBytes + extra)) / memoryCapacityBytes;
  const own = scoreOf(memoryRequest(container.requests));
  const score = container.kind === 'sidecar' ? smaller(own, scoreOf(minRegularContainerMemory(pod))) : own;
  if (score < BURSTABLE_MIN) return Number(BURSTABLE_MIN);
  return score === 1000n ? Number(BURSTABLE_MAX) : Number(score);
}

/** kubelet: IsNodeCriticalPod. The name of the class alone is not enough: any pod may name it. */
function isNodeCritical({ protection }: Workload, { priorityClassName }: PodParts): boolean {
  return (protection?.kind === 'critical' || protection?.kind === 'static') && priorityClassName === NODE_CRITICAL;
}

/**
 * What the containers leave of the pod's own request, in equal parts, init containers counted; negative where they ask
 * for more.
 */
function remainingPodMemReqPerContainer({ containers, podLevel }: PodParts): bigint {
  if (podLevel === undefined || containers.length === 0) return 0n;
  const podRequest = memoryRequest(podLevel.requests);
  if (podRequest === 0n) return 0n;
  const together = memoryRequest(aggregateContainers(containers, (container) => container.requests));
  return (podRequest - together) / BigInt(containers.length);
}

function minRegularContainerMemory({ containers }: PodParts): bigint {
  const requests = containers.filter(({ kind }) => kind === 'regular').map((container) => memoryRequest(container.requests));
  return requests.length === 0 ? 0n : requests.reduce(smaller);
}

/** In bytes, a part of one counting as one. */
function memoryRequest(list: ResourceList): bigint {
  const quantity = list.get('memory');
  return quantity === undefined ? 0n : int64(quantityValue(quantity));
}

function smaller(a: bigint, b: bigint): bigint {
  return b < a ? b : a;
}

function int64(value: bigint): bigint {
  return BigInt.asIntN(64, value);
}
