import type { MemoryGrowth } from '../budget/memory-growth.js';
import type { AlertKind, Effect } from '../decide/effect.js';
import { thresholdId } from '../threshold/threshold.js';
import type { Choice } from './eviction-decision.js';

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
