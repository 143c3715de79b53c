// Which pods belong together if the pod does not say it itself: those of its services and its owner (plugins/helper/spread.go, v1.36.2).
import { items, member, textOf, type Field } from '../../../../src/kubernetes/document.js';
import { labelSelectorAt, labelsAt, type LabelSelector, type Labels, type Requirement } from '../label-selector.js';
import type { ScheduledPod } from './snapshot.js';

/** undefined: nothing selects the pod. */
export function defaultSelector(pod: ScheduledPod, input: Field): LabelSelector | undefined {
  const exact = new Map<string, string>();
  const own = (list: string): readonly Field[] =>
    items(member(input, list)).filter((object) => textOf(member(member(object, 'metadata'), 'namespace')) === pod.namespace);
  for (const service of own('services')) {
    const selector = labelsAt(member(member(service, 'spec'), 'selector'));
    if (selector.size > 0 && includes(pod.labels, selector)) for (const [key, value] of selector) exact.set(key, value);
  }
  const more: Requirement[] = [];
  const owner = items(member(member(pod.document, 'metadata'), 'ownerReferences')).find(
    (reference) => member(reference, 'controller').value === true,
  );
  const object = owner === undefined ? undefined : ownerOf(owner, own);
  if (object !== undefined) {
    const selector = member(member(object, 'spec'), 'selector');
    if (textOf(member(owner ?? object, 'kind')) === 'ReplicationController')
      for (const [key, value] of labelsAt(selector)) exact.set(key, value);
    else more.push(...(labelSelectorAt(selector)?.requirements ?? []));
  }
  const requirements = [...[...exact].map(([key, value]) => ({ key, operator: 'In', values: [value] })), ...more];
  return requirements.length === 0 ? undefined : { requirements };
}

const LISTS: Readonly<Record<string, string>> = {
  ReplicationController: 'replicationControllers',
  ReplicaSet: 'replicaSets',
  StatefulSet: 'statefulSets',
};

function ownerOf(owner: Field, own: (list: string) => readonly Field[]): Field | undefined {
  const list = LISTS[textOf(member(owner, 'kind'))];
  const name = textOf(member(owner, 'name'));
  return list === undefined ? undefined : own(list).find((object) => textOf(member(member(object, 'metadata'), 'name')) === name);
}

function includes(labels: Labels, selector: Labels): boolean {
  return [...selector].every(([key, value]) => labels.get(key) === value);
}
