import { isBelow, withAncestors } from '../../core/workload/cgroup.js';
import type { OomCandidate, OomOrder } from '../../core/oom/oom-badness.js';
import type { OomTask } from '../../core/oom/oom-reading.js';
import type { RankedWorkload } from '../../core/rank/rank.js';

/** A workload in evictd's and in the kernel's order. */
export interface OomComparison {
  readonly ranked: RankedWorkload;
  /** 1 is hit first; workloads that die together are equal. undefined: the kernel selects none of its processes. */
  readonly kernelPlace: number | undefined;
  /** The process whose selection hits the workload: its own, or one of a memory.oom.group that it belongs to. */
  readonly by: OomCandidate | undefined;
  /** evictd protects it, but the kernel would hit it first, or before an unprotected workload. */
  readonly endangered: boolean;
}

export interface OomComparisons {
  /** The workloads that this OOM can hit, in evictd's order. */
  readonly workloads: readonly OomComparison[];
  readonly workloadOf: (task: OomTask) => RankedWorkload | undefined;
}

/**
 * Compares evictd's order with the kernel's.
 *
 * @param domain  the memcg that runs out of memory; undefined: the machine
 */
export function compareWithKernel(ranking: readonly RankedWorkload[], order: OomOrder, domain: string | undefined): OomComparisons {
  const within = ranking.filter(({ workload: { path } }) => isTouched(path, domain));
  const byPath = new Map(within.map((ranked) => [ranked.workload.path, ranked]));
  const workloadOf = ({ cgroup }: OomTask): RankedWorkload | undefined => {
    const path = cgroup === undefined ? undefined : withAncestors(cgroup).find((above) => byPath.has(above));
    return path === undefined ? undefined : byPath.get(path);
  };
  const hits = hitsOf(order, workloadOf);
  const placeOf = new Map([...hits.values()].map((by, index) => [by, index + 1] as const).reverse()); // Of equals the first.
  const compared = within.map((ranked) => {
    const by = hits.get(ranked);
    return { ranked, kernelPlace: by && placeOf.get(by), by };
  });
  const lastEvictable = compared
    .filter(({ ranked }) => ranked.protection === undefined)
    .reduce((last, { kernelPlace = Infinity }) => Math.max(last, kernelPlace), 0);
  const workloads = compared.map((each) => {
    const { kernelPlace } = each;
    const endangered =
      each.ranked.protection !== undefined && kernelPlace !== undefined && (kernelPlace === 1 || kernelPlace <= lastEvictable);
    return { ...each, endangered };
  });
  return { workloads, workloadOf };
}

/** For each workload the first process whose selection kills one of its processes, in that order. */
function hitsOf(
  { candidates }: OomOrder,
  workloadOf: (task: OomTask) => RankedWorkload | undefined,
): ReadonlyMap<RankedWorkload, OomCandidate> {
  const members = new Map<string, OomCandidate[]>();
  for (const candidate of candidates) {
    const { group } = candidate.task;
    if (group === undefined) continue;
    const known = members.get(group);
    if (known) known.push(candidate);
    else members.set(group, [candidate]);
  }
  const first = new Map<RankedWorkload, OomCandidate>();
  for (const by of candidates) {
    const { group } = by.task;
    for (const { task } of group === undefined ? [by] : (members.get(group) ?? [])) {
      const hit = workloadOf(task);
      if (hit && !first.has(hit)) first.set(hit, by);
    }
    if (group !== undefined) members.delete(group); // Dead by now.
  }
  return first;
}

function isTouched(path: string, domain: string | undefined): boolean {
  return domain === undefined || path === domain || isBelow(path, domain) || isBelow(domain, path);
}
