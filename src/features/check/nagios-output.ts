import { amountOf, percentOf } from '../../core/quantity/amount.js';
import type { CheckedSignal, CheckedThreshold, CheckStatus } from '../../core/threshold/check-status.js';
import { comparisonText, readingsText } from '../../core/message/message.js';
import type { Observation } from '../../core/signal/observation.js';
import { isPressure, SIGNAL_FACTS, type Signal } from '../../core/signal/signal.js';
import { whenText, type ThresholdKind } from '../../core/threshold/threshold.js';
import { formatPosition } from '../../cli/output/error-text.js';
import { metReadings, type CheckReport } from './check-report.js';

const STATUS: Readonly<Record<CheckStatus, string>> = { ok: 'OK', soft: 'WARNING', hard: 'CRITICAL', unknown: 'UNKNOWN' };

/**
 * One line, `CRITICAL - text | perfdata` (Monitoring Plugins Development Guidelines, "Plugin Output" and "Performance
 * data"): soft is WARNING, hard is CRITICAL. Problems come first, then the other signals.
 */
export function checkNagios({ status, node, signals, entries, problems }: CheckReport): string {
  const bad = metReadings({ signals, entries }).map(comparisonText);
  const troubles = problems
    .filter(({ code }) => status === 'unknown' || code === 'EVICTD_SIGNAL_UNREADABLE')
    .map(({ message, position }) => (position ? `${formatPosition(position)}: ${message}` : message));
  // Without a node these are configuration errors: one fits on the line.
  const more = `and ${String(troubles.length - 1)} more: evictd config check`;
  const trouble = !node && troubles.length > 1 ? [...troubles.slice(0, 1), more] : troubles;
  const rest = signals.flatMap(({ signal, observation, thresholds }) =>
    observation && !isPressure(signal) && !thresholds.some(({ met }) => met === true) ? [amountText(signal, observation)] : [],
  );
  const fine = entries.filter(({ met }) => met === false).map((entry) => `not met: ${whenText(entry.threshold)} (${readingsText(entry)})`);
  const sentences = status === 'unknown' ? [...trouble, ...bad, ...rest, ...fine] : [...bad, ...trouble, ...rest, ...fine];
  const text = `${STATUS[status]} - ${sentences.join(', ') || 'no thresholds'}`.replace(/[\s|]+/g, (gap) =>
    gap.includes('|') ? '/' : ' ',
  );
  const perfdata = signals.map(perfdatum).join(' ');
  return perfdata === '' ? `${text}\n` : `${text} | ${perfdata}\n`;
}

/** 'memory.available 15GiB of 16GiB', 'pid.available 32000 of 32768 processes'. */
function amountText(signal: Signal, { available, capacity }: Observation): string {
  const amount = SIGNAL_FACTS[signal].unit === 'bytes' ? amountOf(signal, available) : String(available);
  return `${signal} ${amount} of ${amountOf(signal, capacity)}`;
}

/**
 * `'memory.available'=1024B;warn;crit;0;max`. A range `N:` alerts below N, which is what a threshold does. `U`: could
 * not be read.
 */
function perfdatum({ signal, observation, thresholds }: CheckedSignal): string {
  if (!observation) return `'${signal}'=U`; // unknown or absent
  if (isPressure(signal)) return `'${signal}'=${String(percentOf(observation.available))}%;;;0;100`;
  const unit = SIGNAL_FACTS[signal].unit === 'bytes' ? 'B' : '';
  const ranges = [rangeOf('soft', thresholds), rangeOf('hard', thresholds)].join(';');
  return `'${signal}'=${String(observation.available)}${unit};${ranges};0;${String(observation.capacity)}`;
}

function rangeOf(kind: ThresholdKind, thresholds: readonly CheckedThreshold[]): string {
  const value = thresholds.find((threshold) => threshold.kind === kind)?.value;
  return value === undefined ? '' : `${String(value)}:`;
}
