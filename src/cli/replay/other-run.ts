import type { Effect } from '../../core/effect.js';
import type { Decision, VictimReading } from '../../core/eviction.js';
import { initialState, type Policy, type State } from '../../core/state.js';
import { step } from '../../core/step.js';
import type { Candidates, Protection, WorkloadUsage } from '../../core/workload.js';
import type { RecordedCandidates, RecordedStep } from '../../monitor/recording/format.js';
import { OtherWorld } from './other-world.js';

/** A veto holds for so long: a workload may have been empty then, and be full now. */
const VETO_NS = 60_000_000_000n;

/** The recorded workloads under the rules of another configuration. */
export type Reconsider = (usages: readonly WorkloadUsage[]) => readonly WorkloadUsage[];

/** A run under another policy over what was recorded, beside the recorded run, which says who was evicted in reality. */
export class OtherRun {
  #policy: Policy;
  #reconsider: Reconsider;
  readonly #world = new OtherWorld();
  readonly #vetoes = new Map<string, { readonly atNs: bigint; readonly protection: Protection | undefined }>();
  /** The victims of the recorded run, by its serial. */
  readonly #recordedVictims = new Map<number, string>();
  #state: State = initialState;
  #notBeforeNs: bigint | undefined;
  #known: Omit<Candidates, 'veto'> | undefined;
  /** The oldest reading of the workloads that somebody was chosen from; undefined: nobody was. */
  oldestReadingNs: bigint | undefined;
  /** Somebody had to go before any workload was read. */
  unreadSteps = 0;

  constructor(policy: Policy, reconsider: Reconsider) {
    this.#policy = policy;
    this.#reconsider = reconsider;
  }

  /** In force from the next step on. */
  reconfigure(policy: Policy, reconsider: Reconsider): void {
    this.#policy = policy;
    this.#reconsider = reconsider;
  }

  /** The recording goes on from here. Evictions in flight go on, as after a reload. */
  resume(state: State): void {
    this.#state = state;
    for (const { decision } of state.evictions) this.#recordedVictims.set(decision.serial, decision.victim.workload.id);
  }

  /**
   * @param recorded  the decisions of the recorded run in this step
   * @param after  the workloads as read right after this step
   */
  step(entry: RecordedStep, recorded: readonly Decision[], after: RecordedCandidates | undefined): readonly Effect[] {
    this.#learn(entry, after);
    for (const [serial, reading] of entry.input.victims) {
      const id = this.#recordedVictims.get(serial);
      if (id !== undefined) this.#world.victim(id, reading);
    }
    const chosen = recorded.filter(({ dryRun }) => !dryRun);
    const effects = this.#isWaiting(entry) ? [] : this.#step(entry, this.#victimsInReality(entry, chosen));
    for (const { serial, victim } of chosen) {
      this.#recordedVictims.set(serial, victim.workload.id);
      this.#world.evictedInReality(victim);
    }
    return effects;
  }

  /** As the loop, which makes no step before. */
  #isWaiting({ input: { nowNs } }: RecordedStep): boolean {
    return this.#notBeforeNs !== undefined && nowNs < this.#notBeforeNs;
  }

  /** Who was being evicted in this step, or was chosen in it. */
  #victimsInReality({ input }: RecordedStep, chosen: readonly Decision[]): ReadonlySet<string | undefined> {
    const dying = [...input.victims.keys()].map((serial) => this.#recordedVictims.get(serial));
    return new Set([...dying, ...chosen.map(({ victim }) => victim.workload.id)]);
  }

  #step(entry: RecordedStep, inReality: ReadonlySet<string | undefined>): readonly Effect[] {
    const { state, effects, notBeforeNs } = step(this.#policy, this.#state, {
      ...entry.input,
      reclaimed: undefined,
      observe: () => this.#world.observations(entry),
      victims: this.#victims(entry),
      candidates: () => this.#candidates(entry),
      lastLook: () => this.#world.observations({ observations: entry.lastLooks.at(-1) }),
    });
    this.#state = state;
    this.#notBeforeNs = notBeforeNs;
    for (const effect of effects) {
      if (effect.kind !== 'evict' || effect.decision.dryRun) continue;
      const { workload } = effect.decision.victim;
      this.#world.evictedHere(workload, inReality.has(workload.id));
    }
    return effects;
  }

  #learn({ candidates, input: { nowNs } }: RecordedStep, after: RecordedCandidates | undefined): void {
    const found = candidates.at(-1) ?? after;
    for (const { vetoes } of candidates) for (const [id, protection] of vetoes) this.#vetoes.set(id, { atNs: nowNs, protection });
    if (found === undefined) return;
    this.#known = found.candidates;
    this.#world.read(found.candidates);
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
      usages: this.#reconsider(this.#world.usages(known.usages)),
      veto: ({ id }) => {
        const answer = this.#vetoes.get(id);
        return answer && nowNs - answer.atNs <= VETO_NS ? answer.protection : undefined;
      },
    };
  }

  /** As recorded where the same workload was being evicted in reality; else it is gone, and stays so. */
  #victims({ input }: RecordedStep): Map<number, VictimReading> {
    const byId = new Map([...input.victims].map(([serial, reading]) => [this.#recordedVictims.get(serial), reading]));
    return new Map(
      this.#state.evictions.map(({ decision: { serial, victim, decidedAtNs } }) => {
        const { id } = victim.workload;
        const recorded = this.#world.isGone(id) ? undefined : byId.get(id);
        if (recorded === undefined) this.#world.goes(id);
        return [serial, recorded ?? goneSince(decidedAtNs)];
      }),
    );
  }
}

function goneSince(signalledAtNs: bigint): VictimReading {
  return { processes: 0, usageBytes: 0n, removed: true, vanished: false, error: undefined, signalledAtNs };
}
