import type { PodOwner, PodService } from '../../core/scheduling/cluster/default-selector.js';
import type { Labels } from '../../core/scheduling/label-selector.js';
import type { PriorityClass } from '../../core/scheduling/priority-admission.js';
import type { PodDisruptionBudget } from '../../core/scheduling/scheduler-pod.js';
import { integerOf, member, members, textOf, type Field } from '../document.js';
import { labelsAt, labelSelectorAt } from './label-selector.js';

/** v1.Namespace: its name and labels. */
export function namespaceAt(namespace: Field): readonly [name: string, labels: Labels] {
  return [nameOf(namespace), labelsAt(member(member(namespace, 'metadata'), 'labels'))];
}

/** v1.Service. */
export function serviceAt(service: Field): PodService {
  return { namespace: namespaceOf(service), selector: labelsAt(member(member(service, 'spec'), 'selector')) };
}

/** v1.ReplicationController, or apps/v1 ReplicaSet or StatefulSet. */
export function ownerAt(owner: Field, kind: PodOwner['kind']): PodOwner {
  const selector = member(member(owner, 'spec'), 'selector');
  const common = { kind, namespace: namespaceOf(owner), name: nameOf(owner) };
  if (kind !== 'ReplicationController') return { ...common, selector: labelSelectorAt(selector) };
  const requirements = [...labelsAt(selector)].map(([key, value]) => ({ key, operator: 'In', values: [value] }));
  return { ...common, selector: { requirements } };
}

/** policy/v1 PodDisruptionBudget. */
export function disruptionBudgetAt(budget: Field): PodDisruptionBudget {
  const status = member(budget, 'status');
  return {
    namespace: namespaceOf(budget),
    name: nameOf(budget),
    selector: labelSelectorAt(member(member(budget, 'spec'), 'selector')),
    disruptionsAllowed: Number(integerOf(member(status, 'disruptionsAllowed'), 'int32') ?? 0n),
    disruptedPods: new Set(members(member(status, 'disruptedPods')).map(([name]) => name)),
  };
}

/** scheduling.k8s.io/v1 PriorityClass. */
export function priorityClassAt(priorityClass: Field): PriorityClass {
  return {
    name: nameOf(priorityClass),
    value: integerOf(member(priorityClass, 'value'), 'int32') ?? 0n,
    globalDefault: member(priorityClass, 'globalDefault').value === true,
    preemptionPolicy: textOf(member(priorityClass, 'preemptionPolicy')),
  };
}

export function nameOf(object: Field): string {
  return textOf(member(member(object, 'metadata'), 'name'));
}

/** The namespace; without one `default`, as in kubectl. */
export function namespaceOf(object: Field): string {
  return textOf(member(member(object, 'metadata'), 'namespace')) || 'default';
}
