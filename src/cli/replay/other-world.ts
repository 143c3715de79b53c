import type { VictimReading } from '../../core/eviction.js';
import type { Observation, Observations } from '../../core/observation.js';
import { isPressure, SIGNAL_FACTS, type Signal } from '../../core/signal.js';
import type { Candidates, Workload, WorkloadUsage } from '../../core/workload.js';
import type { RecordedStep } from '../../monitor/recording/format.js';

interface RecordedEviction {
  readonly usage: WorkloadUsage;
  /** Memory freed so far. */
  freedBytes: bigint;
}

/** The node as it would be after the replayed evictions, with the assumptions that assumptions.ts prints. */
export class ReplayedNode {
  /** Workloads that the replay has ended, by id, with their last recorded usage. */
  readonly #ended = new Map<string, bigint>();
  /** Evictions of the recorded run, by workload id. */
  readonly #recorded = new Map<string, RecordedEviction>();
  /** Workloads that the replay evicted. */
  readonly #evicted = new Set<string>();
  #latest = new Map<string, WorkloadUsage>();

  read({ usages }: Pick<Candidates, 'usages'>): void {
    this.#latest = new Map(usages.map((usage) => [usage.workload.id, usage]));
    for (const id of this.#ended.keys()) this.#ended.set(id, this.#latestBytes(id));
  }

  evictedInRecording(usage: WorkloadUsage): void {
    this.#recorded.set(usage.workload.id, { usage, freedBytes: 0n });
  }

  /** @param isVictim  also a recorded victim now: then its recorded end counts */
  evictedInReplay({ id }: Workload, isVictim: boolean): void {
    this.#evicted.add(id);
    if (!isVictim) this.end(id);
  }

  /** The workload has ended in the replay. */
  end(id: string): void {
    if (!this.#ended.has(id)) this.#ended.set(id, this.#latestBytes(id));
  }

  hasEnded(id: string): boolean {
    return this.#ended.has(id);
  }

  /** The recorded reading of a recorded victim. */
  victim(id: string, { usageBytes, removed, processes }: VictimReading): void {
    const eviction = this.#recorded.get(id);
    if (eviction === undefined) return;
    const { stats } = eviction.usage;
    const workingSet = stats?.workingSetBytes ?? 0n;
    const left = removed ? 0n : usageBytes;
    const freed = left === undefined ? (processes === 0 ? workingSet : eviction.freedBytes) : (stats?.usageBytes ?? workingSet) - left;
    eviction.freedBytes = freed < 0n ? 0n : freed > workingSet ? workingSet : freed;
    if (this.#ended.has(id)) this.#ended.set(id, workingSet - eviction.freedBytes);
  }

  observations({ observations }: Pick<RecordedStep, 'observations'>): Observations | undefined {
    const difference = this.#differenceBytes();
    if (observations === undefined || difference === 0n) return observations;
    const observed = new Map([...observations.observed].map(([signal, observation]) => [signal, shifted(signal, observation, difference)]));
    return { ...observations, observed };
  }

  /** Without workloads that ended in the replay, with those that ended only in the recording. */
  usages(usages: readonly WorkloadUsage[]): readonly WorkloadUsage[] {
    const kept = this.#kept();
    const present = usages.filter(({ workload: { id } }) => !this.#ended.has(id) && !kept.has(id));
    return [...present, ...[...kept.values()].map(({ usage }) => usage)];
  }

  #kept(): Map<string, RecordedEviction> {
    return new Map([...this.#recorded].filter(([id]) => !this.#evicted.has(id)));
  }

  #differenceBytes(): bigint {
    const more = [...this.#ended.values()].reduce((sum, bytes) => sum + bytes, 0n);
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
