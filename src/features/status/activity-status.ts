import { budgetOf, remainingBudget, exhaustedBudget } from '../../core/budget/eviction-budget.js';
import { pausesIn } from '../../core/budget/lifted-pauses.js';
import { conditionOf } from '../../core/ladder/scope-turns.js';
import { conditionTaint } from '../../core/disruption/node-taints.js';
import { taintText } from '../../core/disruption/taint.js';
import { taintsInForce } from '../../core/disruption/taint-step.js';
import type { TimedTaintEviction } from '../../metrics/metric-types.js';
import type { EvictionInFlight } from '../../core/decide/eviction.js';
import type { Policy, State } from '../../core/decide/state.js';
import { decisionMessage } from '../../core/message/message.js';
import { pausedText, type TimedPause } from '../../core/message/pause-message.js';
import { processesText, type VictimProcess } from '../../core/oom/victim-process.js';
import type { PolicyScope } from '../../core/ladder/policy-state.js';
import type { ConfiguredPolicy } from '../../core/policy/configured-policy.js';
import { jsonInteger } from '../../core/quantity/integer.js';
import { formatDuration } from '../../core/quantity/duration.js';
import { RESOURCES } from '../../core/signal/signal.js';
import { secondsOf, secondsUntil, type Moment } from './moment.js';
import type {
  BudgetStatus,
  EvictionStatus,
  PauseStatus,
  PolicyStatus,
  RecordStatus,
  StatusDocument,
  TaintStatus,
} from './status-document.js';

export function evictionStatus(eviction: EvictionInFlight, moment: Moment): EvictionStatus {
  const { decision, phase, phaseSinceNs, usageBytes, processes, exitedSinceNs } = eviction;
  const sinceNs = exitedSinceNs ?? phaseSinceNs;
  return {
    decision: decision.serial,
    name: decision.victim.workload.name,
    path: decision.victim.workload.path,
    phase: exitedSinceNs === undefined ? phase : 'exited',
    phaseSeconds: secondsOf(moment.nowNs - sinceNs),
    killsInSeconds: phase === 'terminating' ? secondsUntil(phaseSinceNs + decision.graceNs, moment) : null,
    usageBytes: jsonInteger(usageBytes),
    processes: processes ?? null,
    message: decisionMessage(decision),
  };
}

/** @param lines  of the journal, the oldest first */
export function recordStatus(lines: readonly string[]): RecordStatus[] {
  return lines
    .map((line) => {
      const { time, type, decision, message, processes } = JSON.parse(line) as Record<string, unknown>;
      const victims =
        type === 'decision' || type === 'outcome' ? processesText(processes as readonly VictimProcess[] | undefined) : undefined;
      return {
        time: String(time),
        type: String(type),
        decision: typeof decision === 'number' ? decision : null,
        message: [message, ...(victims === undefined ? [] : [victims])].join('; '),
      };
    })
    .reverse();
}

export function budgetStatus(policy: Policy, { evictionTimes }: State, { nowNs }: Moment): BudgetStatus | null {
  const budget = budgetOf(policy);
  if (budget === undefined) return null;
  return {
    max: budget.max,
    windowSeconds: secondsOf(budget.windowNs),
    resources: RESOURCES.map((resource) => {
      const { freeInNs } = exhaustedBudget(policy, evictionTimes, resource, nowNs) ?? {};
      return {
        resource,
        remaining: remainingBudget(budget, evictionTimes, resource, nowNs),
        freeInSeconds: freeInNs === undefined ? null : secondsOf(freeInNs),
      };
    }),
  };
}

/** What keeps evictd from evicting, the most general first. */
export function pauseStatus(
  policy: Policy,
  state: State,
  byOperator: readonly TimedPause[],
  safeMode: string | undefined,
  { nowNs }: Moment,
): PauseStatus[] {
  const { withoutYield, leak } = pausesIn(state);
  const budgets = RESOURCES.flatMap((resource): PauseStatus[] => {
    const used = exhaustedBudget(policy, state.evictionTimes, resource, nowNs);
    if (used === undefined) return [];
    const until =
      used.freeInNs === undefined
        ? 'it permits none'
        : `the next one is possible in ${formatDuration(used.freeInNs - (used.freeInNs % 1_000_000_000n))}`;
    return [{ kind: 'budget', message: `the eviction budget for ${resource} is used up: ${until}` }];
  });
  return [
    ...byOperator.map((pause) => ({ kind: 'operator', message: pausedText(pause) }) as const),
    ...(safeMode === undefined ? [] : [{ kind: 'safe-mode', message: `safe mode, nothing is evicted: ${safeMode}` } as const]),
    ...(policy.shuttingDown ? [{ kind: 'shutdown', message: 'the machine shuts down: soft thresholds evict nothing' } as const] : []),
    ...(policy.hasWorkloadSource || policy.safeMode
      ? []
      : [{ kind: 'no-workload-source', message: 'no workload source is configured: nothing is evicted' } as const]),
    ...budgets,
    ...withoutYield.map((signal) => ({ kind: 'no-yield', message: `the last eviction for ${signal} freed too little` }) as const),
    ...(leak ? [{ kind: 'leak', message: 'what consumed the memory of the last eviction may not be evicted' } as const] : []),
  ];
}

const ACTIVE = 20;

export function policyStatus(policy: ConfiguredPolicy, state: State, moment: Moment): PolicyStatus {
  const scopes = [...state.policies.scopes.values()].filter((scope) => scope.policy === policy.name);
  return {
    name: policy.name,
    when: conditionOf(policy),
    steps: policy.then.map(({ kind }) => kind),
    active: scopes.flatMap((scope) => scopeStatus(policy, scope, moment)).slice(0, ACTIVE),
  };
}

function scopeStatus(
  { forNs }: ConfiguredPolicy,
  { scope, ladder, holdsSinceNs, notBeforeNs = 0n, awaitsRelief }: PolicyScope,
  moment: Moment,
): PolicyStatus['active'] {
  const left = (atNs: bigint | undefined): number | null => (atNs === undefined ? null : secondsUntil(atNs, moment));
  if (ladder) return [{ scope, state: 'acting', step: ladder.step, secondsLeft: left(ladder.endsAtNs) }];
  if (awaitsRelief) return [{ scope, state: 'relief', step: null, secondsLeft: null }];
  if (notBeforeNs > moment.nowNs) return [{ scope, state: 'cooldown', step: null, secondsLeft: left(notBeforeNs) }];
  return holdsSinceNs === undefined ? [] : [{ scope, state: 'holding', step: null, secondsLeft: left(holdsSinceNs + forNs) }];
}

export function taintStatus(policy: Policy, state: State, waiting: readonly TimedTaintEviction[]): TaintStatus[] {
  const conditions = state.conditions.map(conditionTaint);
  return [...taintsInForce(policy, state), ...conditions].map((taint) => {
    const text = taintText(taint);
    const from = conditions.includes(taint) ? 'condition' : policy.taints?.includes(taint) ? 'configuration' : 'operator';
    const evictions = waiting.filter((one) => one.taint === text).map(({ name, path, endsAt }) => ({ name, path, endsAt }));
    return { taint: text, from, evictions };
  });
}

export function heldUnits({ held }: State, moment: Moment): StatusDocument['heldUnits'] {
  return [...held.values()].map(({ unit, decision, untilNs }) => ({
    unit,
    decision,
    startsInSeconds: untilNs === undefined ? null : secondsUntil(untilNs, moment),
  }));
}
