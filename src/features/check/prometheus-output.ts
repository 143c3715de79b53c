import { family, linesOf } from '../../metrics/exposition.js';
import type { Definition, Sample } from '../../metrics/metric-types.js';
import { CHECK_EXIT_CODE, CHECKED_METRICS, NODE_CONDITION } from '../../metrics/node-metrics.js';
import type { CheckReport } from './check-report.js';

/** For node_exporter's textfile collector, with the names of `evictd run`. What could not be read has no sample. */
export function checkPrometheus({ exit, reading, conditions }: CheckReport): string {
  const families: (readonly [Definition, readonly Sample[]])[] = [
    [CHECK_EXIT_CODE, [[exit]]],
    ...CHECKED_METRICS.map((metric) => [metric, metric.read(reading)] as const),
    [NODE_CONDITION, conditions.map(({ type, status }) => [status === undefined ? undefined : Number(status), type])],
  ];
  return families
    .map(([definition, samples]) => [definition, linesOf(definition.labels, samples)] as const)
    .filter(([, lines]) => lines.length > 0)
    .map(([definition, lines]) => family(definition, lines, 'text'))
    .join('');
}
