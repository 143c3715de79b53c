import type { VictimReading } from '../../core/eviction.js';
import type { Observation, Observations } from '../../core/observation.js';
import { isPressure, SIGNAL_FACTS, type Signal } from '../../core/signal.js';
import type { Candidates, Workload, WorkloadUsage } from '../../core/workload.js';
import type { RecordedStep } from '../../monitor/recording/format.js';

/** An eviction of the recorded run. */
interface RecordedEviction {
  readonly usage: WorkloadUsage;
  /** Of its memory, what it has given back so far. */
  freedBytes: bigint;
}

/**
 * What the node would have looked like if other workloads had been evicted. The assumptions, which the command prints (assumptions.ts):
 * who is evicted only here is gone at the next step, and what it went on using in reality is available here; who was evicted only in reality stays
 * with the memory that it had, which is not available here.
 */
export class OtherWorld {
  /** Evicted here before reality did or without it, by workload id: what it uses in reality, as last read. */
  readonly #gone = new Map<string, bigint>();
  /** Evicted in reality, by workload id. */
  readonly #recorded = new Map<string, RecordedEviction>();
  /** Evicted here. */
  readonly #evicted = new Set<string>();
  #latest = new Map<string, WorkloadUsage>();

  /** What the workloads use in reality, as last read. */
  read({ usages }: Pick<Candidates, 'usages'>): void {
    this.#latest = new Map(usages.map((usage) => [usage.workload.id, usage]));
    for (const id of this.#gone.keys()) this.#gone.set(id, this.#latestBytes(id));
  }

  evictedInReality(usage: WorkloadUsage): void {
    this.#recorded.set(usage.workload.id, { usage, freedBytes: 0n });
  }

  /** @param isVictim  in reality, too, at this moment: then what becomes of it here is what became of it there */
  evictedHere({ id }: Workload, isVictim: boolean): void {
    this.#evicted.add(id);
    if (!isVictim) this.goes(id);
  }

  /** It is dead here from now on, whatever it does in reality. */
  goes(id: string): void {
    if (!this.#gone.has(id)) this.#gone.set(id, this.#latestBytes(id));
  }

  isGone(id: string): boolean {
    return this.#gone.has(id);
  }

  /** What became of a victim of reality, as a step was told. */
  victim(id: string, { usageBytes, removed, processes }: VictimReading): void {
    const eviction = this.#recorded.get(id);
    if (eviction === undefined) return;
    const { stats } = eviction.usage;
    const workingSet = stats?.workingSetBytes ?? 0n;
    const left = removed ? 0n : usageBytes;
    const freed = left === undefined ? (processes === 0 ? workingSet : eviction.freedBytes) : (stats?.usageBytes ?? workingSet) - left;
    eviction.freedBytes = freed < 0n ? 0n : freed > workingSet ? workingSet : freed;
    if (this.#gone.has(id)) this.#gone.set(id, workingSet - eviction.freedBytes);
  }

  observations({ observations }: Pick<RecordedStep, 'observations'>): Observations | undefined {
    const difference = this.#differenceBytes();
    if (observations === undefined || difference === 0n) return observations;
    const observed = new Map([...observations.observed].map(([signal, observation]) => [signal, shifted(signal, observation, difference)]));
    return { ...observations, observed };
  }

  /** Without those that are gone here, and with those that are gone only in reality. */
  usages(usages: readonly WorkloadUsage[]): readonly WorkloadUsage[] {
    const kept = this.#kept();
    const present = usages.filter(({ workload: { id } }) => !this.#gone.has(id) && !kept.has(id));
    return [...present, ...[...kept.values()].map(({ usage }) => usage)];
  }

  #kept(): Map<string, RecordedEviction> {
    return new Map([...this.#recorded].filter(([id]) => !this.#evicted.has(id)));
  }

  #differenceBytes(): bigint {
    const more = [...this.#gone.values()].reduce((sum, bytes) => sum + bytes, 0n);
    const less = [...this.#kept().values()].reduce((sum, { freedBytes }) => sum + freedBytes, 0n);
    return more - less;
  }

  #latestBytes(id: string): bigint {
    return this.#latest.get(id)?.stats?.workingSetBytes ?? 0n;
  }
}

function shifted(signal: Signal, observation: Observation, bytes: bigint): Observation {
  if (SIGNAL_FACTS[signal].resource !== 'memory' || isPressure(signal)) return observation;
  const available = observation.available + bytes;
  return { ...observation, available: available < 0n ? 0n : available > observation.capacity ? observation.capacity : available };
}
