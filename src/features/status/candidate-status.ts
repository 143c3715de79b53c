import { jsonOfNano } from '../../core/quantity/integer.js';
import { currentRanking, rankedSignal, type RankingState } from '../../core/rank/current-ranking.js';
import { protectionText, turnNumbers, type RankedWorkload } from '../../core/rank/rank.js';
import { sorted, type AskedRanking } from './candidate-order.js';
import type { Candidates } from '../../core/workload/workload.js';
import { amountOrNull } from './moment.js';
import type { CandidatesStatus, CandidateStatus } from './status-document.js';
import type { UsageGrowth } from './usage-growth.js';

const LISTED = 50;

/** The first of an order, with their places in the order of eviction, as the step ranks them. */
export function candidatesStatus(
  { signal: asked, order }: AskedRanking,
  read: RankingState,
  found: Candidates,
  growth: UsageGrowth,
  nowNs: bigint,
): CandidatesStatus {
  const signal = rankedSignal(read.state, asked);
  const ranking = currentRanking(asked, read, found, nowNs, order === undefined ? LISTED : Infinity);
  const measured = order === undefined ? ranking.slice(0, LISTED) : ranking;
  const growths = growth.since(signal, measured, nowNs);
  const placeOf = turnNumbers(measured);
  const listed = order === undefined ? measured : sorted(ranking, order, growths).slice(0, LISTED);
  return {
    signal,
    order: order ?? null,
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
