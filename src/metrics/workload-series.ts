import type { EvictionSignal } from '../core/message/eviction-signal.js';
import type { Candidate } from '../core/rank/first-candidates.js';

/** The number of workloads that have metrics of their evictions, … */
const EVICTED_WORKLOADS = 10;
/** … for so long after the last one. */
const EVICTED_LIFE_SECONDS = 3_600;
/** A ranking is out of date then. While a hard threshold of memory is near, it is renewed every 5 s. */
const RANKING_LIFE_NS = 60_000_000_000n;

export interface WorkloadEvictions {
  readonly signal: EvictionSignal;
  readonly workload: string;
  readonly count: number;
  /** Seconds since 1970. */
  readonly lastSeconds: number;
}

/** What metrics say of single workloads. It is bounded, and forgets workloads that are gone. */
export class WorkloadSeries {
  readonly #rankings = new Map<EvictionSignal, { readonly atNs: bigint; readonly candidates: readonly Candidate[] }>();
  /** The last one last. */
  #evictions: readonly WorkloadEvictions[] = [];

  ranked(signal: EvictionSignal, candidates: readonly Candidate[], nowNs: bigint): void {
    this.#rankings.set(signal, { atNs: nowNs, candidates });
  }

  evicted(signal: EvictionSignal, workload: string): void {
    const before = this.#evictions.find((other) => other.workload === workload && other.signal === signal);
    const now = { signal, workload, count: (before?.count ?? 0) + 1, lastSeconds: Date.now() / 1_000 };
    this.#evictions = [...this.#evictions.filter((other) => other !== before), now].slice(-EVICTED_WORKLOADS);
    for (const [of, ranking] of this.#rankings) {
      this.#rankings.set(of, { ...ranking, candidates: ranking.candidates.filter((candidate) => candidate.workload !== workload) });
    }
  }

  /** The candidates of each signal in the order of eviction. */
  candidates(nowNs: bigint): ReadonlyMap<EvictionSignal, readonly Candidate[]> {
    const recent = [...this.#rankings].filter(([, { atNs }]) => nowNs - atNs < RANKING_LIFE_NS);
    return new Map(recent.map(([signal, { candidates }]) => [signal, candidates]));
  }

  evictions(): readonly WorkloadEvictions[] {
    const since = Date.now() / 1_000 - EVICTED_LIFE_SECONDS;
    this.#evictions = this.#evictions.filter(({ lastSeconds }) => lastSeconds > since);
    return this.#evictions;
  }
}
