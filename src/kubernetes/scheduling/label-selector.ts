import type { Labels, LabelSelector, Requirement } from '../../core/scheduling/label-selector.js';
import type { NodeSelectorTerm, PreferredNodeTerm, RequiredNodeAffinity } from '../../core/scheduling/node-affinity.js';
import { integerOf, isAbsent, items, member, members, textOf, type Field } from '../document.js';

export function labelsAt(labels: Field): Labels {
  return new Map(members(labels).map(([name, value]) => [name, textOf(value)]));
}

function requirementsAt(list: Field): readonly Requirement[] {
  return items(list).map((expression) => ({
    key: textOf(member(expression, 'key')),
    operator: textOf(member(expression, 'operator')),
    values: items(member(expression, 'values')).map(textOf),
  }));
}

export function labelSelectorAt(selector: Field): LabelSelector | undefined {
  if (isAbsent(selector)) return undefined;
  const exact = members(member(selector, 'matchLabels')).map(([key, value]) => ({ key, operator: 'In', values: [textOf(value)] }));
  return { requirements: [...exact, ...requirementsAt(member(selector, 'matchExpressions'))] };
}

/** @param spec  of a pod */
export function requiredNodeAffinityAt(spec: Field): RequiredNodeAffinity {
  const required = member(member(member(spec, 'affinity'), 'nodeAffinity'), 'requiredDuringSchedulingIgnoredDuringExecution');
  return { labels: labelsAt(member(spec, 'nodeSelector')), terms: nodeSelectorTermsAt(required) };
}

/** v1.NodeSelector; undefined: none is given. */
export function nodeSelectorTermsAt(selector: Field): readonly NodeSelectorTerm[] | undefined {
  return isAbsent(selector) ? undefined : items(member(selector, 'nodeSelectorTerms')).map(nodeSelectorTermAt);
}

function nodeSelectorTermAt(term: Field): NodeSelectorTerm {
  return { expressions: requirementsAt(member(term, 'matchExpressions')), fields: requirementsAt(member(term, 'matchFields')) };
}

/** The preferred terms of v1.NodeAffinity. */
export function preferredNodeTermsAt(nodeAffinity: Field): readonly PreferredNodeTerm[] {
  return items(member(nodeAffinity, 'preferredDuringSchedulingIgnoredDuringExecution')).map((preferred) => ({
    weight: Number(integerOf(member(preferred, 'weight'), 'int32') ?? 0n),
    term: nodeSelectorTermAt(member(preferred, 'preference')),
  }));
}
