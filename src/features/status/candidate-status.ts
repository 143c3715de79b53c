import type { Policy, State } from '../../core/decide/state.js';
import { jsonOfNano } from '../../core/quantity/integer.js';
import { protectionText, type RankedWorkload } from '../../core/rank/rank.js';
import { judgedRanking } from '../../core/rank/victim-selection.js';
import type { Layout } from '../../core/signal/layout.js';
import type { Observations } from '../../core/signal/observation.js';
import type { Shortfall } from '../../core/rank/shortfall.js';
import type { ResourceSignal } from '../../core/signal/signal.js';
import { byEvictionPriority, isResourceThreshold, limitOf, type ResourceThreshold } from '../../core/threshold/threshold.js';
import { withPausedWorkloads } from '../../core/pause/paused-workloads.js';
import type { Candidates } from '../../core/workload/workload.js';
import { amountOrNull } from './moment.js';
import type { CandidatesStatus, CandidateStatus } from './status-document.js';
import type { UsageGrowth } from './usage-growth.js';

const LISTED = 50;

/** What a ranking depends on besides the candidates. */
export interface RankingState {
  readonly policy: Policy;
  readonly state: State;
  readonly layout: Layout;
  readonly observations: Observations;
}

/**
 * The first of the order of eviction, as the step ranks them.
 *
 * @param asked  undefined: for the first threshold that is met for its grace period, or is met, else for memory.available
 */
export function candidatesStatus(
  asked: ResourceSignal | undefined,
  { policy, state, layout, observations }: RankingState,
  read: Candidates,
  growth: UsageGrowth,
  nowNs: bigint,
): CandidatesStatus {
  const found = withPausedWorkloads({ candidates: () => read }, state.pauses).candidates();
  const met = metThreshold(state, asked);
  const signal = rankedSignal(state, asked);
  const ranking = judgedRanking(policy, layout, signal, met && shortfallOf(met, observations), found, state, nowNs, LISTED);
  const listed = ranking.slice(0, LISTED);
  const growths = growth.since(signal, listed, nowNs);
  return {
    signal,
    total: ranking.length,
    workloads: listed.map((item) => candidateStatus(item, growths.get(item.workload.id))),
    unreadable: found.unreadable.slice(0, LISTED).map(({ name, reason }) => ({ name, reason })),
  };
}

export function rankedSignal(state: State, asked: ResourceSignal | undefined): ResourceSignal {
  return asked ?? metThreshold(state, asked)?.signal ?? 'memory.available';
}

function metThreshold({ thresholdsMet, episodes }: State, signal: ResourceSignal | undefined): ResourceThreshold | undefined {
  const inOrder = [thresholdsMet, [...episodes.values()]].flatMap((each) => each.filter(isResourceThreshold).sort(byEvictionPriority));
  return inOrder.find((threshold) => signal === undefined || threshold.signal === signal);
}

/** undefined: its signal cannot be read now. */
function shortfallOf(threshold: ResourceThreshold, { observed }: Observations): Shortfall | undefined {
  const observation = observed.get(threshold.signal);
  return observation && { threshold, observation, limit: limitOf(threshold, observation.capacity, false) };
}

function candidateStatus(
  { place, workload, usage, requestNano, exceedsRequest, priority, protection }: RankedWorkload,
  growth: number | undefined,
): CandidateStatus {
  return {
    place,
    name: workload.name,
    path: workload.path,
    priority,
    usage: amountOrNull(usage),
    request: jsonOfNano(requestNano),
    exceedsRequest,
    growth: growth ?? null,
    protection: protection ? protectionText(protection) : null,
  };
}
