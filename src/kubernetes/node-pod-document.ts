import { protectionByPriority } from '../core/disruption/priority-class.js';
import type { NodePod } from '../core/kubernetes/node-pod.js';
import type { Workload } from '../core/workload/workload.js';
import { documentOf, integerOf, isAbsent, items, member, members, textOf } from './document.js';
import { isObject, type Json } from './json.js';
import { workloadOfPod } from './pod.js';

/** Keys that are kept; true: with all below. Each entry of a list is treated alike. */
interface Kept {
  readonly [key: string]: true | Kept;
}

const RESOURCES = { requests: true, limits: true } as const;
const CONTAINER = { name: true, restartPolicy: true, resources: RESOURCES } as const;

/** The static pod's uid, which a mirror pod has in its annotations (kubelet: types.ConfigHashAnnotationKey). */
const CONFIG_HASH = 'kubernetes.io/config.hash';
const CONFIG_MIRROR = 'kubernetes.io/config.mirror';

/** What evictd reads of a pod, which is a tenth of it. */
const POD: Kept = {
  metadata: {
    ...{ name: true, namespace: true, uid: true, labels: true, generation: true, creationTimestamp: true },
    ...{ deletionTimestamp: true, deletionGracePeriodSeconds: true },
    annotations: { [CONFIG_MIRROR]: true, [CONFIG_HASH]: true },
    ownerReferences: { kind: true, name: true, controller: true },
  },
  spec: {
    ...{ nodeName: true, priority: true, priorityClassName: true, preemptionPolicy: true, restartPolicy: true },
    ...{ terminationGracePeriodSeconds: true, overhead: true, resources: RESOURCES, tolerations: true },
    ...{ containers: CONTAINER, initContainers: CONTAINER },
    volumes: { name: true, emptyDir: { medium: true, sizeLimit: true }, hostPath: {}, configMap: {}, gitRepo: {} },
  },
  status: {
    ...{ phase: true, qosClass: true, startTime: true },
    conditions: { type: true, status: true, reason: true, message: true, observedGeneration: true },
  },
};

/** A pod of the API without the fields that evictd does not read: environment, probes, images, managedFields. */
export function shortPod(pod: Json): Json {
  return short(pod, POD);
}

function short(value: Json, kept: Kept): Json {
  if (Array.isArray(value)) return value.map((item: Json) => short(item, kept));
  if (!isObject(value)) return value;
  const found: Record<string, Json> = {};
  for (const [key, below] of Object.entries(kept)) {
    const inner = value[key];
    if (inner !== undefined) found[key] = below === true ? inner : short(inner, below);
  }
  return found;
}

/**
 * A pod of the API, whole or as {@link shortPod} leaves it. It is static only as the mirror pod that a kubelet has made, which the
 * node owns (kubelet: mirror_client.go): users choose the other annotations of their pods, and the kubelet overwrites config.source.
 *
 * @throws DocumentError  with the path of the problem
 */
export function nodePodOf(document: Json): NodePod {
  const read = workloadOfPod(document);
  const pod = documentOf(document);
  const metadata = member(pod, 'metadata');
  const annotations = member(metadata, 'annotations');
  const policy = textOf(member(member(pod, 'spec'), 'restartPolicy'));
  const owner = items(member(metadata, 'ownerReferences')).find((reference) => member(reference, 'controller').value === true);
  const isMirror = !isAbsent(member(annotations, CONFIG_MIRROR)) && owner !== undefined && textOf(member(owner, 'kind')) === 'Node';
  const workload: Workload = { ...read, protection: isMirror ? { kind: 'static' } : protectionByPriority(read.priority) };
  const isDeleted = !isAbsent(member(metadata, 'deletionTimestamp'));
  return {
    uid: workload.id,
    cgroupUid: (isMirror && textOf(member(annotations, CONFIG_HASH))) || workload.id,
    namespace: workload.pod?.namespace ?? '',
    name: workload.name,
    labels: Object.fromEntries(members(member(metadata, 'labels')).map(([key, field]) => [key, textOf(field)])),
    workload,
    phase: textOf(member(member(pod, 'status'), 'phase')),
    ...(isDeleted && { deletionSeconds: Number(integerOf(member(metadata, 'deletionGracePeriodSeconds'), 'int64') ?? 0n) }),
    ...(owner && { owner: { kind: textOf(member(owner, 'kind')), name: textOf(member(owner, 'name')) } }),
    restartPolicy: policy === 'Never' || policy === 'OnFailure' ? policy : 'Always',
  };
}

/** @throws DocumentError  it is not a pod of the API */
export function uidOf(pod: Json): string {
  return textOf(member(member(documentOf(pod), 'metadata'), 'uid'));
}

/** When the container that was started last has started, by the status that its kubelet has reported. undefined: none has. */
export function lastStartMs(pod: Json): number | undefined {
  const status = member(documentOf(pod), 'status');
  const containers = ['containerStatuses', 'initContainerStatuses'].flatMap((key) => items(member(status, key)));
  const states = containers.flatMap((container) => ['state', 'lastState'].map((key) => member(container, key)));
  const starts = states.flatMap((state) => ['running', 'terminated'].map((key) => textOf(member(member(state, key), 'startedAt'))));
  const times = starts.map(Date.parse).filter((ms) => !Number.isNaN(ms));
  return times.length === 0 ? undefined : Math.max(...times);
}
