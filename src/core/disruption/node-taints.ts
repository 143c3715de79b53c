import type { ConditionType } from '../signal/signal.js';
import type { Taint } from './taint.js';

/** The keys of the taints that stand for pressure (pkg/controller/nodelifecycle, v1.36.2). */
export const PRESSURE_TAINT_KEYS: Readonly<Record<ConditionType, string>> = {
  MemoryPressure: 'node.kubernetes.io/memory-pressure',
  DiskPressure: 'node.kubernetes.io/disk-pressure',
  PIDPressure: 'node.kubernetes.io/pid-pressure',
};

/** The taint of a cordoned node. */
export const UNSCHEDULABLE_TAINT: Taint = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' };

/** The taint that a condition is while it lasts. It is never stored. */
export function conditionTaint(type: ConditionType): Taint {
  return { key: PRESSURE_TAINT_KEYS[type], value: '', effect: 'NoSchedule' };
}

/** What a taint stands for that evictd sets itself, and how it ends. undefined: operators set it. */
export function ownTaint({ key, effect }: Pick<Taint, 'key' | 'effect'>): { readonly of: string; readonly ends: string } | undefined {
  if (effect !== 'NoSchedule') return undefined;
  if (key === UNSCHEDULABLE_TAINT.key) return { of: 'a cordoned node', ends: 'evictd cordon sets it, and evictd uncordon removes it' };
  if (!Object.values(PRESSURE_TAINT_KEYS).includes(key)) return undefined;
  return { of: 'a condition of the node', ends: 'evictd sets it while the condition lasts; see evictd status' };
}
