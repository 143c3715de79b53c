import { inFlight } from '../core/decide/eviction.js';
import type { Observation, Observations } from '../core/signal/observation.js';
import { initialState, type Policy } from '../core/decide/state.js';
import { step } from '../core/decide/step.js';
import { decisionRecord } from '../journal/records/decision-record.js';
import type { Evictor, WorkloadSource } from './ports/ports.js';

import type { StateKeeper } from '../state/state-keeper.js';

/** So often that the code of an eviction is compiled before it is needed. */
const ROUNDS = 20;

/**
 * Runs an eviction without performing it, as if nothing were available: up to the journal record, the saved state, and
 * opening the victim. What an eviction needs must not be loaded for the first time when memory is exhausted.
 */
export function rehearse(policy: Policy, workloads: WorkloadSource, evictor: Evictor, keeper: Pick<StateKeeper, 'text'>): void {
  const nothing: Observation = { available: 0n, capacity: 1n << 40n, timeNs: 1n, source: 'rehearsal' };
  const observed = new Map(policy.thresholds.map(({ signal }) => [signal, nothing] as const));
  const observe = (): Observations => ({ observed, missing: new Map() });
  const thresholds = policy.thresholds.map((threshold) => ({ ...threshold, gracePeriodNs: 0n }));
  for (let round = 0; round < ROUNDS; round += 1) {
    const { state, effects } = step({ ...policy, thresholds, dryRun: true }, initialState, {
      nowNs: 1n,
      layout: 'single',
      observe,
      lastLook: observe,
      victims: new Map(),
      reclaimed: undefined,
      candidates: () => ({ ...workloads.candidates('bounds'), awaited: () => false }),
    });
    for (const effect of effects) {
      if (effect.kind !== 'evict') continue;
      JSON.stringify(decisionRecord(effect.decision, { source: 'start', atNs: 1n }));
      keeper.text({ ...state, evictions: [inFlight(effect.decision)] }, new Map());
      look(evictor, effect.decision.victim.workload);
    }
  }
}

function look(evictor: Evictor, workload: Parameters<Evictor['begin']>[0]): void {
  try {
    const kill = evictor.begin(workload);
    kill.read();
    kill.close();
  } catch {
    // It has ended, or is protected: an eviction would report that.
  }
}
