import type { EvictionRefusal } from '../../core/kubernetes/eviction-answer.js';
import type { Taint } from '../../core/disruption/taint.js';
import type { TaintEvictions } from '../../core/disruption/taint-eviction.js';
import type { EvictionBudget, EvictionTimes } from '../../core/budget/eviction-budget.js';
import type { DiskAmount } from '../../core/disk/disk-amount.js';
import type { AlertKind } from '../../core/decide/effect.js';
import type { EvictionSignal } from '../../core/message/eviction-signal.js';
import type { OrderOutcome } from '../../core/decide/standing-order.js';
import type { OomLimit } from '../../core/oom/kernel-kill.js';
import type { Observations } from '../../core/signal/observation.js';
import type { Candidate } from '../../core/rank/first-candidates.js';
import type { Stall } from '../../core/signal/pressure-share.js';
import type { ConditionType, Signal } from '../../core/signal/signal.js';
import type { OperatorPauses } from '../../core/pause/operator-pause.js';
import type { PolicyActionName, PolicyResultKind } from '../../core/policy/policy-action.js';
import type { Threshold, ThresholdKind } from '../../core/threshold/threshold.js';
import type { NotifierState, SourceProblem } from './ports.js';

/** The decision of an eviction by its number, and the path of its victim. */
export interface EvictionOf {
  readonly decision: number;
  readonly workload: string;
}

/**
 * What the loop publishes. Every method only stores a value, so that it may be called on every tick and on the path of
 * an eviction.
 */
export interface Metrics {
  /** The readings of a pass. They are kept, not copied. */
  observe(observations: Observations, thresholds: readonly Threshold[]): void;
  /** A tick has made no pass. */
  skipped(): void;
  /** The readings for a scrape: no pass has read them. `observations` left out: those of the last pass are recent. */
  renewed(stalls: readonly Stall[], observations?: Observations): void;
  /** The workloads that may be evicted, the first one first. Replaces those of this signal. */
  ranked(signal: EvictionSignal, candidates: readonly Candidate[]): void;
  condition(type: ConditionType, on: boolean): void;
  thresholdMet(signal: Signal, kind: ThresholdKind): void;
  /** An eviction has ended with no process left. */
  evicted(signal: EvictionSignal, eviction: EvictionOf): void;
  /** An eviction for node pressure was decided that a disruption budget did not permit. */
  budgetViolated(budget: string): void;
  /** The API server of the cluster has refused the eviction of a pod. */
  podEvictionRefused(reason: EvictionRefusal): void;
  /** A kubelet has started an evicted pod again. */
  podRestarted(): void;
  /** An eviction has failed, or left processes. */
  failed(signal: EvictionSignal, eviction: EvictionOf): void;
  /** An eviction has freed little; `evicted` counts it, too. */
  ineffective(signal: EvictionSignal, eviction: EvictionOf): void;
  /** A threshold required an eviction that evictd could not make; once per episode. */
  alerted(kind: AlertKind, signal: Signal): void;
  /**
   * A step of node-level reclaim has run.
   *
   * @param freed  minus what workloads took meanwhile
   * @param failed  a part of it could not be done
   */
  reclaimed(step: string, freed: DiskAmount, failed: boolean): void;
  policyAction(policy: string, action: PolicyActionName, result: PolicyResultKind): void;
  oomKilled(limit: OomLimit, processes: number): void;
  /** A hook of an eviction is over, or was not waited for. */
  hookRan(hook: string, result: string): void;
  /** A notification was sent, or could not be. */
  notified(kind: string, result: string): void;
  held(units: number): void;
  /**
   * The pauses that operators have set.
   *
   * @param pauses  the same object while nothing has changed
   * @param bootNs  CLOCK_BOOTTIME now; undefined where there is none
   */
  paused(pauses: OperatorPauses, bootNs: bigint | undefined): void;
  /**
   * @param evictions  the same object while nothing has changed
   * @param bootNs  CLOCK_BOOTTIME now; undefined where no NoExecute taint is in force
   */
  tainted(taints: readonly Taint[], evictions: TaintEvictions, bootNs: bigint | undefined): void;
  /** @param budget  undefined: evictions are not limited */
  budget(budget: EvictionBudget | undefined, times: EvictionTimes): void;
  standingOrder(outcome: OrderOutcome): void;
  wakeToSignal(seconds: number, decision: number): void;
  notifiers(states: readonly NotifierState[]): void;
  /** Workload sources that are missing. Replaces the former list. */
  problems(problems: readonly SourceProblem[]): void;
}
