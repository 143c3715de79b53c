import { printable } from '../../core/name/printable.js';
import type { Definition, Sample } from '../../metrics/metric-types.js';
import { CHECK_EXIT_CODE, CHECKED_METRICS, NODE_CONDITION } from '../../metrics/definitions/node-metrics.js';
import type { CheckReport } from './check-report.js';

const LABEL_ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

/**
 * Output for node_exporter's textfile collector, with the names of `evictd run`. A value that could not be read has no
 * sample. It does not use prom-client, which takes longer to load than a check.
 */
export function checkPrometheus({ exit, reading, conditions }: CheckReport): string {
  const families: (readonly [Definition, readonly Sample[]])[] = [
    [CHECK_EXIT_CODE, [[exit]]],
    ...CHECKED_METRICS.map((metric) => [metric, metric.read(reading)] as const),
    [NODE_CONDITION, conditions.map(({ type, status }) => [status === undefined ? undefined : Number(status), type])],
  ];
  return families.map(([definition, samples]) => family(definition, samples)).join('');
}

/** A metric in the text format 0.0.4; empty without samples. Of names that look alike the last one counts. */
function family({ name, type, help, labels }: Definition, samples: readonly Sample[]): string {
  const series = new Map(
    samples.flatMap(([value, ...texts]) => {
      const pairs = labels.map((label, at) => `${label}="${escaped(texts[at] ?? '')}"`);
      return value === undefined ? [] : [[pairs.length > 0 ? `{${pairs.join(',')}}` : '', value] as const];
    }),
  );
  if (series.size === 0) return '';
  const lines = [...series].map(([key, value]) => `${name}${key} ${String(value)}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function escaped(text: string): string {
  return printable(text).replace(/[\\"\n]/g, (one) => LABEL_ESCAPES[one] ?? one);
}
