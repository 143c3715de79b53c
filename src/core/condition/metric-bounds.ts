import type { MetricReference } from '../policy/condition.js';
import { isMetric, type MetricName } from '../policy/metric.js';

/**
 * An upper bound for a metric of a cgroup, except pressure. On the node memory.file is mostly available memory.
 *
 * A limit is none: usage may stay above one that was lowered (Documentation/admin-guide/cgroup-v2.rst: memory.swap.max, and
 * memory.max with O_NONBLOCK).
 */
const OF_CGROUP: Readonly<Partial<Record<MetricName, MetricName>>> = {
  'memory.shmem': 'memory.file',
  'memory.file': 'memory.current',
  'memory.anon': 'memory.current',
};

/** `full`: all tasks stall no longer than `some` do. */
function boundOf({ name, of }: MetricReference): MetricName | undefined {
  const some = name.replace('.pressure.full', '.pressure.some');
  if (some !== name && isMetric(some)) return some;
  return of === 'cgroup' ? OF_CGROUP[name] : undefined;
}

export function isSameMetric(a: MetricReference, b: MetricReference): boolean {
  return a.name === b.name && a.of === b.of && a.path === b.path;
}

/** Whether the value of a metric is never above that of another, at one time or over one window. */
export function neverExceeds(part: MetricReference, whole: MetricReference): boolean {
  if (isSameMetric(part, whole)) return true;
  const name = boundOf(part);
  return name !== undefined && neverExceeds({ ...part, name }, whole);
}
