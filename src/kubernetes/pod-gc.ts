import type { GcNode, GcPod } from '../core/pod-gc.js';
import { documentOf, isAbsent, items, member, textOf } from './document.js';

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
