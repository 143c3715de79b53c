import { percentOf } from '../../core/quantity/amount.js';
import type { CheckedEntry, CheckedSignal } from '../../core/threshold/check-status.js';
import { jsonInteger } from '../../core/quantity/integer.js';
import { isPressure, SIGNAL_FACTS } from '../../core/signal/signal.js';
import { operandsOf, valueText, whenText } from '../../core/threshold/threshold.js';
import { formatPosition } from '../../cli/output/error-text.js';
import { wallTime, type CheckReport, type Clock } from './check-report.js';
import { jsonDocument } from '../../core/name/json-text.js';

/** The report as docs/check.md describes it. */
export function checkJson({ status, exit, node, signals, entries, conditions, notifiers, problems, notices, clock }: CheckReport): string {
  const report = {
    status,
    exit,
    node: node ? { name: node.name, cgroup: node.cgroup ?? null, cgroupVersion: node.cgroupVersion ?? null } : null,
    signals: signals.map((signal) => signalJson(signal, clock)),
    ...(entries.length === 0 ? {} : { thresholds: entries.map(entryJson) }),
    conditions: conditions.map(({ type, status: set }) => ({ type, status: set === undefined ? 'Unknown' : set ? 'True' : 'False' })),
    notifiers: notifiers.map(({ mechanism, signal, target, live, essential, reason, hint }) => {
      return { mechanism, signal, target, live, essential, reason, hint };
    }),
    problems: [...problems, ...notices].map(({ code, message, hint, position }) => {
      return { code, message, hint, position: position && formatPosition(position) };
    }),
  };
  return jsonDocument(report);
}

function signalJson({ signal, observation, reason, thresholds }: CheckedSignal, clock: Clock): Record<string, unknown> {
  const suffix = SIGNAL_FACTS[signal].unit === 'bytes' ? 'Bytes' : '';
  return {
    signal,
    ...(observation
      ? {
          ...(isPressure(signal)
            ? { stalledPercent: percentOf(observation.available) }
            : {
                [`available${suffix}`]: jsonInteger(observation.available),
                [`capacity${suffix}`]: jsonInteger(observation.capacity),
              }),
          time: observation.timeNs === undefined ? undefined : wallTime(observation.timeNs, clock),
          source: observation.source,
        }
      : {}),
    thresholds: thresholds.map(({ kind, value, met }) => ({
      kind,
      value: value === undefined ? null : jsonInteger(value),
      met: met ?? null,
    })),
    reason,
  };
}

/** An entry of the list `thresholds`; the signals have the values of its operands. */
function entryJson({ threshold, kind, met }: CheckedEntry): Record<string, unknown> {
  return {
    when: whenText(threshold),
    kind,
    forSeconds: Number(threshold.gracePeriodNs) / 1e9,
    met: met ?? null,
    operands: operandsOf(threshold).map(({ signal, value }) => ({ signal, threshold: valueText(value) })),
  };
}
