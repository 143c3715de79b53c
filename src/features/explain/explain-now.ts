import { exhaustedBudget } from '../../core/budget/eviction-budget.js';
import { pausesIn } from '../../core/budget/lifted-pauses.js';
import { conditionOf } from '../../core/ladder/scope-turns.js';
import type { Policy, State } from '../../core/decide/state.js';
import { askedOnce, budgetStatuses, disruptable, isOfBudget } from '../../core/disruption/disruption-budget.js';
import { isUnderWay } from '../../core/drain/drain.js';
import type { Ladder, ScopeState } from '../../core/ladder/ladder.js';
import { scopeKey } from '../../core/ladder/policy-state.js';
import { readingsOf, truthOf, unknownMetrics } from '../../core/ladder/policy-truth.js';
import { pausedText, type TimedPause } from '../../core/message/pause-message.js';
import type { ConfiguredPolicy } from '../../core/policy/configured-policy.js';
import { historyIn } from '../../core/policy/scope-history.js';
import type { ConditionReadings } from '../../core/policy/evaluate-condition.js';
import type { ScopeReading } from '../../core/policy/scope-reading.js';
import { amountOf } from '../../core/quantity/amount.js';
import { formatDuration } from '../../core/quantity/duration.js';
import { describeRanked, type RankedWorkload } from '../../core/rank/rank.js';
import type { Observations } from '../../core/signal/observation.js';
import { operatorOf, RESOURCES, SIGNAL_FACTS, type ResourceSignal } from '../../core/signal/signal.js';
import { graceEndNs } from '../../core/threshold/grace-period.js';
import {
  isResourceThreshold,
  operandMet,
  operandsOf,
  resolve,
  thresholdId,
  thresholdKind,
  valueText,
  whenText,
  type Operand,
  type Threshold,
} from '../../core/threshold/threshold.js';
import type { Candidates } from '../../core/workload/workload.js';
import type { ClauseExplanation, Explanation, PolicyExplanation, ThresholdExplanation, WorkloadExplanation } from './explanation.js';
import { explainWorkload, type SettingsOf } from './explain-workload.js';

/** What an explanation of the present follows from. */
export interface ExplainedMoment {
  readonly source: Explanation['source'];
  readonly node: string;
  readonly signal: ResourceSignal;
  readonly policy: Policy;
  /** What is kept from step to step; of a process that makes no steps the initial state. */
  readonly state: State;
  /** Pauses that an operator set. */
  readonly pauses: readonly TimedPause[];
  readonly observations: Observations;
  /** The ranking with the current protection of each workload. */
  readonly ranking: readonly RankedWorkload[];
  /** Left out: no evictd guards the node, and no operator can evict a workload. */
  readonly found?: Candidates;
  readonly nowNs: bigint;
  readonly settingsOf: SettingsOf;
}

/** Scopes of a policy that are listed. */
const SCOPES = 20;

/** @param workload  the one of the ranking that was asked for; undefined: none was */
export function explainNow(moment: ExplainedMoment, workload?: RankedWorkload): Explanation {
  const { source, node, signal, policy, ranking } = moment;
  const thresholds = policy.thresholds.map((threshold) => explainThreshold(threshold, moment));
  const next = ranking.find(({ protection }) => protection === undefined);
  return {
    source,
    node,
    signal,
    thresholds,
    hasThreshold: policy.thresholds.some((threshold) => operandsOf(threshold).some((operand) => operand.signal === signal)),
    policies: (policy.policies ?? []).flatMap((configured) => explainPolicy(configured, moment)),
    nearest: nearestOf(thresholds),
    blockers: blockersOf(moment),
    next: next ? { name: next.workload.name, because: describeRanked(next, SIGNAL_FACTS[signal].resource) } : null,
    ...(workload && {
      workload: { ...explainWorkload(moment, workload), ...disruptionOf(moment, workload), ...budgetsOf(moment, workload) },
    }),
  };
}

/** What ends a workload although the node is not short of anything, and is not decided yet. */
function disruptionOf(
  { state: { taintEvictions, taintsJudged, drain }, nowNs }: ExplainedMoment,
  { workload: { id } }: RankedWorkload,
): Pick<WorkloadExplanation, 'disruption'> {
  const waiting = taintEvictions.get(id);
  if (waiting) {
    // Sleep of the machine since the last comparison is not counted: that was a tick ago at most.
    const leftNs = taintsJudged && waiting.dueNs - taintsJudged.bootNs - (nowNs - taintsJudged.atNs);
    const when = leftNs === undefined ? 'after that' : leftNs > 0n ? `in ${seconds(leftNs)}` : 'as soon as it may be: the time is over';
    return { disruption: `it tolerates the taint ${waiting.taint} for a time, and is evicted ${when}` };
  }
  const drained = isUnderWay(drain) ? drain.pending.find((one) => one.id === id) : undefined;
  if (drained === undefined || drained.decision !== undefined) return {};
  return { disruption: `the node is drained, and its eviction waits${drained.waits === undefined ? '' : `: ${drained.waits}`}` };
}

