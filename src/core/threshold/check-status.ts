import { joined, type Joined } from './joined-readings.js';
import type { Observation, Observations } from '../signal/observation.js';
import { CONDITION_TYPES, SIGNALS, SIGNAL_FACTS, type ConditionType, type Signal } from '../signal/signal.js';
import { allMet, isListed, operandsOf, resolve, thresholdKind, thresholdMet, type Threshold, type ThresholdKind } from './threshold.js';

/** `unknown`: a signal with a threshold could not be read, or the check failed. */
export type CheckStatus = 'ok' | 'soft' | 'hard' | 'unknown';

export const CHECK_EXIT = { ok: 0, soft: 1, hard: 2, unknown: 3 } as const satisfies Record<CheckStatus, number>;

export interface CheckedThreshold {
  readonly threshold: Threshold;
  readonly kind: ThresholdKind;
  /** The limit in the unit of the signal; undefined: a percentage of an unknown capacity. */
  readonly value: bigint | undefined;
  /** undefined: the signal could not be read. */
  readonly met: boolean | undefined;
}

/** A signal with a reading or a threshold. `thresholds`: from the maps by signal. */
export interface CheckedSignal {
  readonly signal: Signal;
  readonly observation: Observation | undefined;
  /** Why there is no reading. */
  readonly reason: string | undefined;
  /** Hard before soft. */
  readonly thresholds: readonly CheckedThreshold[];
}

/** `status`: whether the met thresholds would set it; undefined: an unreadable signal decides. */
export interface CheckedCondition {
  readonly type: ConditionType;
  readonly status: boolean | undefined;
}

/** An entry of the list `thresholds`. */
export interface CheckedEntry extends Joined {
  readonly threshold: Threshold;
  readonly kind: ThresholdKind;
  /** The reading of the starved operand. */
  readonly observation: Observation | undefined;
  /** undefined: an operand could not be read, and no other operand is known not to be met. */
  readonly met: boolean | undefined;
}

export interface PressureCheck {
  readonly status: CheckStatus;
  readonly signals: readonly CheckedSignal[];
  /** Entries in the order of the list. */
  readonly entries: readonly CheckedEntry[];
  /** The conditions that have a threshold. */
  readonly conditions: readonly CheckedCondition[];
}

/**
 * The node's state now, without grace periods, min reclaim and transition period. A met hard threshold outranks an
 * unreadable signal. A met soft threshold does not: the unreadable signal may hide a hard one.
 */
export function checkPressure(observations: Observations, thresholds: readonly Threshold[]): PressureCheck {
  const configured = new Set(thresholds.flatMap(operandsOf).map(({ signal }) => signal));
  const signals = SIGNALS.filter((signal) => observations.observed.has(signal) || configured.has(signal)).map((signal) =>
    checkSignal(signal, observations, thresholds),
  );
  const entries = thresholds.filter(isListed).map((threshold) => checkEntry(threshold, observations));
  const checked = [...signals.flatMap((signal) => signal.thresholds), ...entries];
  return { status: statusOf(checked), signals, entries, conditions: conditionsOf(checked) };
}

/** An operand that this node does not have is never met. */
function checkEntry(threshold: Threshold, observations: Observations): CheckedEntry {
  const isAbsent = operandsOf(threshold).some(({ signal }) => observations.absent?.has(signal));
  return {
    threshold,
    kind: thresholdKind(threshold),
    observation: observations.observed.get(threshold.signal),
    ...joined(threshold, observations),
    met: isAbsent ? false : allMet(threshold, observations, false),
  };
}

function checkSignal(
  signal: Signal,
  { observed, missing, absent, pending }: Observations,
  thresholds: readonly Threshold[],
): CheckedSignal {
  const observation = observed.get(signal);
  const own = thresholds.filter((threshold) => threshold.signal === signal && !isListed(threshold));
  const hardFirst = [
    ...own.filter((threshold) => thresholdKind(threshold) === 'hard'),
    ...own.filter((threshold) => thresholdKind(threshold) === 'soft'),
  ];
  return {
    signal,
    observation,
    reason: observation ? undefined : (absent?.get(signal) ?? missing.get(signal) ?? pending?.get(signal) ?? 'no reading'),
    thresholds: hardFirst.map((threshold) => ({
      threshold,
      kind: thresholdKind(threshold),
      value: observation || threshold.value.kind === 'quantity' ? resolve(threshold.value, observation?.capacity ?? 0n) : undefined,
      met: observation ? thresholdMet(threshold, observation, false) : absent?.has(signal) ? false : undefined,
    })),
  };
}

type Checked = Pick<CheckedThreshold, 'threshold' | 'kind' | 'met'>;

function statusOf(thresholds: readonly Checked[]): CheckStatus {
  if (thresholds.some(({ kind, met }) => kind === 'hard' && met === true)) return 'hard';
  if (thresholds.some(({ met }) => met === undefined)) return 'unknown';
  return thresholds.some(({ met }) => met === true) ? 'soft' : 'ok';
}

function conditionsOf(thresholds: readonly Checked[]): CheckedCondition[] {
  const own = (type: ConditionType): readonly Checked[] =>
    thresholds.filter(({ threshold }) => SIGNAL_FACTS[threshold.signal].condition === type);
  return CONDITION_TYPES.filter((type) => own(type).length > 0).map((type) => ({ type, status: anyMet(own(type)) }));
}

function anyMet(thresholds: readonly Checked[]): boolean | undefined {
  if (thresholds.some(({ met }) => met === true)) return true;
  return thresholds.some(({ met }) => met === undefined) ? undefined : false;
}
