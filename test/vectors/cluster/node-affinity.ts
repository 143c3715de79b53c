// On which nodes a pod may run by labels and name (component-helpers/scheduling/corev1/nodeaffinity, v1.36.2).
import { isAbsent, items, member, type Field } from '../../../src/kubernetes/document.js';
import { labelsAt, meets, requirementsAt, type Labels, type Requirement } from './label-selector.js';

export interface NodeSelectorTerm {
  readonly expressions: readonly Requirement[];
  readonly fields: readonly Requirement[];
}

export interface RequiredNodeAffinity {
  /** spec.nodeSelector: all must be equal. */
  readonly labels: Labels;
  /** undefined: none is required. */
  readonly terms: readonly NodeSelectorTerm[] | undefined;
}

export interface NamedNode {
  readonly name: string;
  readonly labels: Labels;
}

export function requiredNodeAffinityAt(spec: Field): RequiredNodeAffinity {
  const required = member(member(member(spec, 'affinity'), 'nodeAffinity'), 'requiredDuringSchedulingIgnoredDuringExecution');
  return {
    labels: labelsAt(member(spec, 'nodeSelector')),
    terms: isAbsent(required) ? undefined : nodeSelectorTermsAt(member(required, 'nodeSelectorTerms')),
  };
}

export function nodeSelectorTermsAt(terms: Field): readonly NodeSelectorTerm[] {
  return items(terms).map(nodeSelectorTermAt);
}

export function nodeSelectorTermAt(term: Field): NodeSelectorTerm {
  return { expressions: requirementsAt(member(term, 'matchExpressions')), fields: requirementsAt(member(term, 'matchFields')) };
}

/** One of the terms must match. */
export function matchesRequiredNodeAffinity({ labels, terms }: RequiredNodeAffinity, node: NamedNode): boolean {
  return (
    [...labels].every(([key, value]) => node.labels.get(key) === value) &&
    (terms === undefined || terms.some((term) => matchesTerm(term, node)))
  );
}

/** A term without requirements, or with an invalid one, matches no node. */
export function matchesTerm({ expressions, fields }: NodeSelectorTerm, { name, labels }: NamedNode): boolean {
  if (expressions.length === 0 && fields.length === 0) return false;
  return (
    expressions.every((requirement) => meets(labels, requirement) === true) &&
    fields.every(({ key, operator, values }) => {
      if (values.length !== 1 || key !== 'metadata.name') return false;
      return operator === 'In' ? values[0] === name : operator === 'NotIn' && values[0] !== name;
    })
  );
}
