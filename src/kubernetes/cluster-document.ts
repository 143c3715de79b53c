import type { ManagerPod } from '../core/cluster/controller.js';
import { EXCLUDED_LABEL, zoneOf, type ClusterNode } from '../core/cluster/cluster-node.js';
import type { ClusterPod } from '../core/cluster/cluster-pod.js';
import type { LeaseSpec } from '../core/cluster/leader-election.js';
import { documentOf, integerOf, isAbsent, items, member, members, textOf, timeOf, type Field } from './document.js';
import { taintsAt, tolerationsAt } from './taint.js';

// What `evictd controller` reads of objects. Each throws DocumentError.

export function clusterPodOf(document: unknown): ClusterPod {
  const pod = documentOf(document);
  const [metadata, spec, status] = [member(pod, 'metadata'), member(pod, 'spec'), member(pod, 'status')];
  return {
    namespace: textOf(member(metadata, 'namespace')),
    name: textOf(member(metadata, 'name')),
    uid: textOf(member(metadata, 'uid')),
    nodeName: textOf(member(spec, 'nodeName')),
    phase: textOf(member(status, 'phase')),
    terminating: !isAbsent(member(metadata, 'deletionTimestamp')),
    isReady: conditionsOf(status).some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    tolerations: tolerationsAt(spec),
  };
}

export function clusterNodeOf(document: unknown): ClusterNode {
  const node = documentOf(document);
  const [metadata, spec, status] = [member(node, 'metadata'), member(node, 'spec'), member(node, 'status')];
  const labels = Object.fromEntries(members(member(metadata, 'labels')).map(([key, { value }]) => [key, value]));
  const ready = items(member(status, 'conditions')).find((condition) => textOf(member(condition, 'type')) === 'Ready');
  const managerTaintedMs = managerTaintedMsOf(metadata);
  return {
    name: textOf(member(metadata, 'name')),
    zone: zoneOf(labels),
    isExcluded: EXCLUDED_LABEL in labels,
    unschedulable: member(spec, 'unschedulable').value === true,
    taints: taintsAt(spec),
    conditions: conditionsOf(status),
    heartbeat: ready === undefined ? '' : textOf(member(ready, 'lastHeartbeatTime')),
    ...(managerTaintedMs !== undefined && { managerTaintedMs }),
  };
}

function conditionsOf(status: Field): ClusterNode['conditions'] {
  return items(member(status, 'conditions')).map((condition) => ({
    type: textOf(member(condition, 'type')),
    status: textOf(member(condition, 'status')),
  }));
}

/** When kube-controller-manager has written spec.taints last. */
function managerTaintedMsOf(metadata: Field): number | undefined {
  const times = items(member(metadata, 'managedFields')).flatMap((entry) => {
    const spec = member(member(entry, 'fieldsV1'), 'f:spec');
    const isOfTaints = textOf(member(entry, 'manager')) === 'kube-controller-manager' && !isAbsent(member(spec, 'f:taints'));
    const atNs = isOfTaints ? timeOf(member(entry, 'time')) : undefined;
    return atNs === undefined ? [] : [Number(atNs / 1_000_000n)];
  });
  return times.length === 0 ? undefined : Math.max(...times);
}

/** A Lease (coordination.k8s.io/v1). */
export function leaseOf(document: unknown): {
  readonly name: string;
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly spec: LeaseSpec;
} {
  const lease = documentOf(document);
  const [metadata, spec] = [member(lease, 'metadata'), member(lease, 'spec')];
  const count = (key: string): number => Number(integerOf(member(spec, key), 'int32') ?? 0n);
  const text = (key: string): string => textOf(member(spec, key));
  return {
    name: textOf(member(metadata, 'name')),
    resourceVersion: textOf(member(metadata, 'resourceVersion')),
    annotations: Object.fromEntries(members(member(metadata, 'annotations')).map(([key, { value }]) => [key, value])),
    spec: {
      holderIdentity: text('holderIdentity'),
      leaseDurationSeconds: count('leaseDurationSeconds'),
      acquireTime: text('acquireTime'),
      renewTime: text('renewTime'),
      leaseTransitions: count('leaseTransitions'),
    },
  };
}

/** The pods of a list with the label component=kube-controller-manager. */
export function managerPodsOf(list: unknown): readonly ManagerPod[] {
  return items(member(documentOf(list), 'items')).map((pod) => ({
    isRunning: textOf(member(member(pod, 'status'), 'phase')) === 'Running',
    command: items(member(member(pod, 'spec'), 'containers')).flatMap((container) =>
      [...items(member(container, 'command')), ...items(member(container, 'args'))].map(textOf),
    ),
  }));
}
