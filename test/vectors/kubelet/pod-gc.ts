import { documentOf, isAbsent, items, member, textOf } from '../../../src/kubernetes/document.js';

/** What of a pod counts when a node is lost. */
export interface GcPod {
  readonly name: string;
  /** It has a deletionTimestamp. */
  readonly terminating: boolean;
  /** '': bound to none. */
  readonly nodeName: string;
  readonly phase: string;
}

export interface GcNode {
  readonly name: string;
  readonly ready: boolean;
  readonly taintKeys: readonly string[];
}

/** The taint says that the machine is down and stays so. Value and effect do not count. */
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/**
 * The pods that no kubelet can end any more: they are deleted with grace period 0, and first marked Failed where they had not
 * ended (controller: podgc/gc_controller.go, gcTerminating and gcUnscheduledTerminating, v1.36.2). Those of a node that
 * is not known wait for another look there.
 */
export function gcTerminating(
  pods: readonly GcPod[],
  nodes: readonly GcNode[],
): Readonly<Record<'forceDeleted' | 'markedFailed', readonly GcPod[]>> {
  const lost = new Set(nodes.filter(({ ready, taintKeys }) => !ready && taintKeys.includes(OUT_OF_SERVICE)).map(({ name }) => name));
  const forceDeleted = pods.filter(({ terminating, nodeName }) => terminating && (nodeName === '' || lost.has(nodeName)));
  return { forceDeleted, markedFailed: forceDeleted.filter(({ phase }) => phase !== 'Succeeded' && phase !== 'Failed') };
}

/** @throws DocumentError */
export function gcPodOf(document: unknown): GcPod {
  const pod = documentOf(document);
  const metadata = member(pod, 'metadata');
  return {
    name: textOf(member(metadata, 'name')),
    terminating: !isAbsent(member(metadata, 'deletionTimestamp')),
    nodeName: textOf(member(member(pod, 'spec'), 'nodeName')),
    phase: textOf(member(member(pod, 'status'), 'phase')),
  };
}

/** @throws DocumentError */
export function gcNodeOf(document: unknown): GcNode {
  const node = documentOf(document);
  const ready = items(member(member(node, 'status'), 'conditions')).find((condition) => textOf(member(condition, 'type')) === 'Ready');
  return {
    name: textOf(member(member(node, 'metadata'), 'name')),
    ready: ready !== undefined && textOf(member(ready, 'status')) === 'True',
    taintKeys: items(member(member(node, 'spec'), 'taints')).map((taint) => textOf(member(taint, 'key'))),
  };
}
