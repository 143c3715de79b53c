import type { ClusterEffect } from '../../core/cluster/cluster-control.js';
import type { Log } from '../../log/log.js';
import { withRetryAfter } from '../../core/kubernetes/back-off.js';
import { NS_PER_MS } from '../../core/quantity/duration.js';
import { objectOf, Refusal } from './cluster-actions.js';
import { messageOf } from '../../errors.js';

/** Actions at the same time (kube-controller-manager: UpdateWorkerSize). */
const WORKERS = 8;
/** An action is not repeated within this time, until the watch shows its effect. */
const SEEN_WITHIN_NS = 1_000_000_000n;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** The time after an action of an object in which no other of its kind begins. */
interface Pause {
  readonly untilNs: bigint;
  readonly failures: number;
}

/** Carries effects out, one for an object at a time. Those that fail are dropped: they come again. */
export class ActionQueue {
  /** Waiting effects by object, in the order in which they are sent. */
  readonly #waiting = new Map<string, ClusterEffect>();
  readonly #running = new Set<string>();
  readonly #pauses = new Map<string, Pause>();
  #isClosed = false;
  #failed = 0;

  constructor(
    private readonly perform: (effect: ClusterEffect) => Promise<void>,
    private readonly nowNs: () => bigint,
    private readonly log: Pick<Log, 'warn'>,
  ) {}

  /** Actions that wait or run. */
  get length(): number {
    return this.#waiting.size + this.#running.size;
  }

  get failed(): number {
    return this.#failed;
  }

  add(effects: readonly ClusterEffect[]): void {
    for (const effect of effects) this.#add(effect);
    this.#serve();
  }

  /** What a tick wants: what waits and is not wanted any more is dropped. */
  replace(effects: readonly ClusterEffect[]): void {
    for (const [object, { kind }] of this.#waiting) if (kind !== 'cancel' && kind !== 'force delete') this.#waiting.delete(object);
    this.add(effects);
  }

  /** Drops what waits. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
  }

  #add(effect: ClusterEffect): void {
    const object = objectOf(effect);
    if (effect.kind === 'cancel') {
      this.#waiting.delete(object);
      this.#pauses.delete(keyOf(effect));
    } else if (this.#running.has(object) || (this.#pauses.get(keyOf(effect))?.untilNs ?? 0n) > this.nowNs()) return;
    // A pod that is marked still has to be evicted, and one that is evicted need not be marked.
    else if (effect.kind === 'not ready' && this.#waiting.has(object)) return;
    this.#waiting.set(object, effect);
  }

  #serve(): void {
    for (const [object, effect] of this.#waiting) {
      if (this.#running.size >= WORKERS || this.#isClosed) return;
      if (this.#running.has(object)) continue;
      this.#waiting.delete(object);
      this.#running.add(object);
      void this.#run(object, effect);
    }
  }

  async #run(object: string, effect: ClusterEffect): Promise<void> {
    const key = keyOf(effect);
    try {
      await this.perform(effect);
      this.#pauses.set(key, { untilNs: this.nowNs() + SEEN_WITHIN_NS, failures: 0 });
    } catch (error) {
      this.#failure(key, error);
    }
    this.#running.delete(object);
    this.#forget();
    this.#serve();
  }

  #failure(key: string, error: unknown): void {
    if (this.#isClosed) return;
    this.#failed += 1;
    const failures = (this.#pauses.get(key)?.failures ?? 0) + 1;
    const ownMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10), LONGEST_PAUSE_MS);
    const asked = error instanceof Refusal ? error.retryAfterSeconds : undefined;
    const pauseMs = Math.ceil(withRetryAfter(ownMs, asked, LONGEST_PAUSE_MS));
    this.#pauses.set(key, { untilNs: this.nowNs() + BigInt(pauseMs) * NS_PER_MS, failures });
    if (failures > 1) return;
    this.log.warn(`${messageOf(error)}; evictd tries again`, {
      code: 'EVICTD_CONTROLLER_ACTION',
      hint: 'check the role: docs/controller.md',
    });
  }

  /** Pauses of objects of which nothing more has come. */
  #forget(): void {
    if (this.#pauses.size < 10_000) return;
    const nowNs = this.nowNs();
    for (const [key, { untilNs }] of this.#pauses) if (untilNs + BigInt(LONGEST_PAUSE_MS) * NS_PER_MS < nowNs) this.#pauses.delete(key);
  }
}

/** An action of one kind for one object; each mode of a node's taints is an own one. */
function keyOf(effect: ClusterEffect): string {
  const kind = effect.kind === 'cancel' ? 'evict' : effect.kind;
  return `${kind} ${'mode' in effect ? effect.mode : ''} ${objectOf(effect)}`;
}
