import { ALERT_KINDS } from '../../core/decide/effect.js';
import { ORDER_OUTCOMES } from '../../core/decide/standing-order.js';
import type { NamedBudgetStatus } from '../../core/disruption/disruption-budget.js';
import { DISRUPTION_SIGNAL, POLICY_SIGNAL } from '../../core/message/eviction-signal.js';
import { OOM_LIMITS } from '../../core/oom/kernel-kill.js';
import { isResourceSignal, RESOURCES, SIGNAL_FACTS, SIGNALS } from '../../core/signal/signal.js';
import { isResourceThreshold, thresholdKind } from '../../core/threshold/threshold.js';
import { HOOK_RESULTS } from '../../core/hook/hook.js';
import { NOTIFICATION_RESULTS } from '../../core/notify/notification.js';
import { eventCounter, gauge, type Latest, type Metric } from '../metric-types.js';

function evictingSignals({ thresholds }: Latest): readonly string[][] {
  const signals = new Set<string>(thresholds.filter(isResourceThreshold).map(({ signal }) => signal));
  return [...SIGNALS.filter((signal) => signals.has(signal)), POLICY_SIGNAL, DISRUPTION_SIGNAL].map((signal) => [signal]);
}

const steps = ({ reclaimSteps }: Latest): readonly string[][] => reclaimSteps.map((step) => [step]);

/** At least 0, because a counter must not fall: other programs may have used more meanwhile than the step freed. */
const freed = (amount: bigint): number => (amount > 0n ? Number(amount) : 0);

const ofBudgets = (name: string, help: string, of: Exclude<keyof NamedBudgetStatus, 'name'>) =>
  gauge(`evictd_disruption_budget_${name}`, help, (latest) => latest.budgetStatuses().map((budget) => [budget[of], budget.name]), [
    'budget',
  ]);

