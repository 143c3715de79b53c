import type { Decision } from '../../../src/core/decide/eviction.js';
import { decision } from '../notify/evictions.js';

export const PART = { uid: 'u-1', namespace: 'shop', name: 'web', labels: { app: 'web' }, priority: 0 };

/** The eviction of a pod of the API server. */
export function eviction(more: Partial<Decision> = {}): Decision {
  return decision({ name: 'shop/web', kubernetes: PART }, more);
}
