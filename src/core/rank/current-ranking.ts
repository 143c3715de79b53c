import type { Policy, State } from '../decide/state.js';
import { withPausedWorkloads } from '../pause/paused-workloads.js';
import type { Layout } from '../signal/layout.js';
import type { Observations } from '../signal/observation.js';
import type { ResourceSignal } from '../signal/signal.js';
import { byEvictionPriority, isResourceThreshold, limitOf, type ResourceThreshold } from '../threshold/threshold.js';
import type { Candidates } from '../workload/workload.js';
import type { RankedWorkload } from './rank.js';
import type { Shortfall } from './shortfall.js';
import { judgedRanking } from './victim-selection.js';

/** What a ranking depends on besides the candidates. */
export interface RankingState {
  readonly policy: Policy;
  readonly state: State;
  readonly layout: Layout;
  readonly observations: Observations;
}

/**
 * The order of eviction as the next step would find it; the first `most` are judged.
 *
 * @param asked  undefined: for the first threshold that is met for its grace period, or is met, else for memory.available
 */
export function currentRanking(
  asked: ResourceSignal | undefined,
  { policy, state, layout, observations }: RankingState,
  read: Candidates,
  nowNs: bigint,
  most: number,
): RankedWorkload[] {
  const found = withPausedWorkloads({ candidates: () => read }, state.pauses).candidates();
  const met = metThreshold(state, asked);
  return judgedRanking(policy, layout, rankedSignal(state, asked), met && shortfallOf(met, observations), found, state, nowNs, most);
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
