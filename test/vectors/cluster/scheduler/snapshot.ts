// The nodes and pods of a cluster as the scheduler sees them at one moment.
import type { Taint } from '../../../../src/core/disruption/taint.js';
import { integerOf, isAbsent, items, member, resourceListOf, textOf, type Field } from '../../../../src/kubernetes/document.js';
import { hostPortsAt, type HostPort } from '../host-ports.js';
import { labelsAt, type Labels } from '../label-selector.js';
import { addAmounts, amountsOf, type Amounts } from '../node-fit.js';
import { bookedResources } from '../pod-requests.js';
import { podAmountsAt, type PodAmounts } from '../pod.js';
import type { Toleration } from '../../../../src/core/disruption/toleration.js';
import { taintsAt, tolerationsAt } from '../taint-reading.js';

export interface ScheduledPod {
  readonly document: Field;
  readonly name: string;
  readonly namespace: string;
  readonly labels: Labels;
  readonly spec: Field;
  /** '': on no node yet. */
  readonly nodeName: string;
  readonly priority: bigint;
  readonly terminating: boolean;
  readonly tolerations: readonly Toleration[];
  readonly hostPorts: readonly HostPort[];
  readonly amounts: PodAmounts;
  readonly requests: Amounts;
  readonly nonZeroRequests: Amounts;
}

export interface SchedulerNode {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly unschedulable: boolean;
  readonly allocatable: Amounts;
  /** Bytes by image name. */
  readonly images: ReadonlyMap<string, number>;
  readonly pods: readonly ScheduledPod[];
  /** Requests of the pods. */
  readonly used: Amounts;
  readonly nonZeroUsed: Amounts;
  readonly usedPorts: readonly HostPort[];
}

export interface Snapshot {
  readonly nodes: readonly SchedulerNode[];
  /** Labels by namespace. */
  readonly namespaces: ReadonlyMap<string, Labels>;
}

export function snapshotAt(input: Field): Snapshot {
  const pods = items(member(input, 'pods')).map(scheduledPodAt);
  return {
    nodes: items(member(input, 'nodes')).map((node) => nodeAt(node, pods)),
    namespaces: new Map(
      items(member(input, 'namespaces')).map((namespace) => {
        const metadata = member(namespace, 'metadata');
        return [textOf(member(metadata, 'name')), labelsAt(member(metadata, 'labels'))];
      }),
    ),
  };
}

export function scheduledPodAt(pod: Field): ScheduledPod {
  const metadata = member(pod, 'metadata');
  const spec = member(pod, 'spec');
  const amounts = podAmountsAt(pod);
  const booked = bookedResources(amounts);
  return {
    document: pod,
    name: textOf(member(metadata, 'name')),
    namespace: textOf(member(metadata, 'namespace')),
    labels: labelsAt(member(metadata, 'labels')),
    spec,
    nodeName: textOf(member(spec, 'nodeName')),
    priority: integerOf(member(spec, 'priority'), 'int32') ?? 0n,
    terminating: !isAbsent(member(metadata, 'deletionTimestamp')),
    tolerations: tolerationsAt(spec),
    hostPorts: hostPortsAt(spec),
    amounts,
    requests: amountsOf(booked.requests),
    nonZeroRequests: amountsOf(booked.nonZero),
  };
}

function nodeAt(node: Field, all: readonly ScheduledPod[]): SchedulerNode {
  const [metadata, spec, status] = [member(node, 'metadata'), member(node, 'spec'), member(node, 'status')];
  const name = textOf(member(metadata, 'name'));
  const images = items(member(status, 'images')).flatMap((image) => {
    const bytes = Number(integerOf(member(image, 'sizeBytes'), 'int64') ?? 0n);
    return items(member(image, 'names')).map((of) => [textOf(of), bytes] as const);
  });
  const empty: SchedulerNode = {
    name,
    labels: labelsAt(member(metadata, 'labels')),
    taints: taintsAt(spec),
    unschedulable: member(spec, 'unschedulable').value === true,
    allocatable: amountsOf(resourceListOf(member(status, 'allocatable'))),
    images: new Map(images),
    pods: [],
    used: new Map(),
    nonZeroUsed: new Map(),
    usedPorts: [],
  };
  return withPods(
    empty,
    all.filter(({ nodeName }) => nodeName === name),
  );
}

/** The node with other pods. */
export function withPods(
  node: SchedulerNode,
  pods: readonly ScheduledPod[],
  usedPorts: readonly HostPort[] = pods.flatMap(({ hostPorts }) => hostPorts),
): SchedulerNode {
  return {
    ...node,
    pods,
    usedPorts,
    used: pods.map(({ requests }) => requests).reduce(addAmounts, new Map()),
    nonZeroUsed: pods.map(({ nonZeroRequests }) => nonZeroRequests).reduce(addAmounts, new Map()),
  };
}
