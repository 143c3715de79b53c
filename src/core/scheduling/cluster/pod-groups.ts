import { selects, type LabelSelector, type Labels } from '../label-selector.js';
import type { NodeState } from './node-state.js';
import type { PodAffinity, PodAffinityTerm, SchedulerPod } from '../scheduler-pod.js';

/** Pods that no selector and no affinity tells apart, such as the replicas of a ReplicaSet, and how many of them are on each node. */
export interface PodGroup {
  readonly namespace: string;
  readonly labels: Labels;
  readonly terminating: boolean;
  readonly podAffinity: PodAffinity;
  readonly podAntiAffinity: PodAffinity;
  readonly counts: ReadonlyMap<NodeState, number>;
}

interface CountedGroup extends PodGroup {
  readonly key: string;
  readonly counts: Map<NodeState, number>;
}

/** The pods of a cluster by namespace, labels and affinity. A placement looks at groups instead of pods. */
export class PodGroups {
  readonly #byKey = new Map<string, CountedGroup>();
  readonly #byNamespace = new Map<string, Set<CountedGroup>>();
  readonly #ofPod = new Map<SchedulerPod, CountedGroup>();
  /** Groups with affinity, by each namespace that a term of theirs names. */
  readonly #aboutNamespace = new Map<string, Set<CountedGroup>>();

  /** Labels by namespace. */
  constructor(readonly namespaces: ReadonlyMap<string, Labels>) {}

  /** All groups with affinity or anti-affinity that may be about pods of this namespace. */
  about(namespace: string): Iterable<PodGroup> {
    const [own, any] = [this.#aboutNamespace.get(namespace) ?? [], this.#aboutNamespace.get(ANY_NAMESPACE) ?? []];
    return new Set([...own, ...any]);
  }

  add(pod: SchedulerPod, node: NodeState): void {
    const group = this.#groupOf(pod);
    this.#ofPod.set(pod, group);
    group.counts.set(node, (group.counts.get(node) ?? 0) + 1);
  }

  remove(pod: SchedulerPod, node: NodeState): void {
    const group = this.#ofPod.get(pod);
    if (group === undefined) return;
    this.#ofPod.delete(pod);
    const left = (group.counts.get(node) ?? 0) - 1;
    if (left > 0) group.counts.set(node, left);
    else group.counts.delete(node);
    if (group.counts.size === 0) this.#forget(group);
  }

  /** The selected groups of one namespace. */
  *selected(namespace: string, selector: LabelSelector | undefined): Iterable<PodGroup> {
    for (const group of this.#byNamespace.get(namespace) ?? []) if (selects(selector, group.labels)) yield group;
  }

  /** The groups that a spread constraint counts: an empty selector, which selects all pods, counts none (podtopologyspread/common.go). */
  *spread(namespace: string, selector: LabelSelector | undefined): Iterable<PodGroup> {
    if (selector?.requirements.length !== 0) yield* this.selected(namespace, selector);
  }

  /** The groups that a term of a new pod is about. */
  *matching(term: PodAffinityTerm): Iterable<PodGroup> {
    const known = term.namespaceSelector === undefined ? new Set(term.namespaces) : this.#byNamespace.keys();
    for (const namespace of [...known].filter((each) => this.#isFound(term, each))) yield* this.selected(namespace, term.selector);
  }

  /** Whether a term of a new pod is about the other one. */
  finds(term: PodAffinityTerm, { namespace, labels }: Pick<PodGroup, 'namespace' | 'labels'>): boolean {
    return this.#isFound(term, namespace) && selects(term.selector, labels);
  }

  /** Whether a term of a pod on a node is about the new one. */
  matches(term: PodAffinityTerm, { namespace, labels }: Pick<PodGroup, 'namespace' | 'labels'>): boolean {
    return this.#isAbout(term, namespace) && selects(term.selector, labels);
  }

  /** The scheduler looks up the namespaces that exist: an unknown one is found by its name, or by an empty selector. */
  #isFound(term: PodAffinityTerm, namespace: string): boolean {
    const { namespaces, namespaceSelector } = term;
    const isKnown = this.namespaces.has(namespace) || namespaces.includes(namespace) || namespaceSelector?.requirements.length === 0;
    return isKnown && this.#isAbout(term, namespace);
  }

  #isAbout({ namespaces, namespaceSelector }: PodAffinityTerm, namespace: string): boolean {
    return namespaces.includes(namespace) || selects(namespaceSelector, this.namespaces.get(namespace) ?? NO_LABELS);
  }

  #groupOf(pod: SchedulerPod): CountedGroup {
    const { namespace, labels, terminating, podAffinity, podAntiAffinity } = pod;
    const key = keyOf(pod);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const group = { key, namespace, labels, terminating, podAffinity, podAntiAffinity, counts: new Map<NodeState, number>() };
    this.#byKey.set(key, group);
    addTo(this.#byNamespace, namespace, group);
    for (const about of namespacesOf(group)) addTo(this.#aboutNamespace, about, group);
    return group;
  }

  #forget(group: CountedGroup): void {
    this.#byKey.delete(group.key);
    deleteFrom(this.#byNamespace, group.namespace, group);
    for (const about of namespacesOf(group)) deleteFrom(this.#aboutNamespace, about, group);
  }
}

const NO_LABELS: Labels = new Map();

/** The key for terms that select namespaces. */
const ANY_NAMESPACE = '';

function namespacesOf({ podAffinity, podAntiAffinity }: PodGroup): ReadonlySet<string> {
  const terms = [podAffinity, podAntiAffinity].flatMap(({ required, preferred }) => [...required, ...preferred]);
  return new Set(terms.flatMap(({ namespaces, namespaceSelector }) => (namespaceSelector === undefined ? namespaces : [ANY_NAMESPACE])));
}

function addTo(sets: Map<string, Set<CountedGroup>>, key: string, group: CountedGroup): void {
  const known = sets.get(key);
  if (known === undefined) sets.set(key, new Set([group]));
  else known.add(group);
}

function deleteFrom(sets: Map<string, Set<CountedGroup>>, key: string, group: CountedGroup): void {
  const known = sets.get(key);
  known?.delete(group);
  if (known?.size === 0) sets.delete(key);
}

function keyOf({ namespace, labels, terminating, podAffinity, podAntiAffinity }: SchedulerPod): string {
  const affinity = sizeOf(podAffinity) + sizeOf(podAntiAffinity) === 0 ? [] : [podAffinity, podAntiAffinity];
  return JSON.stringify([namespace, terminating, [...labels].sort(([one], [other]) => (one < other ? -1 : 1)), ...affinity]);
}

function sizeOf({ required, preferred }: PodAffinity): number {
  return required.length + preferred.length;
}
