import { canonicalText } from './quantity-format.js';
import { compareQuantities, type Quantity } from './quantity.js';
import type { Container, ResourceList } from '../workload/workload.js';

/** The canonical sum, in the format of the first operand that is not zero (Quantity.Add). Never wraps. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const nano = a.nano + b.nano;
  const format = a.nano === 0n ? b.format : a.format;
  return { nano, format, text: canonicalText(nano, format) };
}

/** Adds up per resource. A quantity that is in only one list keeps its text. */
export function addResourceLists(a: ResourceList, b: ResourceList): ResourceList {
  return merged(a, b, addQuantities);
}

/** The larger by resource; of equals the first. A quantity in only one list is kept, even if negative. */
export function maxResourceLists(a: ResourceList, b: ResourceList): ResourceList {
  return merged(a, b, (left, right) => (compareQuantities(right, left) > 0 ? right : left));
}

function merged(a: ResourceList, b: ResourceList, merge: (a: Quantity, b: Quantity) => Quantity): ResourceList {
  const result = new Map(a);
  for (const [name, quantity] of b) {
    const other = result.get(name);
    result.set(name, other === undefined ? quantity : merge(other, quantity));
  }
  return result;
}

/**
 * What all containers need together. Regular containers and sidecars add up. An init container needs its own amount
 * plus the sidecars started before it; the largest such need is a minimum (component-helpers/resource/helpers.go,
 * v1.36.2, AggregateContainerRequests and AggregateContainerLimits).
 */
export function aggregateContainers(containers: readonly Container[], listOf: (container: Container) => ResourceList): ResourceList {
  const none: ResourceList = new Map();
  let sum = containers
    .filter(({ kind }) => kind === 'regular')
    .reduce((total, container) => addResourceLists(total, listOf(container)), none);
  let sidecars = none;
  let needed = none;
  for (const container of containers) {
    switch (container.kind) {
      case 'regular':
        break;
      case 'sidecar':
        sum = addResourceLists(sum, listOf(container));
        sidecars = addResourceLists(sidecars, listOf(container));
        needed = maxResourceLists(needed, sidecars);
        break;
      case 'init':
        needed = maxResourceLists(needed, addResourceLists(listOf(container), sidecars));
        break;
    }
  }
  return maxResourceLists(sum, needed);
}
