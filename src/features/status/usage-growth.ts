import type { RankedWorkload } from '../../core/rank/rank.js';
import type { Signal } from '../../core/signal/signal.js';

interface Usages {
  readonly atNs: bigint;
  readonly byId: ReadonlyMap<string, bigint>;
}

/** A base is replaced by a younger one after this time, … */
const RENEWED_NS = 10_000_000_000n;
/** … and says nothing about the present after this one. */
const OLD_NS = 60_000_000_000n;

/** How fast workloads grow, from one answer to another. Keeps the usages of two answers. */
export class UsageGrowth {
  #signal: Signal | undefined;
  #base: Usages | undefined;
  #next: Usages | undefined;

  /** The growth per second since an earlier call for the same signal, by workload id. */
  since(signal: Signal, ranking: readonly RankedWorkload[], nowNs: bigint): ReadonlyMap<string, number> {
    const usages: Usages = {
      atNs: nowNs,
      byId: new Map(ranking.flatMap(({ workload: { id }, usage }) => (usage === undefined ? [] : [[id, usage] as const]))),
    };
    if (signal !== this.#signal || (this.#base !== undefined && nowNs - this.#base.atNs > OLD_NS)) this.#base = this.#next = undefined;
    this.#signal = signal;
    const base = this.#base;
    if (base === undefined) this.#base = usages;
    else if (this.#next === undefined) this.#next = usages;
    else if (nowNs - this.#next.atNs >= RENEWED_NS) [this.#base, this.#next] = [this.#next, usages];
    if (base === undefined || base.atNs === nowNs) return new Map();
    const seconds = Number(nowNs - base.atNs) / 1e9;
    return new Map(
      [...usages.byId].flatMap(([id, usage]) => {
        const before = base.byId.get(id);
        return before === undefined ? [] : [[id, Math.round(Number(usage - before) / seconds)] as const];
      }),
    );
  }
}
