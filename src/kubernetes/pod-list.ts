import type { Workload } from '../core/workload/workload.js';
import { documentOf, isAbsent, items, member, textOf, wrong, type Field } from './document.js';
import { workloadAt } from './pod.js';

/** The pods of a list that run on a node, and the numbers of others. */
export interface NodePods {
  /** The pods without duplicates, in the order of the list. */
  readonly pods: readonly Workload[];
  /** Succeeded or Failed: nothing to evict. */
  readonly ended: number;
  readonly onOtherNodes: number;
  /** The number of pods that are not assigned to a node yet. */
  readonly unscheduled: number;
  /** Duplicates; the last one counts. */
  readonly repeated: number;
}

/**
 * Reads the output of `kubectl get pods -o json`: a list, an array of pods, or one pod.
 *
 * @param nodeName  '': treats the pods of all nodes as those of one
 * @throws DocumentError  with the path of the problem
 */
export function podsOnNode(document: unknown, nodeName: string): NodePods {
  const counts = { ended: 0, onOtherNodes: 0, unscheduled: 0, repeated: 0 };
  const pods = new Map<string, Workload>();
  for (const pod of podsIn(documentOf(document))) {
    const node = textOf(member(member(pod, 'spec'), 'nodeName'));
    const phase = textOf(member(member(pod, 'status'), 'phase'));
    const workload = workloadAt(pod);
    if (phase === 'Succeeded' || phase === 'Failed') counts.ended++;
    else if (node !== '' && nodeName !== '' && node !== nodeName) counts.onOtherNodes++;
    else if (node === '' && phase === 'Pending') counts.unscheduled++;
    else {
      if (pods.has(workload.id)) counts.repeated++;
      pods.set(workload.id, workload);
    }
  }
  return { pods: [...pods.values()], ...counts };
}

/** The node that wrote the summary; '' if it does not say. */
export function nodeNameOf(summary: unknown): string {
  return textOf(member(member(documentOf(summary), 'node'), 'nodeName'));
}

function podsIn(document: Field): readonly Field[] {
  if (isAbsent(document)) throw wrong(document, 'a list of pods');
  if (Array.isArray(document.value)) return items(document);
  const kind = member(document, 'kind');
  switch (textOf(kind)) {
    case 'Pod':
      return [document];
    case 'PodList':
    case 'List':
      return items(member(document, 'items'));
    default:
      throw wrong(kind, 'PodList, List or Pod');
  }
}
