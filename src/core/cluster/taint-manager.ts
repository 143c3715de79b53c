import type { Taint } from '../disruption/taint.js';
import { taintEviction, type WaitingEviction } from '../disruption/taint-eviction.js';
import type { ClusterPod } from './cluster-pod.js';

/** `cancel`: an eviction that waited is dropped. */
export interface TaintEffect<P> {
  readonly kind: 'evict' | 'cancel';
  readonly pod: P;
}

type ManagedPod = Pick<ClusterPod, 'uid' | 'nodeName' | 'tolerations'>;

/**
 * The evictions of pods that do not tolerate a NoExecute taint of their node (pkg/controller/tainteviction, v1.36.2).
 *
 * The time that a pod tolerates a taint begins when the manager first sees both: timeAdded does not count. An eviction that is due
 * stays due until the pod is gone or the eviction is cancelled.
 */
export class TaintManager<P extends ManagedPod> {
  readonly #pods = new Map<string, P>();
  readonly #uidsByNode = new Map<string, Set<string>>();
  /** NoExecute, by node. Nodes without one are left out. */
  readonly #taints = new Map<string, readonly Taint[]>();
  readonly #waiting = new Map<string, WaitingEviction>();

  /** Changes of other effects are not noticed. */
  setNode(name: string, all: readonly Taint[], nowNs: bigint): readonly TaintEffect<P>[] {
    const taints = all.filter(({ effect }) => effect === 'NoExecute');
    if (JSON.stringify(taints) === JSON.stringify(this.#taints.get(name) ?? [])) return [];
    if (taints.length === 0) this.#taints.delete(name);
    else this.#taints.set(name, taints);
    const pods = [...(this.#uidsByNode.get(name) ?? [])].flatMap((uid) => this.#pods.get(uid) ?? []);
    return pods.flatMap((pod) => (taints.length === 0 ? this.#cancel(pod) : this.#process(pod, taints, nowNs)));
  }

  /** Forgets the node. Evictions that wait continue. */
  deleteNode(name: string): void {
    this.#taints.delete(name);
  }

  setPod(pod: P, nowNs: bigint): readonly TaintEffect<P>[] {
    if (pod.nodeName === '') return [];
    this.#pods.set(pod.uid, pod);
    const uids = this.#uidsByNode.get(pod.nodeName) ?? new Set();
    this.#uidsByNode.set(pod.nodeName, uids.add(pod.uid));
    const taints = this.#taints.get(pod.nodeName);
    return taints === undefined ? [] : this.#process(pod, taints, nowNs);
  }

  /** An eviction that was due is carried out, and not cancelled. */
  deletePod(uid: string, nowNs: bigint): readonly TaintEffect<P>[] {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return [];
    this.#pods.delete(uid);
    const { dueNs } = this.#waiting.get(uid) ?? {};
    if (dueNs !== undefined && dueNs <= nowNs) this.#waiting.delete(uid);
    const uids = this.#uidsByNode.get(pod.nodeName);
    uids?.delete(uid);
    if (uids?.size === 0) this.#uidsByNode.delete(pod.nodeName);
    return this.#cancel(pod);
  }

  /** All evictions that are due, those of earlier calls included. */
  due(nowNs: bigint): readonly TaintEffect<P>[] {
    return [...this.#waiting].flatMap(([uid, { dueNs }]) => (dueNs <= nowNs ? this.#evict(uid) : []));
  }

  /** The first eviction that waits; undefined: none. */
  nextDueNs(nowNs: bigint): bigint | undefined {
    let next: bigint | undefined;
    for (const { dueNs } of this.#waiting.values()) if (dueNs > nowNs && (next === undefined || dueNs < next)) next = dueNs;
    return next;
  }

  #process(pod: P, taints: readonly Taint[], nowNs: bigint): readonly TaintEffect<P>[] {
    const waiting = this.#waiting.get(pod.uid);
    const next = taintEviction(taints, pod.tolerations, waiting, nowNs);
    if (next === waiting || (next === 'now' && waiting !== undefined && waiting.dueNs <= nowNs)) return [];
    const cancelled = this.#cancel(pod);
    if (next === 'never') return cancelled;
    this.#waiting.set(pod.uid, next === 'now' ? { createdNs: nowNs, dueNs: nowNs } : next);
    return next === 'now' ? [...cancelled, ...this.#evict(pod.uid)] : cancelled;
  }

  #cancel(pod: P): readonly TaintEffect<P>[] {
    return this.#waiting.delete(pod.uid) ? [{ kind: 'cancel', pod }] : [];
  }

  #evict(uid: string): readonly TaintEffect<P>[] {
    const pod = this.#pods.get(uid);
    return pod === undefined ? [] : [{ kind: 'evict', pod }];
  }
}
