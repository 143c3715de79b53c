import { amountOfBytes } from './amount.js';
import type { Candidates, Protection, Workload } from './workload.js';

/** A workload's place in the order of eviction, with the value that each comparator saw, in the order in which they decide. */
export interface RankedWorkload {
  /** 1 is evicted first. Protected workloads have their place, too, and are passed over. */
  readonly place: number;
  readonly workload: Workload;
  readonly workingSetBytes: bigint;
  readonly usageBytes: bigint;
  readonly requestBytes: bigint;
  readonly exceedsRequest: boolean;
  readonly priority: number;
  /** Working set minus request; negative below it. */
  readonly aboveRequestBytes: bigint;
  readonly protection: Protection | undefined;
}

type Compare<T> = (a: T, b: T) => number;
type Ordered = bigint | number | string;

/** The first comparator that tells two apart decides. */
function firstDifference<T>(...compares: Compare<T>[]): Compare<T> {
  return (a, b) => {
    for (const compare of compares) {
      const order = compare(a, b);
      if (order !== 0) return order;
    }
    return 0;
  };
}

function ascending<T>(key: (item: T) => Ordered): Compare<T> {
  return (a, b) => {
    const left = key(a);
    const right = key(b);
    return left < right ? -1 : left > right ? 1 : 0;
  };
}

function descending<T>(key: (item: T) => Ordered): Compare<T> {
  const compare = ascending(key);
  return (a, b) => compare(b, a);
}

function trueFirst<T>(key: (item: T) => boolean): Compare<T> {
  return descending((item) => (key(item) ? 1 : 0));
}

/**
 * Who goes first when memory is short: exceeding the request, then lower priority, then more above the request (kubelet: eviction/helpers.go,
 * rankMemoryPressure), then the youngest, then by name: total, so that the same readings give the same victim.
 */
const byMemoryPressure: Compare<RankedWorkload> = firstDifference(
  trueFirst((ranked) => ranked.exceedsRequest),
  ascending((ranked) => ranked.priority),
  descending((ranked) => ranked.aboveRequestBytes),
  descending((ranked) => ranked.workload.startOrder),
  ascending((ranked) => ranked.workload.name),
  ascending((ranked) => ranked.workload.id),
);

/** All candidates in the order of eviction. */
export function rankMemoryPressure(candidates: Candidates): RankedWorkload[] {
  const ranked = candidates.usages.map(({ workload, workingSetBytes, usageBytes }) => {
    const requestBytes = workload.requests.memory;
    const aboveRequestBytes = workingSetBytes - requestBytes;
    return {
      place: 0, // when they are sorted; on the path of an eviction nothing is copied to stay unchanged
      workload,
      workingSetBytes,
      usageBytes,
      requestBytes,
      exceedsRequest: aboveRequestBytes > 0n,
      priority: workload.priority,
      aboveRequestBytes,
      protection: workload.protection,
    };
  });
  ranked.sort(byMemoryPressure);
  for (const [index, item] of ranked.entries()) item.place = index + 1;
  return ranked;
}

export function protectionText(protection: Protection): string {
  switch (protection.kind) {
    case 'critical':
      return 'critical';
    case 'unlisted':
      return 'its processes cannot be listed';
    case 'gone':
      return 'it is not there any more';
    case 'vacant':
      return 'no process lives in it';
    case 'self':
      return 'evictd or its parents live in it';
    case 'contains':
      return `contains ${protection.name}, which is protected`;
    case 'outside':
      return 'outside the node';
    case 'kill-failed':
      return 'a kill of it failed a moment ago';
  }
}

/** The reasons for a place, in words: 'uses 200MiB, 136MiB above its request of 64MiB, priority -10'. */
export function describeRanked(ranked: RankedWorkload): string {
  const { workingSetBytes, requestBytes, aboveRequestBytes, exceedsRequest, priority, protection } = ranked;
  const request =
    requestBytes === 0n
      ? 'has no request'
      : exceedsRequest
        ? `${amountOfBytes(aboveRequestBytes)} above its request of ${amountOfBytes(requestBytes)}`
        : `within its request of ${amountOfBytes(requestBytes)}`;
  const never = protection ? `; never evicted: ${protectionText(protection)}` : '';
  return `uses ${amountOfBytes(workingSetBytes)}, ${request}, priority ${String(priority)}${never}`;
}
