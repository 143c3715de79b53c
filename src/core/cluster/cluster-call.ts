import { isSameTaint, type Taint } from '../disruption/taint.js';
import { nodePath } from '../kubernetes/node-condition-patch.js';
import { disruptionTarget, podStatusCall, type ApiCall } from '../kubernetes/pod-call.js';
import type { ClusterNode } from './cluster-node.js';
import type { ClusterPod } from './cluster-pod.js';
import { hasTaints, nodeTaints, type NoExecuteMode } from './condition-taints.js';
import { KUBELET_CONDITIONS } from './node-lifecycle.js';

/** Why a pod is deleted: reason and message of its condition DisruptionTarget, as kube-controller-manager's reasons. */
export const TAINT_REASON = ['DeletionByTaintManager', 'evictd: its node has a NoExecute taint that the pod does not tolerate'] as const;
export const GC_REASON = ['DeletionByPodGC', 'evictd: its node is out of service'] as const;
export const UNBOUND_REASON = ['DeletionByPodGC', 'evictd: it is bound to no node'] as const;

/** @param phase  left out: it stays @param now  in RFC 3339 */
export function markCall(pod: ClusterPod, [reason, message]: readonly [string, string], now: string, phase?: 'Failed'): ApiCall {
  return podStatusCall(pod, { ...(phase && { phase }), conditions: [disruptionTarget(reason, message, now)] });
}

/** A Service must not send requests to it. */
export function notReadyCall(pod: ClusterPod, now: string): ApiCall {
  return podStatusCall(pod, { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: now }] });
}

/** A node as the API server has it, and what was read of it. */
export interface NodeNow {
  readonly node: ClusterNode;
  /** metadata.resourceVersion of the object. */
  readonly resourceVersion: string;
  /** Taints of other programs may have more fields, which stay. */
  readonly taints: readonly object[];
}

/**
 * The patch that gives a node the taints of its conditions; undefined: it has them. It is a JSON merge patch of the whole list with
 * the resource version of the node. The server answers 409 where another program has changed the node since: then read it again.
 */
export function taintsCall({ node, resourceVersion, taints: written }: NodeNow, mode: NoExecuteMode, now: string): ApiCall | undefined {
  const wanted = nodeTaints(node, mode);
  if (hasTaints(wanted, node.taints)) return undefined;
  const isWritten = (taint: Taint, each: Partial<Taint>): boolean =>
    isSameTaint(each as Taint, taint) && (each.value ?? '') === taint.value;
  const taints = wanted.map(
    (taint) => written.find((each) => isWritten(taint, each)) ?? { key: taint.key, effect: taint.effect, timeAdded: now },
  );
  return {
    method: 'PATCH',
    path: nodePath(node.name),
    contentType: 'application/merge-patch+json',
    body: { metadata: { resourceVersion }, spec: { taints } },
  };
}

/**
 * The patch that says that the kubelet is silent; undefined: it says so. With the resource version: a kubelet that has reported
 * meanwhile is not silent.
 */
export function silenceCall({ node, resourceVersion }: NodeNow, now: string): ApiCall | undefined {
  const conditions = KUBELET_CONDITIONS.flatMap((type) => {
    const before = node.conditions.find((each) => each.type === type);
    if (before?.status === 'Unknown') return [];
    const [reason, message] =
      before === undefined
        ? ['NodeStatusNeverUpdated', 'Kubelet never posted node status.']
        : ['NodeStatusUnknown', 'Kubelet stopped posting node status.'];
    return [{ type, status: 'Unknown', reason, message, lastTransitionTime: now }];
  });
  if (conditions.length === 0) return undefined;
  return {
    method: 'PATCH',
    path: `${nodePath(node.name)}/status`,
    contentType: 'application/strategic-merge-patch+json',
    body: { metadata: { resourceVersion }, status: { conditions } },
  };
}
