import type { Effect } from '../../core/effect.js';
import type { Decision, VictimReading } from '../../core/eviction.js';
import { initialState, type Policy, type State } from '../../core/state.js';
import { step } from '../../core/step.js';
import type { Candidates, Protection, WorkloadUsage } from '../../core/workload.js';
import type { RecordedCandidates, RecordedStep } from '../../monitor/recording/format.js';
import { ReplayedNode } from './other-world.js';

/** How long a recorded veto holds: an empty workload may get processes again. */
const VETO_NS = 60_000_000_000n;

/** Applies the rules of the other configuration to recorded workloads. */
export type ApplyRules = (usages: readonly WorkloadUsage[]) => readonly WorkloadUsage[];

/** Runs another policy over the recorded inputs. */
export class OtherRun {
  #policy: Policy;
  #applyRules: ApplyRules;
  readonly #node = new ReplayedNode();
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

  constructor(policy: Policy, applyRules: ApplyRules) {
    this.#policy = policy;
    this.#applyRules = applyRules;
  }

  /** In force from the next step on. */
  reconfigure(policy: Policy, applyRules: ApplyRules): void {
    this.#policy = policy;
    this.#applyRules = applyRules;
  }

  /** Continues from a recorded state, with its evictions in flight. */
  resume(state: State): void {
    this.#state = state;
    for (const { decision } of state.evictions) this.#recordedVictims.set(decision.serial, decision.victim.workload.id);
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
      this.#recordedVictims.set(serial, victim.workload.id);
      this.#node.evictedInRecording(victim);
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
    return new Set([...dying, ...chosen.map(({ victim }) => victim.workload.id)]);
  }

  #step(entry: RecordedStep, recordedVictims: ReadonlySet<string | undefined>): readonly Effect[] {
    const { state, effects, notBeforeNs } = step(this.#policy, this.#state, {
      ...entry.input,
      reclaimed: undefined,
      observe: () => this.#node.observations(entry),
      victims: this.#victims(entry),
      candidates: () => this.#candidates(entry),
      lastLook: () => this.#node.observations({ observations: entry.lastLooks.at(-1) }),
    });
    this.#state = state;
    this.#notBeforeNs = notBeforeNs;
    for (const effect of effects) {
      if (effect.kind !== 'evict' || effect.decision.dryRun) continue;
      const { workload } = effect.decision.victim;
      this.#node.evictedInReplay(workload, recordedVictims.has(workload.id));
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
      usages: this.#applyRules(this.#node.usages(known.usages)),
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
        const { id } = victim.workload;
        const recorded = this.#node.hasEnded(id) ? undefined : byId.get(id);
        if (recorded === undefined) this.#node.end(id);
        return [serial, recorded ?? goneSince(decidedAtNs)];
      }),
    );
  }
}

function goneSince(signalledAtNs: bigint): VictimReading {
  return { processes: 0, usageBytes: 0n, removed: true, vanished: false, error: undefined, signalledAtNs };
}
