import { decisionsOf } from '../core/decide/effect.js';
import { inFlight } from '../core/decide/eviction.js';
import type { Observation, Observations } from '../core/signal/observation.js';
import { initialState, type Policy } from '../core/decide/state.js';
import { step } from '../core/decide/step.js';
import type { Workload } from '../core/workload/workload.js';
import type { Journal } from '../journal/journal.js';
import { decisionRecord } from '../journal/records/decision-record.js';
import type { StateKeeper } from '../state/state-keeper.js';
import type { ProcessRecords } from './ports/process-records.js';
import type { Evictor, KillInProgress, WorkloadSource } from './ports/ports.js';

/** The number of rounds after which the code of an eviction is compiled. */
const ROUNDS = 20;
/** … or for so long, with thousands of workloads. */
const COMPILING_NS = 1_000_000_000n;
/** A rehearsal that takes longer than this is not repeated: it would delay the eviction that it is for. */
const SHORT_NS = 5_000_000n;

export interface RehearsalParts {
  readonly workloads: WorkloadSource;
  readonly evictor: Evictor;
  readonly journal: Pick<Journal, 'rehearse'>;
  readonly keeper: Pick<StateKeeper, 'text'>;
  /** Left out: processes cannot be read here. */
  readonly processes?: Pick<ProcessRecords, 'expect'> | undefined;
}

/**
 * Runs an eviction without performing it, as if nothing were available: with the journal record, the saved state, the
 * opened victim and, at the start, signal 0. What an eviction needs must not be loaded for the first time when memory is
 * exhausted.
 */
export class Rehearsal {
  /** How long the last one took. */
  #tookNs = 0n;
  #victims: readonly Workload[] = [];

  constructor(private readonly parts: RehearsalParts) {}

  /** Compiles the code at the start. */
  compile(policy: Policy): void {
    const beganNs = process.hrtime.bigint();
    for (let round = 0; round < ROUNDS && process.hrtime.bigint() - beganNs < COMPILING_NS; round += 1) {
      this.#once(policy, (kill) => kill.rehearse?.());
    }
  }

  /**
   * Once more on the approach to a threshold: the caches of the processor are cold after a second. The processes of the
   * victim are read after it: where it takes too long, those of the last victim.
   */
  warmUp(policy: Policy): void {
    if (this.#tookNs <= SHORT_NS) this.#once(policy, () => undefined);
    this.parts.processes?.expect(this.#victims);
  }

  #once(policy: Policy, signal: (kill: KillInProgress) => void): void {
    const beganNs = process.hrtime.bigint();
    const { workloads, journal, keeper } = this.parts;
    const nothing: Observation = { available: 0n, capacity: 1n << 40n, timeNs: 1n, source: 'rehearsal' };
    const observed = new Map(policy.thresholds.map(({ signal: of }) => [of, nothing] as const));
    const observe = (): Observations => ({ observed, missing: new Map() });
    const thresholds = policy.thresholds.map((threshold) => ({ ...threshold, gracePeriodNs: 0n }));
    const { state, effects } = step({ ...policy, thresholds, dryRun: true }, initialState, {
      nowNs: 1n,
      layout: 'single',
      observe,
      recheck: observe,
      victims: new Map(),
      reclaimed: undefined,
      candidates: () => ({ ...workloads.candidates('rehearsal'), awaited: () => false }),
    });
    const decisions = decisionsOf(effects);
    for (const decision of decisions) {
      journal.rehearse(decisionRecord(decision, { source: 'start', atNs: 1n }));
      keeper.text({ ...state, evictions: [inFlight(decision)] }, new Map());
      this.#look(decision.victim.workload, signal);
    }
    this.#tookNs = process.hrtime.bigint() - beganNs;
    this.#victims = decisions.map(({ victim }) => victim.workload);
  }

  #look(workload: Workload, signal: (kill: KillInProgress) => void): void {
    try {
      const kill = this.parts.evictor.begin(workload);
      signal(kill);
      kill.read();
      kill.close();
    } catch {
      // It has ended, or is protected: an eviction would report that.
    }
  }
}
