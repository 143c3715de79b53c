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
  readonly #withAffinity = new Set<CountedGroup>();
  readonly #withAntiAffinity = new Set<CountedGroup>();

  /** Labels by namespace. */
  constructor(readonly namespaces: ReadonlyMap<string, Labels>) {}

  /** Groups with any affinity or anti-affinity. */
  get withAffinity(): Iterable<PodGroup> {
    return this.#withAffinity;
  }

  /** Groups with required anti-affinity. */
  get withAntiAffinity(): Iterable<PodGroup> {
    return this.#withAntiAffinity;
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

  /** Of one namespace. */
  *selected(namespace: string, selector: LabelSelector | undefined): Iterable<PodGroup> {
    for (const group of this.#byNamespace.get(namespace) ?? []) if (selects(selector, group.labels)) yield group;
  }

  /** The groups that a term is about. */
  *matching(term: PodAffinityTerm): Iterable<PodGroup> {
    const selected = [...this.#byNamespace.keys()].filter((namespace) => this.#isAbout(term, namespace));
    for (const namespace of selected) yield* this.selected(namespace, term.selector);
  }

  matches(term: PodAffinityTerm, { namespace, labels }: Pick<PodGroup, 'namespace' | 'labels'>): boolean {
    return this.#isAbout(term, namespace) && selects(term.selector, labels);
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
    const own = this.#byNamespace.get(namespace);
    if (own === undefined) this.#byNamespace.set(namespace, new Set([group]));
    else own.add(group);
    if (sizeOf(podAffinity) + sizeOf(podAntiAffinity) > 0) this.#withAffinity.add(group);
    if (podAntiAffinity.required.length > 0) this.#withAntiAffinity.add(group);
    return group;
  }

  #forget(group: CountedGroup): void {
    this.#byKey.delete(group.key);
    const own = this.#byNamespace.get(group.namespace);
    own?.delete(group);
    if (own?.size === 0) this.#byNamespace.delete(group.namespace);
    this.#withAffinity.delete(group);
    this.#withAntiAffinity.delete(group);
  }
}

const NO_LABELS: Labels = new Map();

function keyOf({ namespace, labels, terminating, podAffinity, podAntiAffinity }: SchedulerPod): string {
  const affinity = sizeOf(podAffinity) + sizeOf(podAntiAffinity) === 0 ? [] : [podAffinity, podAntiAffinity];
  return JSON.stringify([namespace, terminating, [...labels].sort(([one], [other]) => (one < other ? -1 : 1)), ...affinity]);
}

function sizeOf({ required, preferred }: PodAffinity): number {
  return required.length + preferred.length;
}
