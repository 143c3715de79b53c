import { amountsOf } from '../../core/scheduling/node-fit.js';
import type { SchedulerNode } from '../../core/scheduling/scheduler-node.js';
import { integerOf, items, member, resourceListOf, textOf, type Field } from '../document.js';
import { labelsAt } from './label-selector.js';
import { taintsAt } from '../taint.js';

/**
 * Reads a node (v1.Node) for the scheduler.
 *
 * @throws DocumentError  with the path of the problem
 */
export function schedulerNodeAt(node: Field): SchedulerNode {
  const [metadata, spec, status] = [member(node, 'metadata'), member(node, 'spec'), member(node, 'status')];
  const images = items(member(status, 'images')).flatMap((image) => {
    const bytes = Number(integerOf(member(image, 'sizeBytes'), 'int64') ?? 0n);
    return items(member(image, 'names')).map((name) => [textOf(name), bytes] as const);
  });
  return {
    name: textOf(member(metadata, 'name')),
    labels: labelsAt(member(metadata, 'labels')),
    taints: taintsAt(spec),
    unschedulable: member(spec, 'unschedulable').value === true,
    allocatable: amountsOf(resourceListOf(member(status, 'allocatable'))),
    declaredFeatures: new Set(items(member(status, 'declaredFeatures')).map(textOf)),
    images: new Map(images.reverse()), // of a name that is there twice, the first counts
  };
}
