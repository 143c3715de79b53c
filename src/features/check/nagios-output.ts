import { amountOf, percentOf } from '../../core/quantity/amount.js';
import type { CheckedSignal, CheckStatus } from '../../core/threshold/check-status.js';
import { comparisonText, readingsText } from '../../core/message/message.js';
import type { Observation } from '../../core/signal/observation.js';
import { isPressure, SIGNAL_FACTS, type Signal } from '../../core/signal/signal.js';
import { operandsOf, resolve, whenText, type ThresholdKind } from '../../core/threshold/threshold.js';
import { formatPosition } from '../../cli/output/error-text.js';
import { metReadings, type CheckReport } from './check-report.js';
import { withHint } from '../../errors.js';

const STATUS: Readonly<Record<CheckStatus, string>> = { ok: 'OK', soft: 'WARNING', hard: 'CRITICAL', unknown: 'UNKNOWN' };
const UNREADABLE = 'EVICTD_SIGNAL_UNREADABLE';

/**
 * One line, `CRITICAL - text | perfdata` (Monitoring Plugins Development Guidelines, "Plugin Output" and "Performance
 * data"): soft is WARNING, hard is CRITICAL.
 */
export function checkNagios(report: CheckReport): string {
  const { status, signals } = report;
  const sentences = report.isNarrow ? shortSentences(report) : allSentences(report);
  const text = `${STATUS[status]} - ${sentences.join(', ') || 'no thresholds'}`.replace(/[\s|]+/g, (gap) =>
    gap.includes('|') ? '/' : ' ',
  );
  const perfdata = signals.map((signal) => perfdatum(signal, report)).join(' ');
  return perfdata === '' ? `${text}\n` : `${text} | ${perfdata}\n`;
}

/** Problems come first, then the other signals. */
function allSentences({ status, node, signals, entries, problems }: CheckReport): string[] {
  const bad = metReadings({ signals, entries }).map(comparisonText);
  const texts = problems
    .filter(({ code }) => status === 'unknown' || code === UNREADABLE)
    .map(({ message, position }) => (position ? `${formatPosition(position)}: ${message}` : message));
  // Without a node these are configuration errors: one fits on the line.
  const more = `and ${String(texts.length - 1)} more: evictd config check`;
  const hint = !node && problems.length === 1 ? problems[0]?.hint : undefined;
  const shown = !node && texts.length > 1 ? [...texts.slice(0, 1), more] : texts.map((text) => withHint(text, hint));
  const rest = amounts(signals);
  const fine = entries.filter(({ met }) => met === false).map((entry) => `not met: ${whenText(entry.threshold)} (${readingsText(entry)})`);
  return status === 'unknown' ? [...shown, ...bad, ...rest, ...fine] : [...bad, ...shown, ...rest, ...fine];
}

/** What decides the status: the values, the threshold that is met, or what could not be read. */
function shortSentences(report: CheckReport): string[] {
  const { status, signals, entries, problems } = report;
  if (status === 'unknown') return problems.filter(({ code }) => code === UNREADABLE).map(({ message }) => message);
  if (status !== 'ok') return metReadings(report, status).map(comparisonText);
  return entries.length > 0 ? entries.slice(0, 1).map(readingsText) : amounts(signals);
}

function amounts(signals: readonly CheckedSignal[]): string[] {
  return signals.flatMap(({ signal, observation, thresholds }) =>
    observation && !isPressure(signal) && !thresholds.some(({ met }) => met === true) ? [amountText(signal, observation)] : [],
  );
}

/** 'memory.available 15GiB of 16GiB', 'pid.available 32000 of 32768 processes'. */
function amountText(signal: Signal, { available, capacity }: Observation): string {
  const amount = SIGNAL_FACTS[signal].unit === 'bytes' ? amountOf(signal, available) : String(available);
  return `${signal} ${amount} of ${amountOf(signal, capacity)}`;
}

/**
 * `'memory.available'=1024B;warn;crit;0;max`. A range `N:` alerts below N, `N` above it, which is what a threshold does.
 * `U`: could not be read.
 */
function perfdatum(checked: CheckedSignal, report: CheckReport): string {
  const { signal, observation } = checked;
  if (!observation) return `'${signal}'=U`; // unknown or absent
  const ranges = [rangeOf('soft', checked, report), rangeOf('hard', checked, report)].join(';');
  if (isPressure(signal)) return `'${signal}'=${String(percentOf(observation.available))}%;${ranges};0;100`;
  const unit = SIGNAL_FACTS[signal].unit === 'bytes' ? 'B' : '';
  return `'${signal}'=${String(observation.available)}${unit};${ranges};0;${String(observation.capacity)}`;
}

/** An operand that is joined with others alerts only with them: it is shown where the check is of these signals. */
function rangeOf(kind: ThresholdKind, { signal, observation, thresholds }: CheckedSignal, { entries, isNarrow }: CheckReport): string {
  const listed = entries.filter((entry) => entry.kind === kind && (isNarrow || entry.threshold.also === undefined));
  const operands = [...thresholds.filter((own) => own.kind === kind), ...listed].flatMap(({ threshold }) => operandsOf(threshold));
  const value = operands.find((operand) => operand.signal === signal)?.value;
  if (value === undefined || !observation) return '';
  const limit = resolve(value, observation.capacity);
  return isPressure(signal) ? String(percentOf(limit)) : `${String(limit)}:`;
}
