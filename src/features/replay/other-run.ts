import type { Effect } from '../../core/decide/effect.js';
import type { Decision, VictimReading } from '../../core/decide/eviction.js';
import { initialState, type Policy, type State } from '../../core/decide/state.js';
import { step } from '../../core/decide/step.js';
import type { Candidates, Protection, WorkloadUsage } from '../../core/workload/workload.js';
import { victimId } from '../../core/workload/process.js';
import { ReadingGaps } from './reading-gaps.js';
import type { RecordedCandidates, RecordedStep } from '../../recording/recording-format.js';
import type { Observation, Observations } from '../../core/signal/observation.js';
import { isPressure, SIGNAL_FACTS, type Signal } from '../../core/signal/signal.js';

/** How long a recorded veto holds: an empty workload may get processes again. */
const VETO_NS = 60_000_000_000n;

/** Applies the rules of the other configuration to recorded workloads. */
export type ApplyRules = (usages: readonly WorkloadUsage[]) => readonly WorkloadUsage[];

/** Runs another policy over the recorded inputs. */
export class OtherRun {
  readonly #node = new ReplayedNode();
  readonly gaps = new ReadingGaps();
  readonly #vetoes = new Map<string, { readonly atNs: bigint; readonly protection: Protection | undefined }>();
  /** Victims of the recorded run, by serial. */
  readonly #recordedVictims = new Map<number, string>();
  #state: State = initialState;
  #notBeforeNs: bigint | undefined;
  #known: Omit<Candidates, 'veto'> | undefined;
  /** Age of the oldest workload values of a decision; undefined: no decision. */
  oldestReadingNs: bigint | undefined;
  /** Steps with a decision before workloads were first read. */
  unreadSteps = 0;

  constructor(
    private policy: Policy,
    private applyRules: ApplyRules,
  ) {}

  /** Sets the configuration from the next step on. */
  reconfigure(policy: Policy, applyRules: ApplyRules): void {
    this.policy = policy;
    this.applyRules = applyRules;
  }

  /** Continues from a recorded state, with its evictions in flight. */
  resume(state: State): void {
    this.#state = state;
    for (const { decision } of state.evictions) this.#recordedVictims.set(decision.serial, victimId(decision.victim));
  }

  /**
   * @param recorded  the decisions of the recorded run in this step
   * @param after  the workloads that were read right after this step
   */
  step(entry: RecordedStep, recorded: readonly Decision[], after: RecordedCandidates | undefined): readonly Effect[] {
    this.#learn(entry, after);
    for (const [serial, reading] of entry.input.victims) {
      const id = this.#recordedVictims.get(serial);
      if (id !== undefined) this.#node.victim(id, reading);
    }
    const chosen = recorded.filter(({ dryRun }) => !dryRun);
    const effects = this.#isWaiting(entry) ? [] : this.#step(entry, this.#victimsRecorded(entry, chosen));
    for (const { serial, victim } of chosen) {
      this.#recordedVictims.set(serial, victimId(victim));
      if (victim.process === undefined) this.#node.evictedInRecording(victim);
    }
    return effects;
  }

  /** The loop makes no step before. */
  #isWaiting({ input: { nowNs } }: RecordedStep): boolean {
    return this.#notBeforeNs !== undefined && nowNs < this.#notBeforeNs;
  }

  /** Ids of the recorded victims of this step, new or in flight. */
  #victimsRecorded({ input }: RecordedStep, chosen: readonly Decision[]): ReadonlySet<string | undefined> {
    const dying = [...input.victims.keys()].map((serial) => this.#recordedVictims.get(serial));
    return new Set([...dying, ...chosen.map(({ victim }) => victimId(victim))]);
  }

  #step(entry: RecordedStep, recordedVictims: ReadonlySet<string | undefined>): readonly Effect[] {
    const { ordered: _decidedByRecording, ...input } = entry.input;
    const { state, effects, notBeforeNs } = step(this.policy, this.#state, {
      ...input,
      reclaimed: undefined,
      observe: () => this.#node.observations(entry),
      victims: this.#victims(entry),
      candidates: () => this.#candidates(entry),
      outside: () => entry.outside.at(-1),
      recheck: () => this.#node.observations({ observations: entry.rechecks.at(-1) }),
      policyReadings: () => entry.policyReadings,
      policyWorkloads: () => entry.policyWorkloads ?? [],
      policyProcesses: () => entry.policyProcesses ?? [],
    });
    this.#state = state;
    this.#notBeforeNs = notBeforeNs;
    this.gaps.stepped(entry, this.policy, state);
    for (const effect of effects) {
      if (effect.kind !== 'evict' || effect.decision.dryRun) continue;
      const id = victimId(effect.decision.victim);
      this.#node.evictedInReplay(id, recordedVictims.has(id));
    }
    return effects;
  }

  #learn({ candidates, input: { nowNs } }: RecordedStep, after: RecordedCandidates | undefined): void {
    const found = candidates.at(-1) ?? after;
    for (const { vetoes } of candidates) for (const [id, protection] of vetoes) this.#vetoes.set(id, { atNs: nowNs, protection });
    if (found === undefined) return;
    this.#known = found.candidates;
    this.#node.read(found.candidates);
  }

  #candidates({ input: { nowNs } }: RecordedStep): Candidates {
    const known = this.#known;
    if (known === undefined) {
      this.unreadSteps += 1;
      return { usages: [], unreadable: [], timeNs: nowNs };
    }
    const ageNs = nowNs - known.timeNs;
    if (this.oldestReadingNs === undefined || ageNs > this.oldestReadingNs) this.oldestReadingNs = ageNs;
    return {
      ...known,
      usages: this.applyRules(this.#node.usages(known.usages)),
      veto: ({ id }) => {
        const answer = this.#vetoes.get(id);
        return answer && nowNs - answer.atNs <= VETO_NS ? answer.protection : undefined;
      },
    };
  }

  /** The recorded reading if the recorded run evicts the same workload; else the workload has ended. */
  #victims({ input }: RecordedStep): Map<number, VictimReading> {
    const byId = new Map([...input.victims].map(([serial, reading]) => [this.#recordedVictims.get(serial), reading]));
    return new Map(
      this.#state.evictions.map(({ decision: { serial, victim, decidedAtNs } }) => {
        const id = victimId(victim);
        const recorded = this.#node.hasEnded(id) ? undefined : byId.get(id);
        if (recorded === undefined) this.#node.end(id);
        return [serial, recorded ?? exitedAfter(decidedAtNs)];
      }),
    );
  }
}

function exitedAfter(signalledAtNs: bigint): VictimReading {
  return { processes: 0, usageBytes: 0n, removed: true, vanished: false, error: undefined, signalledAtNs };
}

interface RecordedEviction {
  readonly usage: WorkloadUsage;
  /** Memory freed so far. */
  freedBytes: bigint;
}

/** The node as it would be after the replayed evictions, with the assumptions that replay-report.ts prints. */
class ReplayedNode {
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

  /**
   * What one process frees is not known: its end changes nothing here.
   *
   * @param id  of the victim
   * @param isVictim  also a recorded victim now: then its recorded end counts
   */
  evictedInReplay(id: string, isVictim: boolean): void {
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

  /** The usages without workloads that ended in the replay, and with those that ended only in the recording. */
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
