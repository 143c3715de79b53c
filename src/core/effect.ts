import type { Decision, EscalationReason, Outcome } from './eviction.js';
import type { Observation } from './observation.js';
import type { ConditionType } from './signal.js';
import type { Threshold } from './threshold.js';

/**
 * Why a threshold that asks for an eviction gets none. `signal-not-evictable`: no workload is known to give this resource back.
 * `no-workload-source`: none is configured. `nothing-evictable`: there is no candidate that may be evicted.
 */
export type AlertKind = 'signal-not-evictable' | 'no-workload-source' | 'nothing-evictable';

/** What a step wants done or said, in order. */
export type Effect =
  /** Send the first signal of this decision: SIGTERM where it has a grace, else SIGKILL; nothing in a dry run. */
  | { readonly kind: 'evict'; readonly decision: Decision }
  /** SIGKILL what SIGTERM has not ended. */
  | { readonly kind: 'escalate'; readonly decision: Decision; readonly reason: EscalationReason }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'condition'; readonly type: ConditionType; readonly status: boolean }
  /** An episode of a threshold begins or ends: it is met, or met no more and repaid. */
  | { readonly kind: 'threshold'; readonly threshold: Threshold; readonly met: boolean; readonly observation: Observation | undefined }
  /** Once per episode. */
  | { readonly kind: 'alert'; readonly alert: AlertKind; readonly threshold: Threshold; readonly observation: Observation };
