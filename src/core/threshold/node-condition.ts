import type { Effect } from '../decide/effect.js';
import { CONDITION_TYPES, SIGNAL_FACTS, type ConditionType } from '../signal/signal.js';
import type { Threshold } from './threshold.js';

export type ConditionsObserved = ReadonlyMap<ConditionType, bigint>;

/** The conditions that these thresholds set, without waiting for a grace period (kubelet: nodeConditions). */
export function nodeConditions(thresholds: readonly Threshold[]): ConditionType[] {
  const set = new Set<ConditionType | undefined>(thresholds.map((threshold) => SIGNAL_FACTS[threshold.signal].condition));
  return CONDITION_TYPES.filter((type) => set.has(type));
}

/** When each condition was last observed (kubelet: nodeConditionsLastObservedAt). */
export function nodeConditionsLastObservedAt(
  conditions: readonly ConditionType[],
  last: ConditionsObserved,
  nowNs: bigint,
): ConditionsObserved {
  return new Map([...last, ...conditions.map((type) => [type, nowNs] as const)]);
}

/** The conditions that were observed less than the transition period ago (kubelet: nodeConditionsObservedSince). */
export function nodeConditionsObservedSince(observed: ConditionsObserved, periodNs: bigint, nowNs: bigint): ConditionType[] {
  return CONDITION_TYPES.filter((type) => {
    const at = observed.get(type);
    return at !== undefined && nowNs - at < periodNs;
  });
}

export function conditionEffects(before: readonly ConditionType[], after: readonly ConditionType[]): Effect[] {
  return CONDITION_TYPES.filter((type) => before.includes(type) !== after.includes(type)).map((type) => {
    return { kind: 'condition', type, status: after.includes(type) };
  });
}
