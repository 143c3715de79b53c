import type { MemoryGrowth } from '../budget/memory-growth.js';
import type { AlertKind, Effect } from '../decide/effect.js';
import type { Decision } from '../decide/eviction.js';
import type { State } from '../decide/state.js';
import { SIGNAL_FACTS } from '../signal/signal.js';
import { isStorm } from '../systemd/restart-storm.js';
import type { ThresholdCause } from '../threshold/threshold-cause.js';
import { thresholdId } from '../threshold/threshold.js';
import { choiceOf, type Choice } from './eviction-decision.js';

type AlertEffect = Extract<Effect, { kind: 'alert' }>;
export type AlertReading = Omit<AlertEffect, 'kind' | 'alert'>;

/**
 * Once per episode.
 *
 * @param growthOf  called only if the alert is made
 */
export function alert<C extends Choice>(
  chosen: C,
  kind: AlertKind,
  reading: AlertReading,
  about = '',
  growthOf: () => MemoryGrowth | undefined = () => undefined,
): C {
  const id = thresholdId(reading.threshold);
  const key = `${kind}${about} ${id}`;
  if (chosen.settled.has(key)) return chosen;
  const growth = growthOf();
  const effects: readonly Effect[] = [...chosen.effects, { kind: 'alert', alert: kind, ...reading, ...(growth && { growth }) }];
  return { ...chosen, effects, settled: new Map([...chosen.settled, [key, id]]) };
}

/** Once per unit and episode. */
export function withStormAlert<C extends Choice>(chosen: C, before: number, reading: AlertReading): C {
  const decided = chosen.effects.find((effect) => effect.kind === 'evict' && effect.decision.serial > before);
  if (decided?.kind !== 'evict' || !isStorm(decided.decision.unit?.evictions ?? 0)) return chosen;
  const { decision } = decided;
  return alert(chosen, 'restart-storm', { ...reading, decision }, decision.victim.workload.path);
}

export function attempt({ threshold, observation }: Pick<ThresholdCause, 'threshold' | 'observation'>): Effect {
  return { kind: 'attempt', resource: SIGNAL_FACTS[threshold.signal].resource, threshold, observation };
}

/** What is reported of a carried out standing order, as of any other eviction. */
export function orderReport(state: State, decision: Decision): Pick<Choice, 'effects' | 'settled'> {
  const { cause, serial } = decision;
  const evicted: Choice = { ...choiceOf(state), effects: [{ kind: 'evict', decision }] };
  if (cause.kind !== 'threshold') return evicted;
  const { threshold, observation } = cause;
  return withStormAlert({ ...evicted, effects: [...evicted.effects, attempt(cause)] }, serial - 1, { threshold, observation });
}
