import type { Effect } from './effect.js';
import {
  advance,
  expectedBytes,
  freedBytes,
  pauseNs,
  type Decision,
  type EvictionInFlight,
  type Outcome,
  type VictimReading,
} from './eviction.js';
import type { StepInput } from './input.js';
import type { Observation, Observations } from './observation.js';
import type { Signal } from './signal.js';
import type { Policy, State } from './state.js';
import { thresholdKind } from './threshold.js';

/** What became of the evictions in flight. */
export interface VictimsNow {
  readonly evictions: readonly EvictionInFlight[];
  readonly effects: readonly Effect[];
  readonly failedKills: ReadonlyMap<string, bigint>;
  readonly withoutYield: ReadonlyMap<Signal, bigint>;
  readonly relievedNs: bigint | undefined;
  /** The kubelet waits after a kill that failed; undefined: nobody waits. */
  readonly notBeforeNs: bigint | undefined;
}

/** How long the kubelet waits for a pod that it could not kill before it looks again (waitForPodsCleanup). */
const CLEANUP_NS = 30_000_000_000n;

/**
 * Advances the evictions in flight with the readings of this step.
 *
 * @param hard  the resources of which a hard threshold is met: there a grace ends at once (departure hard-preempts-soft)
 */
export function advanceEvictions(
  { departures }: Policy,
  state: State,
  { nowNs, victims }: Pick<StepInput, 'nowNs' | 'victims'>,
  observations: Observations | undefined,
  hard: ReadonlySet<string>,
): VictimsNow {
  if (state.evictions.length === 0 && state.failedKills.size === 0) {
    const { failedKills, withoutYield, relievedNs } = state;
    return { evictions: [], effects: [], failedKills, withoutYield, relievedNs, notBeforeNs: undefined };
  }
  const evictions: EvictionInFlight[] = [];
  const effects: Effect[] = [];
  const failedKills = new Map([...state.failedKills].filter(([, untilNs]) => nowNs < untilNs));
  const withoutYield = new Map(state.withoutYield);
  let { relievedNs } = state;
  let notBeforeNs: bigint | undefined;
  for (const eviction of state.evictions) {
    const { decision } = eviction;
    const reading = victims.get(decision.serial);
    if (reading === undefined) {
      evictions.push(eviction);
      continue;
    }
    const now = advance(eviction, reading, isSoft(decision) && hard.has(decision.resource), nowNs);
    if (!('result' in now)) {
      evictions.push(now.eviction);
      if (now.escalate) effects.push({ kind: 'escalate', decision, reason: now.escalate });
    } else {
      const outcome = outcomeOf(now.result, now.eviction, reading, observations, departures['failed-kill'], nowNs);
      effects.push({ kind: 'outcome', outcome });
      if (outcome.result !== 'failed') relievedNs = nowNs;
      if (outcome.result === 'failed' && !departures['failed-kill']) notBeforeNs = nowNs + CLEANUP_NS;
      // A vanished one is not listed again; if it were, it would be chosen for ever.
      else if (outcome.result === 'failed' || outcome.result === 'vanished') {
        failedKills.set(decision.victim.workload.id, nowNs + pauseNs(reading));
      }
      const value = departures['no-yield'] ? unyielding(outcome) : undefined;
      if (value !== undefined && decision.cause.kind === 'threshold') withoutYield.set(decision.cause.threshold.signal, value);
    }
  }
  return { evictions, effects, failedKills, withoutYield, relievedNs, notBeforeNs };
}

/** A hard eviction keeps the second that it is given where departure hard-grace is not taken. */
function isSoft({ cause }: Decision): boolean {
  return cause.kind === 'threshold' && thresholdKind(cause.threshold) === 'soft';
}

function outcomeOf(
  result: Outcome['result'],
  eviction: EvictionInFlight,
  reading: VictimReading,
  observations: Observations | undefined,
  onlyKilled: boolean,
  nowNs: bigint,
): Outcome {
  const { decision } = eviction;
  return {
    result,
    decision,
    counted: result === 'killed' || result === 'ineffective' || (result === 'failed' && !onlyKilled),
    atNs: nowNs,
    expectedBytes: expectedBytes(decision),
    freedBytes: result === 'vanished' ? 0n : freedBytes(eviction),
    removed: reading.removed,
    processesLeft: reading.processes,
    error: reading.error,
    nodeAfter: nodeAfter(decision, observations),
  };
}

function nodeAfter({ cause }: Decision, observations: Observations | undefined): Observation | undefined {
  return cause.kind === 'threshold' ? observations?.observed.get(cause.threshold.signal) : undefined;
}

/** The value at which an eviction turned out to have given nothing back; undefined: it did, or it never happened. */
function unyielding({ result, decision, nodeAfter }: Outcome): bigint | undefined {
  if (decision.cause.kind !== 'threshold' || (result !== 'killed' && result !== 'ineffective')) return undefined;
  const before = decision.cause.observation.available;
  const after = nodeAfter?.available ?? before;
  const yielded = decision.resource === 'memory' ? result === 'killed' : after > before;
  return yielded ? undefined : after;
}