function budgetsOf(
  { policy: { disruptionBudgets = [] }, state, found, nowNs }: ExplainedMoment,
  { workload }: RankedWorkload,
): Pick<WorkloadExplanation, 'disruptionBudgets'> {
  const own = disruptionBudgets.filter((budget) => isOfBudget(budget, workload));
  if (found === undefined || own.length === 0) return {};
  return { disruptionBudgets: budgetStatuses(own, disruptable(askedOnce(found), state, nowNs)) };
}

function explainThreshold(threshold: Threshold, moment: ExplainedMoment): ThresholdExplanation {
  const clauses = operandsOf(threshold).map((operand) => explainClause(operand, moment.observations));
  const met = clauses.some((clause) => clause.met === false) ? false : clauses.some((clause) => clause.met === null) ? null : true;
  return {
    when: whenText(threshold),
    kind: thresholdKind(threshold),
    met,
    clauses,
    why: thresholdExplanation(threshold, met, clauses, moment),
  };
}

function explainClause(operand: Operand, { observed, missing, pending, absent }: Observations): ClauseExplanation {
  const { signal, value } = operand;
  const compared = `${operatorOf(signal)} ${valueText(value)}`;
  const observation = observed.get(signal);
  if (observation === undefined) {
    const reason = missing.get(signal) ?? pending?.get(signal) ?? absent?.get(signal) ?? 'not read';
    return { signal, text: `${signal} ${compared}: ${reason}`, met: null, left: null, leftRatio: null };
  }
  const { available, capacity, standIn } = observation;
  const limit = resolve(value, capacity);
  const met = operandMet(operand, observation);
  const left = operatorOf(signal) === '>' ? limit - available : available - limit;
  const share = value.kind === 'percentage' ? ` = ${amountOf(signal, limit)}` : '';
  return {
    signal,
    text: `${signal}${standIn ? ` (${standIn})` : ''} ${amountOf(signal, available)} ${compared}${share}`,
    met,
    left: met ? null : amountOf(signal, left),
    leftRatio: met || capacity <= 0n ? null : Number(left) / Number(capacity),
  };
}

function thresholdExplanation(
  threshold: Threshold,
  met: boolean | null,
  clauses: readonly ClauseExplanation[],
  moment: ExplainedMoment,
): string {
  const { source, state, policy, nowNs } = moment;
  if (met === null) return `not known: ${clauses.flatMap((clause) => (clause.met === null ? [clause.text] : [])).join('; ')}`;
  if (!met) {
    const open = clauses.filter((clause) => clause.met === false).map(({ signal, left }) => `${left ?? '?'} of ${signal} left`);
    return state.episodes.has(thresholdId(threshold))
      ? `not met, but its minimum reclaim is owed; ${open.join(', ')}`
      : `not met: ${open.join(', ')}`;
  }
  if (!isResourceThreshold(threshold)) return 'met, and only alerts';
  const { resource } = SIGNAL_FACTS[threshold.signal];
  if (!policy.evictable.has(resource)) return `met, and only sets its condition: no eviction frees ${resource}`;
  const flying = state.evictions.find(({ decision }) => decision.resource === resource);
  if (flying) return `met; the eviction of ${flying.decision.victim.workload.name} is in progress`;
  const leftNs = graceEndNs(threshold, state.firstObservedAt, nowNs) - nowNs;
  if (threshold.gracePeriodNs > 0n && source === 'this process')
    return `met now; it evicts after ${formatDuration(threshold.gracePeriodNs)}`;
  if (leftNs > 0n) return `met; its grace period of ${formatDuration(threshold.gracePeriodNs)} ends in ${seconds(leftNs)}`;
  return source === 'this process' ? 'met' : 'met for its grace period';
}

/** The clause of a joined threshold with the most left: all clauses must be met. */
function nearestOf(thresholds: readonly ThresholdExplanation[]): Explanation['nearest'] {
  const distances = thresholds.flatMap(({ when, met, clauses }) => {
    const open = clauses.filter(({ leftRatio }) => leftRatio !== null).sort((a, b) => (b.leftRatio ?? 0) - (a.leftRatio ?? 0));
    const [farthest] = open;
    return met === false && farthest?.left ? [{ when, left: farthest.left, ratio: farthest.leftRatio ?? 0 }] : [];
  });
  const [nearest] = distances.sort((a, b) => a.ratio - b.ratio);
  return nearest ? { when: nearest.when, left: nearest.left } : null;
}

