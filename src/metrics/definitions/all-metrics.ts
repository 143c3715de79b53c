import { EVICTION_METRICS } from './eviction-metrics.js';
import { KUBERNETES_METRICS } from './kubernetes-metrics.js';
import type { Metric } from '../metric-types.js';
import { NODE_METRICS } from './node-metrics.js';
import { OWN_METRICS } from './own-metrics.js';
import { WORKLOAD_METRICS } from './workload-metrics.js';

/** Every metric of `evictd run`. To add one, add an entry to one of these lists. */
export const METRICS: readonly Metric[] = [
  ...NODE_METRICS,
  ...EVICTION_METRICS,
  ...WORKLOAD_METRICS,
  ...KUBERNETES_METRICS,
  ...OWN_METRICS,
];
