import { amountOf } from '../../core/quantity/amount.js';
import type { Signal } from '../../core/signal/signal.js';
import { isListed, resolve, thresholdKind, valueText, type Threshold, type ThresholdValue } from '../../core/threshold/threshold.js';
import type { LintSubject } from './subject.js';

/** A value in units of its signal; undefined: a percentage of an unknown capacity. */
export function limitIn(value: ThresholdValue, capacity: bigint | undefined): bigint | undefined {
  if (value.kind === 'percentage' && value.fraction === 0) return 0n;
  return value.kind === 'quantity' || capacity !== undefined ? resolve(value, capacity ?? 0n) : undefined;
}

/** '500Mi'; a percentage with known capacity: '5% = 409MiB'. */
export function limitText(signal: Signal, value: ThresholdValue, capacity: bigint | undefined): string {
  const limit = value.kind === 'percentage' ? limitIn(value, capacity) : undefined;
  return limit === undefined ? valueText(value) : `${valueText(value)} = ${amountOf(signal, limit)}`;
}

/** 'memory.available: hard 5% = 409MiB' */
export function thresholdText(threshold: Threshold, capacity: bigint | undefined): string {
  return `${threshold.signal}: ${thresholdKind(threshold)} ${limitText(threshold.signal, threshold.value, capacity)}`;
}

/**
 * The key of a threshold. A soft one without a grace period counts as hard. If the signal's own entry is disabled, the
 * threshold is a copy.
 */
export function thresholdKey(threshold: Threshold, { written, thresholds }: LintSubject): string {
  if (isListed(threshold)) return `thresholds[${String(thresholds.filter(isListed).indexOf(threshold))}]`;
  const [hard, soft] = [`evictionHard.${threshold.signal}`, `evictionSoft.${threshold.signal}`];
  if (thresholdKind(threshold) === 'soft') return soft;
  if (isOff(written.get(hard))) return 'evictionHard.memory.available';
  return written.get(soft) === valueText(threshold.value) && written.get(hard) !== valueText(threshold.value) ? soft : hard;
}

/** The two texts that disable a threshold. */
export function isOff(written: unknown): written is '0%' | '100%' {
  return written === '0%' || written === '100%';
}
