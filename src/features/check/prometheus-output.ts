import type { Definition } from '../../metrics/metric-types.js';
import * as metrics from '../../metrics/node-metrics.js';
import { ratioOf, stalledSeconds } from '../../core/signal/pressure-share.js';
import type { Observation } from '../../core/signal/observation.js';
import { isPressure, type Signal } from '../../core/signal/signal.js';
import { whenText } from '../../core/threshold/threshold.js';
import type { CheckReport } from './check-report.js';
import { printable } from '../../core/name/printable.js';

type Sample = readonly [value: number, ...labels: string[]];

const LABEL_ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

/** One metric in the text exposition format 0.0.4; empty without samples. */
function exposition({ name, type, help, labels }: Definition, samples: readonly Sample[]): string {
  if (samples.length === 0) return '';
  const lines = samples.map(([value, ...texts]) => {
    const pairs = labels.map(
      (label, index) => `${label}="${printable(texts[index] ?? '').replace(/[\\"\n]/g, (text) => LABEL_ESCAPES[text] ?? text)}"`,
    );
    return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${String(value)}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/**
 * A substitute value has a name of its own (memory.pressure.full.avg10): it differs from the value that the server
 * exports.
 */
function asRead(signal: Signal, { standIn }: Observation): string {
  return standIn === undefined ? signal : `${signal}.${standIn}`;
}

/**
 * For node_exporter's textfile collector, with the names of `evictd run`. Without prom-client, which takes longer to
 * load than a check.
 */
export function checkPrometheus({ exit, signals, entries, conditions, notifiers }: CheckReport): string {
  const readings = signals.flatMap(({ signal, observation }) => (observation ? [{ signal, observation }] : []));
  const read = readings.filter(({ signal }) => !isPressure(signal));
  const mechanisms = [...new Set(notifiers.map(({ mechanism }) => mechanism))];
  return [
    exposition(metrics.CHECK_EXIT_CODE, [[exit]]),
    exposition(
      metrics.SIGNAL_AVAILABLE,
      read.map(({ signal, observation }) => [Number(observation.available), signal]),
    ),
    exposition(
      metrics.SIGNAL_CAPACITY,
      read.map(({ signal, observation }) => [Number(observation.capacity), signal]),
    ),
    exposition(
      metrics.SIGNAL_THRESHOLD,
      signals.flatMap(({ signal, thresholds }) =>
        thresholds.flatMap(({ kind, value }): Sample[] => (value === undefined ? [] : [[Number(value), signal, kind]])),
      ),
    ),
    exposition(
      metrics.SIGNAL_PRESSURE,
      [
        ...new Map(
          readings.filter(({ signal }) => isPressure(signal)).map(({ signal, observation }) => [asRead(signal, observation), observation]),
        ),
      ].map(([signal, observation]) => [ratioOf(observation), signal]),
    ),
    exposition(
      metrics.THRESHOLD_MET,
      entries.flatMap(({ threshold, kind, met }): Sample[] => (met === undefined ? [] : [[met ? 1 : 0, whenText(threshold), kind]])),
    ),
    ...metrics.PRESSURE_TOTALS.map(({ metric, resource, kind }) =>
      exposition(metric, stalledSeconds(resource, kind, new Map(readings.map(({ signal, observation }) => [signal, observation])))),
    ),
    exposition(
      metrics.NODE_CONDITION,
      conditions.flatMap(({ type, status }): Sample[] => (status === undefined ? [] : [[status ? 1 : 0, type]])),
    ),
    exposition(
      metrics.NOTIFIER_LIVE,
      mechanisms.map((mechanism) => [notifiers.every((state) => state.live || state.mechanism !== mechanism) ? 1 : 0, mechanism]),
    ),
  ].join('');
}
