// On which nodes a pod may run by labels and name (component-helpers/scheduling/corev1/nodeaffinity, v1.36.2).
import { meets, type Labels, type Requirement } from './label-selector.js';

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

/** v1.PreferredSchedulingTerm. */
export interface PreferredNodeTerm {
  readonly weight: number;
  /** A term without requirements matches no node. */
  readonly term: NodeSelectorTerm;
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