export const EVICTION_METRICS: readonly Metric[] = [
  eventCounter(
    'evictd_evictions_total',
    'Evictions that left no process of the workload, by the signal of the threshold.',
    ['eviction_signal'],
    { evicted: (signal) => [1, signal] },
    evictingSignals,
    { evicted: (_signal, { decision }) => decision },
  ),
  eventCounter(
    'evictd_evictions_failed_total',
    'Evictions that failed or left processes; not in evictd_evictions_total.',
    ['eviction_signal'],
    { failed: (signal) => [1, signal] },
    evictingSignals,
    { failed: (_signal, { decision }) => decision },
  ),
  eventCounter(
    'evictd_evictions_ineffective_total',
    'Evictions after which the node got back less memory than it should; also in evictd_evictions_total.',
    ['eviction_signal'],
    { ineffective: (signal) => [1, signal] },
    evictingSignals,
    { ineffective: (_signal, { decision }) => decision },
  ),
  eventCounter(
    'evictd_disruption_budget_violations_total',
    'Evictions for node pressure that a disruption budget did not permit, and that did not ask it.',
    ['budget'],
    { budgetViolated: (budget) => [1, budget] },
    ({ disruptionBudgets }) => disruptionBudgets.map((budget) => [budget]),
  ),
  // As kube-state-metrics names them.
  ofBudgets('disruptions_allowed', 'Workloads that may be evicted now.', 'disruptionsAllowed'),
  ofBudgets('current_healthy', 'Workloads that are healthy.', 'currentHealthy'),
  ofBudgets('desired_healthy', 'Workloads that must stay healthy.', 'desiredHealthy'),
  ofBudgets('expected_workloads', 'Workloads that the budget counts in all.', 'expected'),
  eventCounter(
    'evictd_standing_orders_total',
    'Standing orders that came due after a crossing, before the main thread had decided, by outcome.',
    ['outcome'],
    { standingOrder: (outcome) => [1, outcome] },
    () => ORDER_OUTCOMES.map((outcome) => [outcome]),
  ),
  eventCounter(
    'evictd_hook_runs_total',
    'Hooks of evictions that ran or were to run, by result.',
    ['hook', 'result'],
    { hookRan: (hook, result) => [1, hook, result] },
    ({ hooks }) => hooks.flatMap((hook) => HOOK_RESULTS.map((result) => [hook, result])),
  ),
  eventCounter(
    'evictd_notifications_total',
    'Notifications of evictions and alerts, by kind and result.',
    ['kind', 'result'],
    { notified: (kind, result) => [1, kind, result] },
    ({ notifications }) => notifications.flatMap((kind) => NOTIFICATION_RESULTS.map((result) => [kind, result])),
  ),
  eventCounter(
    'evictd_alerts_total',
    'Evictions that a threshold required and that evictd could not make, or that do not help for long (restart-storm), by reason.',
    ['alert', 'eviction_signal'],
    { alerted: (kind, signal) => [1, kind, signal] },
    ({ thresholds }) => {
      const signals = [...new Set(thresholds.map(({ signal }) => signal))];
      return ALERT_KINDS.flatMap((kind) =>
        signals.filter((signal) => isResourceSignal(signal) === (kind !== 'alert-only')).map((signal) => [kind, signal]),
      );
    },
  ),
  eventCounter('evictd_reclaims_total', 'Runs of a step of node-level reclaim.', ['step'], { reclaimed: (step) => [1, step] }, steps),
  eventCounter(
    'evictd_reclaims_failed_total',
    'Runs of a step of node-level reclaim that failed in part or whole; also in evictd_reclaims_total.',
    ['step'],
    { reclaimed: (step, _freed, failed) => [failed ? 1 : 0, step] },
    steps,
  ),
  eventCounter(
    'evictd_reclaimed_bytes_total',
    'Bytes that became free on the filesystem while the step ran.',
    ['step'],
    { reclaimed: (step, { bytes }) => [freed(bytes), step] },
    steps,
  ),
  eventCounter(
    'evictd_reclaimed_inodes_total',
    'Inodes that became free on the filesystem while the step ran.',
    ['step'],
    { reclaimed: (step, { inodes }) => [freed(inodes), step] },
    steps,
  ),
  eventCounter(
    'evictd_policy_actions_total',
    'Actions of policies that have ended, by result; in a dry run those that would have been taken.',
    ['policy', 'action', 'result'],
    { policyAction: (policy, action, result) => [1, policy, action, result] },
    () => [],
  ),
  eventCounter(
    'evictd_oom_kills_total',
    "Processes of the node that the kernel's OOM killer killed, by the owner of the limit that was reached.",
    ['limit'],
    { oomKilled: (limit, processes) => [processes, limit] },
    () => OOM_LIMITS.map((limit) => [limit]),
  ),
  eventCounter(
    'evictd_thresholds_met_total',
    'Changes of a threshold from not met to met.',
    ['eviction_signal', 'kind'],
    { thresholdMet: (signal, kind) => [1, signal, kind] },
    ({ thresholds }) => thresholds.map((threshold) => [threshold.signal, thresholdKind(threshold)]),
  ),
  {
    type: 'histogram',
    name: 'evictd_wake_to_signal_seconds',
    help: 'Time from the sample that met a threshold to the first signal sent to the victim.',
    labels: [],
    // dense around the goal of 10 ms
    buckets: [0.000_25, 0.000_5, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    on: { wakeToSignal: (seconds) => seconds },
    decision: { wakeToSignal: (_seconds, decision) => decision },
  },
  gauge(
    'evictd_eviction_budget_remaining',
    'Evictions that evictionBudget still permits for the resource.',
    (latest) => {
      const resources = new Set(latest.thresholds.filter(isResourceThreshold).map(({ signal }) => SIGNAL_FACTS[signal].resource));
      return RESOURCES.filter((resource) => resources.has(resource)).map((resource) => [latest.remainingBudget(resource), resource]);
    },
    ['resource'],
  ),
  gauge('evictd_units_held', 'systemd units that evictd keeps stopped until the node has recovered.', ({ heldUnits }) => [[heldUnits]]),
  gauge(
    'evictd_graceful_shutdown_start_time_seconds',
    'When the last shutdown of the machine began to end workloads, in seconds since 1970; 0: not since evictd started.',
    ({ shutdown }) => [[shutdown.startSeconds]],
  ),
  gauge(
    'evictd_graceful_shutdown_end_time_seconds',
    'When the last shutdown had ended all workloads or was cancelled, in seconds since 1970; 0: not yet.',
    ({ shutdown }) => [[shutdown.endSeconds]],
  ),
];
