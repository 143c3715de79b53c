import { isObject, type JsonObject } from './json.js';

/** The kinds of lines that have `kind` and `input`. */
const AREA_OF_KIND: Readonly<Record<string, string>> = {
  migrateConfig: 'shutdown',
  shutdownPlan: 'shutdown',
  shutdownTimeline: 'shutdown',
  validateShutdownConfig: 'shutdown',
  podGC: 'shutdown',
  tolerates: 'taints',
  untolerated: 'taints',
  matching: 'taints',
  timeline: 'taints',
  nodeTaints: 'taints',
  daemonSetTolerations: 'taints',
  defaultTolerationSeconds: 'taints',
  memoryPressureToleration: 'taints',
  validateToleration: 'taints',
  evict: 'eviction_api',
  criticalPreemption: 'preemption',
  kubeletAdmit: 'preemption',
  podResources: 'qos_requests',
  filterScore: 'scheduler_filter_score',
  preEnqueue: 'scheduler_filter_score',
  numFeasibleNodes: 'scheduler_filter_score',
  queueSort: 'scheduler_filter_score',
  preempt: 'scheduler_preempt',
  priorityAdmission: 'scheduler_preempt',
};

/** The area of a line by its fields, for files that are not named by an area; undefined: it looks like none. */
export function lineArea({ expect, ...line }: JsonObject): string | undefined {
  const has = (...keys: readonly string[]): boolean => keys.every((key) => key in line);
  if (has('steps', 'config')) return 'sync';
  if (has('rankings', 'podStats')) return 'rank';
  if (has('memoryCapacity', 'pod')) return 'oom_score_adj';
  if (has('nodeConditions', 'pod')) return 'admit';
  if (has('threshold', 'signal', 'summary')) return 'memcg';
  if (has('os', 'summary')) return 'signals';
  if (has('kind', 'input')) return typeof line.kind === 'string' ? AREA_OF_KIND[line.kind] : undefined;
  if (has('kind') && (has('config') || has('value', 'capacity'))) return 'thresholds';
  return has('input') && isObject(expect) ? parsedArea(expect) : undefined;
}

/** Quantities and durations have the same input; errors of Go's time package begin with its name. */
function parsedArea({ ok, ns, nano, error }: JsonObject): string | undefined {
  if (ok === true) return ns !== undefined ? 'duration' : nano !== undefined ? 'quantity' : undefined;
  if (typeof error !== 'string') return undefined;
  return error.startsWith('time: ') ? 'duration' : 'quantity';
}
