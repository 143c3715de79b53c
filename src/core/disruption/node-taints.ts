import type { ConditionType } from '../signal/signal.js';
import type { Taint } from './taint.js';

/** The keys of the taints that stand for pressure (pkg/controller/nodelifecycle, v1.36.2). */
export const PRESSURE_TAINT_KEYS: Readonly<Record<ConditionType, string>> = {
  MemoryPressure: 'node.kubernetes.io/memory-pressure',
  DiskPressure: 'node.kubernetes.io/disk-pressure',
  PIDPressure: 'node.kubernetes.io/pid-pressure',
};

/** Of a node that is cordoned. */
export const UNSCHEDULABLE_TAINT: Taint = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' };

/** The taint that a condition is while it lasts. It is never stored. */
export function conditionTaint(type: ConditionType): Taint {
  return { key: PRESSURE_TAINT_KEYS[type], value: '', effect: 'NoSchedule' };
}

/** Whether it is the taint of a condition or of a cordoned node, which evictd sets. */
export function isConditionTaint({ key, effect }: Pick<Taint, 'key' | 'effect'>): boolean {
  return effect === 'NoSchedule' && [...Object.values(PRESSURE_TAINT_KEYS), UNSCHEDULABLE_TAINT.key].includes(key);
}
