import type { RankedWorkload } from '../../core/rank/rank.js';
import type { ResourceSignal } from '../../core/signal/signal.js';

/** What candidates can be sorted by in place of the order of eviction, which equal ones keep. */
export const CANDIDATE_ORDERS = ['usage', 'growth', 'request', 'priority', 'name'] as const;
export type CandidateOrder = (typeof CANDIDATE_ORDERS)[number];

export interface AskedRanking {
  /** undefined: that of the first threshold that is met for its grace period, or is met, else memory.available. */
  readonly signal?: ResourceSignal | undefined;
  /** undefined: the order of eviction. Any other order reads and judges all workloads. */
  readonly order?: CandidateOrder | undefined;
}

/** `signal=…&order=…` */
export function rankingQuery(asked: AskedRanking): string {
  const given = Object.entries(asked as Record<string, string | undefined>).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return new URLSearchParams(given).toString();
}

/** @param growths  by workload id */
export function sorted(
  ranking: readonly RankedWorkload[],
  order: CandidateOrder,
  growths: ReadonlyMap<string, number>,
): readonly RankedWorkload[] {
  const growthOf = ({ workload: { id } }: RankedWorkload): number => growths.get(id) ?? -Infinity;
  const compare: Readonly<Record<CandidateOrder, (a: RankedWorkload, b: RankedWorkload) => number>> = {
    usage: (a, b) => compared(b.usage ?? -1n, a.usage ?? -1n),
    growth: (a, b) => compared(growthOf(b), growthOf(a)),
    request: (a, b) => compared(b.requestNano, a.requestNano),
    priority: (a, b) => a.priority - b.priority,
    name: (a, b) => compared(a.workload.name, b.workload.name),
  };
  return [...ranking].sort(compare[order]);
}

function compared<T extends bigint | number | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
