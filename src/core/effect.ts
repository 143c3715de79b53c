import type { DiskHolder } from './disk-holder.js';
import type { Decision, EscalationReason, Outcome } from './eviction.js';
import type { Joined } from './joined.js';
import type { Observation } from './observation.js';
import type { Reclaim, ReclaimReading } from './reclaim.js';
import type { Hold } from './restart-storm.js';
import type { ConditionType, Resource } from './signal.js';
import type { Threshold } from './threshold.js';

/**
 * Why a threshold that asks for an eviction gets none. `signal-not-evictable`: no workload is known to give this resource back.
 * `no-workload-source`: none is configured. `nothing-evictable`: there is no candidate that may be evicted. `no-yield`: the last eviction for this
 * signal gave nothing back, and its value has not changed since. `alert-only`: a threshold of io, cpu or swap alone is met, which never evicts. `restart-storm`: a
 * unit was evicted for the third time in ten minutes.
 */
export const ALERT_KINDS = [
  'signal-not-evictable',
  'no-workload-source',
  'nothing-evictable',
  'no-yield',
  'alert-only',
  'restart-storm',
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** What a step wants done or said, in order. */
export type Effect =
  /** Resources are going to be reclaimed for this threshold: by node-level reclaim, or by an eviction (kubelet: event EvictionThresholdMet). */
  | { readonly kind: 'attempt'; readonly resource: Resource; readonly threshold: Threshold; readonly observation: Observation }
  /** Run these collections, in order, and come back with what they did. */
  | { readonly kind: 'reclaim'; readonly reclaim: Reclaim }
  /** What node-level reclaim came to; `enough`: nobody needs to be evicted. */
  | ({ readonly kind: 'reclaimed'; readonly reclaim: Reclaim; readonly enough: boolean } & ReclaimReading)
  /** Send the first signal of this decision: SIGTERM where it has a grace, else SIGKILL; nothing in a dry run. */
  | { readonly kind: 'evict'; readonly decision: Decision }
  /** SIGKILL what SIGTERM has not ended. */
  | { readonly kind: 'escalate'; readonly decision: Decision; readonly reason: EscalationReason }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'condition'; readonly type: ConditionType; readonly status: boolean }
  /** An episode of a threshold begins or ends: it is met, or met no more and repaid. */
  | ({
      readonly kind: 'threshold';
      readonly threshold: Threshold;
      readonly met: boolean;
      readonly observation: Observation | undefined;
    } & Joined)
  /** Once per episode. */
  | ({
      readonly kind: 'alert';
      readonly alert: AlertKind;
      readonly threshold: Threshold;
      readonly observation: Observation;
      /** The one that a restart storm is about. */
      readonly decision?: Decision;
      /** Of a disk: what holds most there, the largest first. Left out: nobody has looked. */
      readonly holders?: readonly DiskHolder[];
    } & Joined)
  /** Start a unit, and what was stopped with it, that was kept stopped. */
  | { readonly kind: 'release'; readonly hold: Hold }
  /** The step could not be made: the filesystem layout is not known. Nothing was decided, nothing changed. */
  | { readonly kind: 'error'; readonly message: string };
