import { podLimits, isPodLevelSet, rankedRequests } from '../core/workload/pod-resources.js';
import { computePodQos, type Resources } from '../core/workload/qos.js';
import { PREEMPTION_POLICIES, protectionByPriority } from '../core/disruption/priority-class.js';
import {
  type PodCondition,
  type Protection,
  type QosClass,
  type Workload,
  type Container,
  type LocalVolume,
} from '../core/workload/workload.js';
import {
  documentOf,
  integerOf,
  isAbsent,
  items,
  member,
  members,
  resourceListOf,
  textOf,
  timeOf,
  wrong,
  type Field,
  quantityOf,
} from './document.js';
import { tolerationsAt } from './taint.js';
import { NS_PER_SECOND } from '../core/quantity/duration.js';

const CONFIG_SOURCE = 'kubernetes.io/config.source';
const CONFIG_MIRROR = 'kubernetes.io/config.mirror';

/**
 * A pod of the API (v1.Pod as JSON) as a workload, with the amounts that the kubelet v1.36.2 ranks by.
 *
 * The id of a pod without uid is namespace/name; the default namespace is `default`. A pod without a start time counts
 * as the oldest.
 *
 * @throws DocumentError  with the path of the problem
 */
export function workloadOfPod(document: unknown): Workload {
  return workloadAt(documentOf(document));
}

/** As {@link workloadOfPod}; `pod` may be an item of a list. */
export function workloadAt(pod: Field): Workload {
  const kind = member(pod, 'kind');
  if (isAbsent(pod) || !['', 'Pod'].includes(textOf(kind))) throw wrong(isAbsent(pod) ? pod : kind, 'a Pod');
  const metadata = member(pod, 'metadata');
  const spec = required(member(pod, 'spec'), 'an object');
  const status = member(pod, 'status');

  const name = textOf(required(member(metadata, 'name'), 'the name of the pod'));
  const namespace = textOf(member(metadata, 'namespace')) || 'default';
  const path = `${namespace}/${name}`;
  const containers = containersOf(spec);
  const ownResources = podLevelOf(spec);
  const amounts = { containers, podLevel: ownResources, overhead: resourceListOf(member(spec, 'overhead')) };
  const limits = podLimits(amounts);
  const isSet = ownResources !== undefined && (isPodLevelSet(ownResources.requests) || isPodLevelSet(ownResources.limits));
  const priority = Number(integerOf(member(spec, 'priority'), 'int32') ?? 0n);
  const preemptionPolicy = PREEMPTION_POLICIES.find((policy) => policy === textOf(member(spec, 'preemptionPolicy')));
  const graceSeconds = integerOf(member(spec, 'terminationGracePeriodSeconds'), 'int64');
  return {
    id: textOf(member(metadata, 'uid')) || path,
    name,
    path,
    priority,
    requests: rankedRequests(amounts),
    limits: { memory: limits.get('memory')?.nano, ephemeralStorage: limits.get('ephemeral-storage')?.nano },
    qosClass: statedQosClass(member(status, 'qosClass')) ?? computePodQos(containers, ownResources),
    terminationGracePeriodNs: graceSeconds === undefined ? undefined : graceSeconds * NS_PER_SECOND,
    startOrder: timeOf(member(status, 'startTime')) ?? timeOf(member(metadata, 'creationTimestamp')) ?? 0n,
    protection: protectionOf(priority, member(metadata, 'annotations')),
    pod: {
      namespace,
      containers,
      volumes: localVolumesOf(spec),
      podLevel: isSet ? ownResources : undefined,
      limits,
      priorityClassName: textOf(member(spec, 'priorityClassName')),
      ...(preemptionPolicy && { preemptionPolicy }),
      tolerations: tolerationsAt(spec),
      conditions: items(member(status, 'conditions')).map(conditionOf),
      generation: integerOf(member(metadata, 'generation'), 'int64') ?? 0n,
    },
  };
}

function required(field: Field, wanted: string): Field {
  if (isAbsent(field) || field.value === '') throw wrong(field, wanted);
  return field;
}

function podLevelOf(spec: Field): Resources | undefined {
  const resources = member(spec, 'resources');
  if (isAbsent(resources)) return undefined;
  return { requests: resourceListOf(member(resources, 'requests')), limits: resourceListOf(member(resources, 'limits')) };
}

/** The class computed by the API server stays, even if resources change later (kubelet: GetPodQOS). */
function statedQosClass(field: Field): QosClass | undefined {
  const text = textOf(field);
  if (text === '') return undefined;
  if (text !== 'Guaranteed' && text !== 'Burstable' && text !== 'BestEffort') throw wrong(field, 'Guaranteed, Burstable or BestEffort');
  return text;
}

/** kubelet: IsCriticalPod, skipped by evictions: static pods, mirrors of static pods, and critical priorities. */
function protectionOf(priority: number, annotations: Field): Protection | undefined {
  const byName = new Map(members(annotations));
  const source = byName.get(CONFIG_SOURCE);
  const isStatic = source !== undefined && textOf(source) !== 'api';
  if (isStatic || byName.has(CONFIG_MIRROR)) return { kind: 'static' };
  return protectionByPriority(priority);
}

function conditionOf(condition: Field): PodCondition {
  const reason = textOf(member(condition, 'reason'));
  const message = textOf(member(condition, 'message'));
  return {
    type: textOf(member(condition, 'type')),
    status: textOf(member(condition, 'status')),
    ...(reason === '' ? {} : { reason }),
    ...(message === '' ? {} : { message }),
    observedGeneration: integerOf(member(condition, 'observedGeneration'), 'int64') ?? 0n,
  };
}

/** Regular containers, then init containers and sidecars in starting order. Without ephemeral ones. */
function containersOf(spec: Field): Container[] {
  return [
    ...items(member(spec, 'containers')).map((container) => containerOf(container, 'regular')),
    // restartPolicy has no meaning for regular containers here.
    ...items(member(spec, 'initContainers')).map((container) =>
      containerOf(container, textOf(member(container, 'restartPolicy')) === 'Always' ? 'sidecar' : 'init'),
    ),
  ];
}

function containerOf(container: Field, kind: Container['kind']): Container {
  const resources = member(container, 'resources');
  return {
    name: textOf(member(container, 'name')),
    kind,
    requests: resourceListOf(member(resources, 'requests')),
    limits: resourceListOf(member(resources, 'limits')),
  };
}

/** Volumes on the node's storage, in the order of the pod. Claims, secrets and projections have limits elsewhere. */
function localVolumesOf(spec: Field): LocalVolume[] {
  return items(member(spec, 'volumes')).flatMap((volume): LocalVolume[] => {
    const name = textOf(member(volume, 'name'));
    const emptyDir = member(volume, 'emptyDir');
    if (!isAbsent(emptyDir)) {
      const sizeLimit = member(emptyDir, 'sizeLimit');
      const medium = textOf(member(emptyDir, 'medium'));
      return [{ name, kind: 'emptyDir', medium, sizeLimit: isAbsent(sizeLimit) ? undefined : quantityOf(sizeLimit) }];
    }
    const kind = (['hostPath', 'configMap', 'gitRepo'] as const).find((source) => !isAbsent(member(volume, source)));
    return kind === undefined ? [] : [{ name, kind, medium: '', sizeLimit: undefined }];
  });
}
