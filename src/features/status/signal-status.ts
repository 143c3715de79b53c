import type { Policy, State } from '../../core/decide/state.js';
import type { Observation, Observations } from '../../core/signal/observation.js';
import { ratioOf } from '../../core/signal/pressure-share.js';
import { CONDITION_TYPES, isPressure, operatorOf, SIGNAL_FACTS, WHOLE_SHARE, type Signal } from '../../core/signal/signal.js';
import type { PressureCheck } from '../../core/threshold/check-status.js';
import { graceEndNs } from '../../core/threshold/grace-period.js';
import {
  allMet,
  operandsOf,
  resolve,
  thresholdId,
  thresholdKind,
  whenText,
  type Operand,
  type Threshold,
} from '../../core/threshold/threshold.js';
import { amountOrNull, secondsOf, secondsUntil, wallTimeOf, type Moment } from './moment.js';
import type { SignalHistory } from './signal-history.js';
import type { Amount, ConditionStatus, OperandStatus, SignalStatus, ThresholdStatus } from './status-document.js';

export function signalStatus(
  { signal, observation, reason }: PressureCheck['signals'][number],
  history: SignalHistory,
  { nowNs }: Moment,
): SignalStatus {
  const { unit } = SIGNAL_FACTS[signal];
  const valueAt = (amount: number): number | null => (Number.isNaN(amount) ? null : amount);
  return {
    signal,
    unit: unit === 'share' ? 'ratio' : unit,
    operator: operatorOf(signal),
    value: valueOf(signal, observation?.available),
    capacity: valueOf(signal, observation?.capacity),
    ageSeconds: observation?.timeNs === undefined ? null : secondsOf(nowNs - observation.timeNs),
    ...(reason !== undefined && { reason }),
    ...(observation?.standIn && { standIn: observation.standIn }),
    history: history.of(signal).map(valueAt),
  };
}

export function thresholdStatus(
  threshold: Threshold,
  observations: Observations,
  { firstObservedAt }: Pick<State, 'firstObservedAt'>,
  moment: Moment,
): ThresholdStatus {
  const sinceNs = firstObservedAt.get(thresholdId(threshold));
  return {
    when: whenText(threshold),
    kind: thresholdKind(threshold),
    met: allMet(threshold, observations, false) ?? null,
    operands: operandsOf(threshold).map((operand) => operandStatus(operand, observations)),
    graceSeconds: secondsOf(threshold.gracePeriodNs),
    since: sinceNs === undefined ? null : wallTimeOf(sinceNs, moment),
    actsInSeconds: sinceNs === undefined ? null : secondsUntil(graceEndNs(threshold, firstObservedAt, moment.nowNs), moment),
  };
}

function operandStatus({ signal, value }: Operand, { observed }: Observations): OperandStatus {
  const observation = observed.get(signal);
  const known = observation ?? (isPressure(signal) ? { capacity: WHOLE_SHARE } : undefined);
  const limit = known || value.kind === 'quantity' ? resolve(value, known?.capacity ?? 0n) : undefined;
  const left = (available: bigint, at: bigint): bigint => (operatorOf(signal) === '<' ? available - at : at - available);
  return {
    signal,
    limit: valueOf(signal, limit),
    distance: observation && limit !== undefined ? valueOf(signal, left(observation.available, limit)) : null,
  };
}

function valueOf(signal: Signal, amount: bigint | undefined): Amount | null {
  return amount !== undefined && isPressure(signal) ? ratioOf({ available: amount } as Observation) : amountOrNull(amount);
}

/** @param state  undefined: no evictd runs, and the thresholds that are met now would set the conditions */
export function conditionStatus(
  check: PressureCheck,
  state: Pick<State, 'conditions' | 'conditionsLastObservedAt' | 'thresholdsMet' | 'episodes'> | undefined,
  { pressureTransitionPeriodNs }: Policy,
  moment: Moment,
): ConditionStatus[] {
  const lasting = new Set([...(state?.episodes.values() ?? [])].map(({ signal }) => SIGNAL_FACTS[signal].condition));
  return CONDITION_TYPES.flatMap((type) => {
    const checked = check.conditions.find((condition) => condition.type === type);
    const isSet = state?.conditions.includes(type) ?? checked?.status;
    if (checked === undefined && isSet !== true) return [];
    const observedNs = state?.conditionsLastObservedAt.get(type);
    const clears = isSet === true && observedNs !== undefined && !lasting.has(type);
    return {
      type,
      status: isSet === undefined ? 'Unknown' : isSet ? 'True' : 'False',
      clearsInSeconds: clears ? secondsUntil(observedNs + pressureTransitionPeriodNs, moment) : null,
    };
  });
}
