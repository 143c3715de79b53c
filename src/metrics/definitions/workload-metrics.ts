import type { Resource } from '../../core/signal/signal.js';
import { gauge, readCounter, type ReadMetric } from '../metric-types.js';
import { AMOUNT_UNITS, type AmountUnit } from './node-metrics.js';

const UNITS: Readonly<Record<Resource, AmountUnit>> = {
  memory: 'bytes',
  'ephemeral-storage': 'bytes',
  inodes: 'inodes',
  pids: 'processes',
};

const LABELS = ['eviction_signal', 'workload'];

/** Metrics of all workloads. workload-series.ts has the metrics of a few workloads. */
export const WORKLOAD_METRICS: readonly ReadMetric[] = [
  readCounter(
    'evictd_workload_evictions_total',
    'Evictions of a workload that left no process; the last ten workloads, for an hour.',
    ({ workloadEvictions }) => workloadEvictions.map(({ signal, workload, count }) => [count, signal, workload]),
    LABELS,
  ),
  gauge(
    'evictd_workload_last_eviction_timestamp_seconds',
    'When the last eviction of a workload was over, in seconds since 1970; the last ten workloads, for an hour.',
    ({ workloadEvictions }) => workloadEvictions.map(({ signal, workload, lastSeconds }) => [lastSeconds, signal, workload]),
    LABELS,
  ),
  ...AMOUNT_UNITS.map((unit) =>
    gauge(
      `evictd_candidate_usage_${unit}`,
      `What the five workloads that would be evicted first used when they were ranked, in ${unit}; only for a minute after a ranking.`,
      ({ candidates }) =>
        [...candidates].flatMap(([signal, ranked]) =>
          ranked
            .filter(({ resource }) => UNITS[resource] === unit)
            .map(({ workload, usage }) => [usage === undefined ? undefined : Number(usage), signal, workload] as const),
        ),
      LABELS,
    ),
  ),
];
