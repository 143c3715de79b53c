// The eviction of pods that do not tolerate a NoExecute taint (pkg/controller/tainteviction, v1.36.2), on one node.
import type { Taint } from '../../../src/core/disruption/taint.js';
import { taintEviction, type WaitingEviction } from '../../../src/core/disruption/taint-eviction.js';
import type { Toleration } from '../../../src/core/disruption/toleration.js';

export type TaintEvent =
  | { readonly type: 'setTaints'; readonly taints: readonly Taint[] }
  | { readonly type: 'deleteNode' }
  | { readonly type: 'addPod' | 'setTolerations'; readonly pod: string; readonly tolerations: readonly Toleration[] }
  | { readonly type: 'deletePod'; readonly pod: string };

export interface TaintAction {
  readonly atMs: bigint;
  readonly pod: string;
  readonly what: 'evict' | 'cancel';
}

const NS_PER_MS = 1_000_000n;

export class TaintEviction {
  readonly #pods = new Map<string, readonly Toleration[]>();
  readonly #waiting = new Map<string, WaitingEviction>();
  readonly #actions: TaintAction[] = [];
  #taints: readonly Taint[] = [];

  get actions(): readonly TaintAction[] {
    return this.#actions;
  }

  handle(nowMs: bigint, event: TaintEvent): void {
    switch (event.type) {
      case 'setTaints':
        this.#setTaints(nowMs, event.taints);
        break;
      case 'deleteNode': // what waits goes on
        this.#taints = [];
        break;
      case 'addPod':
        this.#setPod(nowMs, event.pod, event.tolerations);
        break;
      case 'setTolerations':
        if (this.#pods.has(event.pod)) this.#setPod(nowMs, event.pod, event.tolerations);
        break;
      case 'deletePod':
        this.#pods.delete(event.pod);
        this.#cancel(nowMs, event.pod);
        break;
    }
  }

  /** Carries out what is due by then. */
  advance(untilMs: bigint): void {
    const due = [...this.#waiting].filter(([, { dueNs }]) => dueNs / NS_PER_MS <= untilMs);
    for (const [pod, { dueNs }] of due) {
      this.#waiting.delete(pod);
      this.#evict(dueNs / NS_PER_MS, pod);
    }
  }

  /** Changes of other effects are not noticed. */
  #setTaints(nowMs: bigint, all: readonly Taint[]): void {
    const taints = all.filter(({ effect }) => effect === 'NoExecute');
    if (sameTaints(taints, this.#taints)) return;
    this.#taints = taints;
    for (const pod of [...this.#pods.keys()]) {
      if (taints.length === 0) this.#cancel(nowMs, pod);
      else this.#process(nowMs, pod);
    }
  }

  #setPod(nowMs: bigint, pod: string, tolerations: readonly Toleration[]): void {
    this.#pods.set(pod, tolerations);
    if (this.#taints.length > 0) this.#process(nowMs, pod);
  }

  #process(nowMs: bigint, pod: string): void {
    const waiting = this.#waiting.get(pod);
    const next = taintEviction(this.#taints, this.#pods.get(pod) ?? [], waiting, nowMs * NS_PER_MS);
    if (next === waiting) return;
    this.#cancel(nowMs, pod);
    if (next === 'now') this.#evict(nowMs, pod);
    else if (next !== 'never') this.#waiting.set(pod, next);
  }

  #cancel(nowMs: bigint, pod: string): void {
    if (this.#waiting.delete(pod)) this.#actions.push({ atMs: nowMs, pod, what: 'cancel' });
  }

  #evict(nowMs: bigint, pod: string): void {
    if (this.#pods.delete(pod)) this.#actions.push({ atMs: nowMs, pod, what: 'evict' });
  }
}

function sameTaints(one: readonly Taint[], other: readonly Taint[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
