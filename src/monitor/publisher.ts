import type { DiskAmount } from '../core/disk-holding.js';
import type { AlertKind } from '../core/effect.js';
import type { EvictionSignal } from '../core/eviction-signal.js';
import type { OomLimit } from '../core/kernel-kill.js';
import type { Observations } from '../core/observation.js';
import type { ConditionType, Signal } from '../core/signal.js';
import type { Threshold, ThresholdKind } from '../core/threshold.js';
import type { NotifierState, SourceProblem } from './ports.js';

/**
 * What the loop tells the outside world. Every method only stores: none waits, none throws, none costs more than an assignment, so that they may
 * be called on every tick and on the eviction path.
 */
export interface Metrics {
  /** A pass over the node was made, and what it gave. The values are kept, not copied. */
  observe(observations: Observations, thresholds: readonly Threshold[]): void;
  condition(type: ConditionType, on: boolean): void;
  /** An episode of a threshold began. */
  thresholdMet(signal: Signal, kind: ThresholdKind): void;
  /** A workload was killed: no process of it is left. */
  evicted(signal: EvictionSignal): void;
  /** A kill failed, or left processes. */
  failed(signal: EvictionSignal): void;
  /** A workload was killed (`evicted` counts it, too) and gave back little. */
  ineffective(signal: EvictionSignal): void;
  /** A threshold asks for an eviction and gets none, once per episode. */
  alerted(kind: AlertKind, signal: Signal): void;
  /** A step of node-level reclaim has run: what it gave back, as far as others did not take it meanwhile, and whether not all of it could be done. */
  reclaimed(step: string, freed: DiskAmount, failed: boolean): void;
  /** The kernel's OOM killer has killed so many processes below the node. */
  oomKilled(limit: OomLimit, processes: number): void;
  /** How many systemd units are kept stopped. */
  held(units: number): void;
  /** From the moment a threshold was seen crossed to the first signal sent. */
  wakeToSignal(seconds: number): void;
  notifiers(states: readonly NotifierState[]): void;
  /** What else is not as configured: a workload source that is not there. Replaces what was said before. */
  problems(problems: readonly SourceProblem[]): void;
}
