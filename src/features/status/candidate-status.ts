import { jsonOfNano } from '../../core/quantity/integer.js';
import { currentRanking, rankedSignal, type RankingState } from '../../core/rank/current-ranking.js';
import { protectionText, turns, type RankedWorkload } from '../../core/rank/rank.js';
import type { ResourceSignal } from '../../core/signal/signal.js';
import type { Candidates } from '../../core/workload/workload.js';
import { amountOrNull } from './moment.js';
import type { CandidatesStatus, CandidateStatus } from './status-document.js';
import type { UsageGrowth } from './usage-growth.js';

const LISTED = 50;

/**
 * The first of the order of eviction, as the step ranks them.
 *
 * @param asked  undefined: for the first threshold that is met for its grace period, or is met, else for memory.available
 */
export function candidatesStatus(
  asked: ResourceSignal | undefined,
  read: RankingState,
  found: Candidates,
  growth: UsageGrowth,
  nowNs: bigint,
): CandidatesStatus {
  const signal = rankedSignal(read.state, asked);
  const ranking = currentRanking(asked, read, found, nowNs, LISTED);
  const listed = ranking.slice(0, LISTED);
  const growths = growth.since(signal, listed, nowNs);
  const placeOf = turns(listed);
  return {
    signal,
    total: ranking.length,
    workloads: listed.map((item) => candidateStatus(item, placeOf.get(item) ?? null, growths.get(item.workload.id))),
    unreadable: found.unreadable.slice(0, LISTED).map(({ name, reason }) => ({ name, reason })),
  };
}

function candidateStatus(
  { workload, usage, requestNano, exceedsRequest, priority, protection }: RankedWorkload,
  place: number | null,
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
