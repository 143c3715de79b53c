import { readyStatus, type ClusterNode } from './cluster-node.js';
import { hasEnded, type ClusterPod } from './cluster-pod.js';

/** The taint says that the machine is down and stays so. Value and effect do not count. Only operators set it. */
export const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/** How often pods are looked at (podgc: gcCheckPeriod). */
export const GC_PERIOD_NS = 20_000_000_000n;

export function isOutOfService(node: Pick<ClusterNode, 'conditions' | 'taints'>): boolean {
  return readyStatus(node) !== 'True' && node.taints.some(({ key }) => key === OUT_OF_SERVICE);
}

type GcPod = Pick<ClusterPod, 'terminating' | 'nodeName' | 'phase'>;

/**
 * The pods that no kubelet can end any more: they are deleted with grace period 0, and first marked Failed where they had not
 * ended (controller: podgc/gc_controller.go, gcTerminating and gcUnscheduledTerminating, v1.36.2). Those of a node that
 * is not known wait for another look there.
 */
export function gcTerminating<P extends GcPod>(
  pods: Iterable<P>,
  nodes: Iterable<Pick<ClusterNode, 'name' | 'conditions' | 'taints'>>,
): Readonly<Record<'forceDeleted' | 'markedFailed', readonly P[]>> {
  const lost = new Set([...nodes].filter(isOutOfService).map(({ name }) => name));
  const forceDeleted = [...pods].filter(({ terminating, nodeName }) => terminating && (nodeName === '' || lost.has(nodeName)));
  return { forceDeleted, markedFailed: forceDeleted.filter((pod) => !hasEnded(pod)) };
}
