import { isYieldOpen, nodeAfter, withYield } from '../reclaim/eviction-yield.js';
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
import type { StepInput } from './step-input.js';
import type { Observations } from '../signal/observation.js';
import { withEviction, withoutHold } from '../systemd/restart-storm.js';
import { leastYield } from '../rank/shortfall.js';
import type { Signal } from '../signal/signal.js';
import type { Policy, State } from './state.js';
import { thresholdKind } from '../threshold/threshold.js';

/** The evictions in flight after this step. */
export interface VictimsNow {
  readonly evictions: readonly EvictionInFlight[];
  readonly effects: readonly Effect[];
  readonly failedKills: ReadonlyMap<string, bigint>;
  readonly withoutYield: ReadonlyMap<Signal, bigint>;
  readonly relievedNs: bigint | undefined;
  readonly unitEvictions: State['unitEvictions'];
  readonly held: State['held'];
  /** The kubelet waits after a failed kill; undefined: no wait. */
  readonly notBeforeNs: bigint | undefined;
}

/** The kubelet's wait after a failed kill (waitForPodsCleanup). */
const CLEANUP_NS = 30_000_000_000n;

/**
 * @param hard  resources with a met hard threshold, which ends a grace period at once (departure hard-preempts-soft)
 * @param short  resources for which another eviction is due: a threshold was met for its grace period, or owes min
 *   reclaim; undefined: not known
 */
export function advanceEvictions(
  { departures }: Policy,
  state: State,
  { nowNs, victims }: Pick<StepInput, 'nowNs' | 'victims'>,
  observations: Observations | undefined,
  hard: ReadonlySet<string>,
  short?: ReadonlySet<string>,
): VictimsNow {
  if (state.evictions.length === 0 && state.failedKills.size === 0) {
    const { failedKills, withoutYield, relievedNs, unitEvictions, held } = state;
    return { evictions: [], effects: [], failedKills, withoutYield, relievedNs, unitEvictions, held, notBeforeNs: undefined };
  }
  const evictions: EvictionInFlight[] = [];
  const effects: Effect[] = [];
  const failedKills = new Map([...state.failedKills].filter(([, untilNs]) => nowNs < untilNs));
  const withoutYield = new Map(state.withoutYield);
  let { relievedNs, unitEvictions, held } = state;
  let notBeforeNs: bigint | undefined;
  for (const eviction of state.evictions) {
    const { decision } = eviction;
    const reading = victims.get(decision.serial);
    if (reading === undefined) {
      evictions.push(eviction);
      continue;
    }
    const now = advance(eviction, reading, isSoft(decision) && hard.has(decision.resource), short?.has(decision.resource) ?? true, nowNs);
    if (!('result' in now)) {
      evictions.push(now.eviction);
      if (now.escalate) effects.push({ kind: 'escalate', decision, reason: now.escalate });
      continue;
    }
    const gone = withYield(now.eviction, observations, nowNs);
    if (now.result === 'killed' && isYieldOpen(gone, observations, nowNs, departures)) {
      evictions.push(gone);
    } else {
      const outcome = outcomeOf(now.result, now.eviction, reading, observations, departures['failed-kill'], nowNs);
      effects.push({ kind: 'outcome', outcome });
      if (isEnded(outcome)) relievedNs = nowNs;
      if (outcome.result === 'failed' && !departures['failed-kill']) notBeforeNs = nowNs + CLEANUP_NS;
      // A vanished workload should not be listed again. If it were, it would be chosen for ever.
      else if (outcome.result === 'failed' || outcome.result === 'vanished') {
        failedKills.set(decision.victim.workload.id, nowNs + pauseNs(reading));
      }
      const { unit, path } = decision.victim.workload;
      if (unit && outcome.counted) unitEvictions = withEviction(unitEvictions, path, nowNs);
      if (unit && outcome.result === 'vanished') held = withoutHold(held, unit.name, decision.serial);
      const value = departures['no-yield'] ? unyielding(outcome) : undefined;
      if (value !== undefined && decision.cause.kind === 'threshold') withoutYield.set(decision.cause.threshold.signal, value);
    }
  }
  return { evictions, effects, failedKills, withoutYield, relievedNs, unitEvictions, held, notBeforeNs };
}

/** Without departure hard-grace a hard eviction keeps its second. */
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
  const after = nodeAfter(decision, observations);
  return {
    result,
    decision,
    counted: result === 'killed' || result === 'ineffective' || (result === 'failed' && !onlyKilled),
    atNs: nowNs,
    expectedBytes: expectedBytes(decision),
    freedBytes: result === 'vanished' || result === 'abandoned' ? 0n : freedBytes(eviction, after),
    removed: reading.removed,
    processesLeft: reading.processes,
    error: reading.error,
    ...(reading.abandoned === undefined ? {} : { abandoned: reading.abandoned }),
    nodeAfter: after,
    ...(reading.systemd && { systemd: reading.systemd }),
  };
}

/** No process is left, whatever ended it. */
function isEnded({ result, processesLeft }: Outcome): boolean {
  return result === 'abandoned' ? processesLeft === 0 : result !== 'failed';
}

/** The value after an eviction that freed too little; undefined: it freed enough, or did not happen. */
function unyielding({ result, decision, nodeAfter }: Outcome): bigint | undefined {
  if (decision.cause.kind !== 'threshold' || (result !== 'killed' && result !== 'ineffective')) return undefined;
  const before = decision.cause.observation.available;
  const after = nodeAfter?.available ?? before;
  const least = decision.victim.workload.pod === undefined ? leastYield(decision.cause) : 1n;
  const yielded = decision.resource === 'memory' ? result === 'killed' : after - before >= least;
  return yielded ? undefined : after;
}