function blockersOf({ policy, state, pauses, ranking, signal, nowNs, source }: ExplainedMoment): readonly string[] {
  const { withoutYield, leak } = pausesIn(state);
  const evictable = ranking.filter(({ protection }) => protection === undefined);
  const isEvictable = evictable.length > 0;
  const budgets = RESOURCES.flatMap((resource) => {
    const usedFor = (priority?: number) => exhaustedBudget(policy, state.evictionTimes, resource, nowNs, priority);
    // A band of the budget blocks where only its workloads are left.
    const bands = SIGNAL_FACTS[signal].resource === resource ? evictable.map(({ workload }) => usedFor(workload.priority)) : [];
    const used = usedFor() ?? (bands.includes(undefined) ? undefined : bands[0]);
    if (used === undefined) return [];
    const free = used.freeInNs === undefined ? 'it permits none' : `the next one is possible in ${seconds(used.freeInNs)}`;
    const band = used.minPriority === undefined ? '' : ` of workloads with priority ${String(used.minPriority)} or more`;
    return [`the eviction budget for ${resource}${band} is used up (${String(used.max)} in ${formatDuration(used.windowNs)}): ${free}`];
  });
  return [
    ...(policy.dryRun && source === 'evictd' ? ['this is a dry run: it records decisions and sends no signal'] : []),
    ...pauses.flatMap((pause) => (pause.workload === undefined ? [`${pausedText(pause)}; evictd resume ends it before`] : [])),
    ...(policy.safeMode ? ['evictd is in safe mode, because it crashed several times'] : []),
    ...(policy.shuttingDown ? ['the machine shuts down: soft thresholds evict nothing'] : []),
    ...(policy.hasWorkloadSource || policy.safeMode ? [] : ['no workload source is configured']),
    ...(policy.thresholds.length === 0 && (policy.policies ?? []).length === 0 ? ['no threshold and no policy is configured'] : []),
    ...(policy.hasWorkloadSource && !isEvictable
      ? [ranking.length === 0 ? 'there is no workload' : `for ${signal} every workload is protected (${String(ranking.length)})`]
      : []),
    ...budgets,
    ...withoutYield.map((each) => `the last eviction for ${each} freed too little; only a workload that has grown since is evicted`),
    ...(leak ? ['what consumed the memory of the last eviction may not be evicted'] : []),
    ...(state.reclaiming ? ['reclaim runs; an eviction follows only if it does not free enough'] : []),
  ];
}

/** The scopes of which something is remembered come first. */
function explainedScopes(
  { name, scope: cgroups }: ConfiguredPolicy,
  { policies: { scopes, read, node } }: State,
): readonly (ScopeState & { readonly scope: string; readonly reading?: ScopeReading })[] {
  const readings = read.get(name) ?? [];
  const remembered = [...scopes].flatMap(([key, { policy, ...state }]) => {
    const reading = readings.find(({ path, id }) => scopeKey(name, path, id) === key);
    return policy === name ? [{ ...state, ...(reading && { reading }) }] : [];
  });
  if (cgroups === undefined) return remembered.length > 0 || node === undefined ? remembered : [{ scope: '' }];
  const others = readings.filter(({ path, id }) => !scopes.has(scopeKey(name, path, id)));
  return [...remembered, ...others.map((reading) => ({ scope: reading.path, reading }))];
}

function explainPolicy(configured: ConfiguredPolicy, { state, nowNs, source }: ExplainedMoment): readonly PolicyExplanation[] {
  const { name, scope: cgroups, forNs } = configured;
  const common = { name, condition: conditionOf(configured) };
  const scopes = explainedScopes(configured, state).slice(0, SCOPES);
  if (scopes.length === 0) {
    const why = source === 'evictd' ? 'no cgroup matches its scope, or it was not judged yet' : 'only the running evictd judges policies';
    return [{ ...common, scope: cgroups?.cgroup ?? '', holds: null, readings: null, why }];
  }
  return scopes.map(({ scope, reading, holdsSinceNs, ladder, notBeforeNs, awaitsRelief }) => {
    const readings = { ...sharedIn(state), ...(reading && { cgroup: historyIn(state.policies.passes, reading) }) };
    const truth = truthOf(configured, readings);
    const why = ladder
      ? acting(ladder, configured)
      : awaitsRelief
        ? 'its ladder has ended; it begins anew when the condition does not hold any more'
        : notBeforeNs !== undefined && notBeforeNs > nowNs
          ? `it begins no new ladder for ${seconds(notBeforeNs - nowNs)}`
          : truth === true && holdsSinceNs !== undefined
            ? `holds; it acts in ${seconds(holdsSinceNs + forNs - nowNs)} if that lasts`
            : truth === 'unknown'
              ? `not known now: ${unknownMetrics(configured, readings).join(', ')}`
              : truth
                ? 'holds'
                : 'does not hold';
    return {
      ...common,
      scope,
      holds: truth === 'unknown' ? null : truth,
      readings: readingsOf(configured, readings).readings ?? null,
      why,
    };
  });
}

function sharedIn({ policies: { node, named } }: State): ConditionReadings {
  return { ...(node && { node }), ...(named && { named }) };
}

function acting({ step, action, refusedBecause }: Ladder, { then: steps }: ConfiguredPolicy): string {
  const text = `acting: ${action}, step ${String(step + 1)} of ${String(steps.length)}`;
  return refusedBecause === undefined ? text : `${text}, waits: ${refusedBecause}`;
}

function seconds(ns: bigint): string {
  return formatDuration(ns < 0n ? 0n : ns - (ns % 1_000_000_000n));
}
