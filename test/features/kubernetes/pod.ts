import type { Decision } from '../../../src/core/decide/eviction.js';
import type { DisruptionReason } from '../../../src/core/disruption/disruption-cause.js';
import type { PodEvictionRequest } from '../../../src/monitor/ports/node-pods.js';
import { SECOND, threshold } from '../../core/support.js';
import { decision } from '../notify/evictions.js';

export const PART = { uid: 'u-1', namespace: 'shop', name: 'web', labels: { app: 'web' }, priority: 0 };

/** The eviction of a pod of the API server, for a hard threshold. */
export function eviction(more: Partial<Decision> = {}): Decision {
  return decision({ name: 'shop/web', kubernetes: PART }, more);
}

/** The same for a soft threshold. */
export function softEviction(graceNs = 30n * SECOND): Decision {
  const { cause } = eviction();
  const soft = threshold('memory.available', '100Mi', { graceSeconds: 1 });
  return eviction({ graceNs, ...(cause.kind === 'threshold' && { cause: { ...cause, threshold: soft } }) });
}

export function disruption(reason: DisruptionReason, graceNs = 30n * SECOND): Decision {
  return eviction({ graceNs, cause: { kind: 'disruption', reason, message: 'it does not tolerate a taint' } });
}

export function request({ victim: { workload }, cause, graceNs }: Decision, isResumed = false): PodEvictionRequest {
  return { workload, cause, graceNs, isResumed };
}
