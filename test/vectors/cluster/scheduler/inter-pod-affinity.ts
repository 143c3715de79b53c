// Affinity and anti-affinity between pods (plugins/interpodaffinity, v1.36.2).
import { integerOf, isAbsent, items, member, textOf, type Field } from '../../../../src/kubernetes/document.js';
import { labelSelectorAt, selects, type LabelSelector } from '../label-selector.js';
import type { SchedulerProfile } from './profile.js';
import type { ScheduledPod, SchedulerNode, Snapshot } from './snapshot.js';

interface AffinityTerm {
  readonly selector: LabelSelector | undefined;
  readonly namespaces: readonly string[];
  readonly namespaceSelector: LabelSelector | undefined;
  readonly topologyKey: string;
  /** Of preferred terms. */
  readonly weight: number;
}

type AffinityKind = 'podAffinity' | 'podAntiAffinity';

/** Without namespaces a term is about the pod's own. */
function termAt(term: Field, pod: ScheduledPod, weight: number): AffinityTerm {
  const names = items(member(term, 'namespaces')).map(textOf);
  const namespaceSelector = member(term, 'namespaceSelector');
  return {
    selector: labelSelectorAt(member(term, 'labelSelector')),
    namespaces: names.length === 0 && isAbsent(namespaceSelector) ? [pod.namespace] : names,
    namespaceSelector: labelSelectorAt(namespaceSelector),
    topologyKey: textOf(member(term, 'topologyKey')),
    weight,
  };
}

function requiredTerms(pod: ScheduledPod, kind: AffinityKind): readonly AffinityTerm[] {
  const affinity = member(member(pod.spec, 'affinity'), kind);
  return items(member(affinity, 'requiredDuringSchedulingIgnoredDuringExecution')).map((term) => termAt(term, pod, 0));
}

function preferredTerms(pod: ScheduledPod, kind: AffinityKind): readonly AffinityTerm[] {
  const affinity = member(member(pod.spec, 'affinity'), kind);
  return items(member(affinity, 'preferredDuringSchedulingIgnoredDuringExecution')).map((preferred) =>
    termAt(member(preferred, 'podAffinityTerm'), pod, Number(integerOf(member(preferred, 'weight'), 'int32') ?? 0n)),
  );
}

/** Counts by topology key and value. */
class TopologyCounts {
  readonly #counts = new Map<string, Map<string, number>>();

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  /** Nothing without that label. */
  add(node: SchedulerNode, topologyKey: string, amount: number): void {
    const value = node.labels.get(topologyKey);
    if (value === undefined) return;
    const byValue = this.#counts.get(topologyKey) ?? new Map<string, number>();
    byValue.set(value, (byValue.get(value) ?? 0) + amount);
    this.#counts.set(topologyKey, byValue);
  }

  of(node: SchedulerNode, topologyKey: string): number {
    const value = node.labels.get(topologyKey);
    return value === undefined ? 0 : (this.#counts.get(topologyKey)?.get(value) ?? 0);
  }

  keys(): readonly string[] {
    return [...this.#counts.keys()];
  }
}

export type AffinityProblem = 'affinity' | 'anti-affinity' | 'existing-anti-affinity';

/** undefined: the pod and the pods on nodes have nothing to do with each other. */
export function affinityFilter(pod: ScheduledPod, { nodes, namespaces }: Snapshot): (node: SchedulerNode) => AffinityProblem | undefined {
  const matches = matcher(namespaces);
  const [wanted, unwanted] = [requiredTerms(pod, 'podAffinity'), requiredTerms(pod, 'podAntiAffinity')];
  const [near, far, repelled] = [new TopologyCounts(), new TopologyCounts(), new TopologyCounts()];
  for (const node of nodes) {
    for (const other of node.pods) {
      if (wanted.length > 0 && wanted.every((term) => matches(term, other))) for (const term of wanted) near.add(node, term.topologyKey, 1);
      for (const term of unwanted) if (matches(term, other)) far.add(node, term.topologyKey, 1);
      for (const term of requiredTerms(other, 'podAntiAffinity')) if (matches(term, pod)) repelled.add(node, term.topologyKey, 1);
    }
  }
  // The first pod of a group that wants to be together may go anywhere.
  const isFirst = near.isEmpty && wanted.every((term) => matches(term, pod));
  return (node) => {
    if (!wanted.every(({ topologyKey }) => node.labels.has(topologyKey))) return 'affinity';
    if (!isFirst && !wanted.every(({ topologyKey }) => near.of(node, topologyKey) > 0)) return 'affinity';
    if (unwanted.some(({ topologyKey }) => far.of(node, topologyKey) > 0)) return 'anti-affinity';
    return repelled.keys().some((topologyKey) => repelled.of(node, topologyKey) > 0) ? 'existing-anti-affinity' : undefined;
  };
}

function matcher(namespaces: Snapshot['namespaces']): (term: AffinityTerm, pod: ScheduledPod) => boolean {
  return (term, pod) =>
    (term.namespaces.includes(pod.namespace) ||
      selects(term.namespaceSelector, namespaces.get(pod.namespace) ?? new Map<string, string>())) &&
    selects(term.selector, pod.labels);
}

/** Scores 0 to 100. undefined: no term matches. */
export function affinityScores(
  pod: ScheduledPod,
  { nodes, namespaces }: Snapshot,
  feasible: readonly SchedulerNode[],
  { hardPodAffinityWeight, ignorePreferredTermsOfExistingPods }: SchedulerProfile,
): readonly number[] | undefined {
  const matches = matcher(namespaces);
  const [wanted, unwanted] = [preferredTerms(pod, 'podAffinity'), preferredTerms(pod, 'podAntiAffinity')];
  if (ignorePreferredTermsOfExistingPods && wanted.length + unwanted.length === 0) return undefined;
  const counts = new TopologyCounts();
  for (const node of nodes) {
    const add = (terms: readonly AffinityTerm[], target: ScheduledPod, sign: number): void => {
      for (const term of terms) if (matches(term, target)) counts.add(node, term.topologyKey, sign * term.weight);
    };
    for (const other of node.pods) {
      add(wanted, other, 1);
      add(unwanted, other, -1);
      if (hardPodAffinityWeight > 0)
        add(
          requiredTerms(other, 'podAffinity').map((term) => ({ ...term, weight: hardPodAffinityWeight })),
          pod,
          1,
        );
      add(preferredTerms(other, 'podAffinity'), pod, 1);
      add(preferredTerms(other, 'podAntiAffinity'), pod, -1);
    }
  }
  if (counts.isEmpty) return undefined;
  const raw = feasible.map((node) => counts.keys().reduce((sum, topologyKey) => sum + counts.of(node, topologyKey), 0));
  const [least, most] = [Math.min(...raw), Math.max(...raw)];
  return raw.map((score) => (most === least ? 0 : Math.trunc(100 * ((score - least) / (most - least)))));
}
