import { updateContainerFsThresholds } from '../../core/decide/containerfs.js';
import type { Policy } from '../../core/decide/state.js';
import { drainStatus, type DrainStatus } from '../../core/drain/drain-status.js';
import type { Drain } from '../../core/drain/drain.js';
import type { RankingState } from '../../core/rank/current-ranking.js';
import type { KubernetesStatus } from '../../core/kubernetes/kubernetes-status.js';
import type { Layout } from '../../core/signal/layout.js';
import type { Stall } from '../../core/signal/pressure-share.js';
import { isPressure, pressureParts, STALL_KINDS, STALL_RESOURCES, WHOLE_SHARE } from '../../core/signal/signal.js';
import type { Observations } from '../../core/signal/observation.js';
import type { Threshold } from '../../core/threshold/threshold.js';
import { checkPressure } from '../../core/threshold/check-status.js';
import type { TimedPause } from '../../core/message/pause-message.js';
import type { TimedTaintEviction } from '../../metrics/metric-types.js';
import type { NodeIdentity, NotifierState, SourceProblem } from '../../monitor/ports/ports.js';
import { budgetStatus, evictionStatus, heldUnits, pauseStatus, policyStatus, recordStatus, taintStatus } from './activity-status.js';
import { secondsOf, type Moment } from './moment.js';
import type { SignalHistory } from './signal-history.js';
import { conditionStatus, signalStatus, thresholdStatus } from './signal-status.js';
import type { ApiServerStatus, CandidatesStatus, EvictdStatus, NodePressure, NotifierStatus, StatusDocument } from './status-document.js';

export interface StatusParts extends RankingState {
  readonly node: NodeIdentity;
  readonly candidates: CandidatesStatus;
  readonly stalls: readonly Stall[];
  readonly notifiers: readonly NotifierState[];
  readonly problems: readonly SourceProblem[];
  /** Pauses that an operator set. */
  readonly pauses: readonly TimedPause[];
  readonly taintEvictions: readonly TimedTaintEviction[];
  readonly disruptionBudgets: StatusDocument['disruptionBudgets'];
  /** undefined: no API server is configured, or no evictd runs. */
  readonly kubernetes: KubernetesStatus | undefined;
  readonly history: SignalHistory;
  /** Lines of the journal, the oldest first. */
  readonly records: readonly string[];
  /** undefined: no evictd runs. */
  readonly evictd: EvictdStatus | undefined;
}

export function statusOf(parts: StatusParts, moment: Moment): StatusDocument {
  const { node, policy, state, layout, history, evictd } = parts;
  const observations = withStandIns(parts.observations, parts.stalls, moment);
  const thresholds = shownThresholds(policy, layout, observations);
  const check = checkPressure(observations, thresholds);
  return {
    apiVersion: 'v1',
    time: new Date(moment.wallMs).toISOString(),
    evictd: evictd ?? null,
    node: { name: node.name, cgroup: node.cgroup ?? null, cgroupVersion: node.cgroupVersion ?? null },
    signals: check.signals.map((each) => signalStatus(each, history, moment)),
    historyAgesSeconds: history.times.map((timeNs) => secondsOf(moment.nowNs - timeNs)),
    thresholds: thresholds.map((threshold) => thresholdStatus(threshold, observations, state, moment)),
    conditions: conditionStatus(check, evictd && state, policy, moment),
    taints: taintStatus(policy, state, parts.taintEvictions),
    drain: shortDrain(state.drain),
    pressure: pressureStatus(parts.stalls),
    candidates: parts.candidates,
    evictions: state.evictions.map((eviction) => evictionStatus(eviction, moment)),
    decisions: recordStatus(parts.records),
    budget: budgetStatus(policy, state, moment),
    disruptionBudgets: parts.disruptionBudgets,
    pauses: pauseStatus(policy, state, parts.pauses, evictd?.safeMode ?? undefined, moment),
    policies: (policy.policies ?? []).map((each) => policyStatus(each, state, moment)),
    heldUnits: heldUnits(state, moment),
    kubernetes: parts.kubernetes === undefined ? null : apiServerStatus(parts.kubernetes),
    notifiers: parts.notifiers.map(notifierStatus),
    problems: parts.problems.map(({ code, message, hint }) => ({ code, message, ...(hint !== undefined && { hint }) })),
  };
}

/** GET /api/v1/drain has all of `left`. */
const LISTED = 50;

function shortDrain(drain: Drain | undefined): DrainStatus | null {
  if (drain === undefined) return null;
  const status = drainStatus(drain);
  return { ...status, left: status.left.slice(0, LISTED) };
}

/** Adds the kernel's averages of pressure, as `check` reads them: at rest evictd does not follow pressure. */
function withStandIns(observations: Observations, stalls: readonly Stall[], { nowNs: timeNs }: Moment): Observations {
  const standIns = [...(observations.pending?.keys() ?? [])].flatMap((signal) => {
    if (!isPressure(signal)) return [];
    const { resource, kind } = pressureParts(signal);
    const line = stalls.find((stall) => stall.resource === resource && stall.kind === kind);
    if (line === undefined) return [];
    const available = BigInt(Math.round(line.averages.avg10 * Number(WHOLE_SHARE)));
    return [[signal, { available, capacity: WHOLE_SHARE, timeNs, source: 'avg10', standIn: 'avg10' }] as const];
  });
  return { ...observations, observed: new Map([...observations.observed, ...standIns]) };
}

/** A threshold that follows from the layout is left out where its filesystem is not read. */
function shownThresholds(policy: Policy, layout: Layout, { observed }: Observations): readonly Threshold[] {
  const { thresholds } = updateContainerFsThresholds(policy.thresholds, layout);
  return thresholds.filter((threshold) => policy.thresholds.includes(threshold) || observed.has(threshold.signal));
}

function pressureStatus(stalls: readonly Stall[]): NodePressure | null {
  if (stalls.length === 0) return null;
  const lines = STALL_RESOURCES.map((resource) => {
    const averages = (kind: Stall['kind']) => stalls.find((stall) => stall.resource === resource && stall.kind === kind)?.averages;
    return [resource, Object.fromEntries(STALL_KINDS.map((kind) => [kind, averages(kind) ?? null]))] as const;
  });
  return Object.fromEntries(lines) as NodePressure;
}

function notifierStatus({ mechanism, signal, target, live, essential, reason, hint }: NotifierState): NotifierStatus {
  return { mechanism, signal, target, live, essential, ...(reason !== undefined && { reason }), ...(hint !== undefined && { hint }) };
}

function apiServerStatus({ nodeName, server, answers, problem, pods, podsAgeNs }: KubernetesStatus): ApiServerStatus {
  return {
    ...{ node: nodeName, server: server ?? null, answers, problem: problem ?? null, pods },
    podsAgeSeconds: podsAgeNs === undefined ? null : secondsOf(podsAgeNs),
  };
}
