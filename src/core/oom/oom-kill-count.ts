import { isBelow } from '../workload/cgroup.js';

/** The counters of a cgroup since it was created. */
export interface CgroupOomKills {
  readonly path: string;
  /**
   * Processes; includes descendants if the counters are `hierarchical`. A process killed with its group may count twice
   * (mm/oom_kill.c).
   */
  readonly kills: number;
  /** How often its own limit invoked the OOM killer; undefined: not counted (v1). */
  readonly limitHits: number | undefined;
  /** The part of `kills` in the cgroup itself; undefined: not counted. */
  readonly ownKills: number | undefined;
}

/** The kernel's counters of OOM kills below a node. */
export interface OomTally {
  /** The machine's total; undefined: not available. */
  readonly total: number | undefined;
  /** Counters include descendants, also removed ones (v2). Else the counter disappears with its cgroup. */
  readonly hierarchical: boolean;
  /** Cgroups with kills, by their ids, which are never reused. */
  readonly cgroups: ReadonlyMap<bigint, CgroupOomKills>;
}

/** The limit that caused it: a cgroup's, none (the machine's memory, or a limit above the node), or not known. */
export type CountedLimit = { readonly kind: 'cgroup'; readonly path: string } | { readonly kind: 'none' } | { readonly kind: 'unknown' };

export interface CountedKills {
  /** Or a removed descendant; undefined: not known. */
  readonly cgroup: string | undefined;
  /** Processes. */
  readonly count: number;
  readonly limit: CountedLimit;
}

/** The kills between two readings of the counters, without those that only the total counts. */
export function killsBetween(before: OomTally, now: OomTally): readonly CountedKills[] {
  const grown = [...now.cgroups].map(([id, cgroup]) => {
    const known = before.cgroups.get(id);
    return {
      cgroup,
      kills: cgroup.kills - (known?.kills ?? 0),
      own: cgroup.ownKills === undefined ? 0 : cgroup.ownKills - (known?.ownKills ?? 0),
      hits: (cgroup.limitHits ?? 0) - (known?.limitHits ?? 0),
    };
  });
  const limited = grown.filter(({ hits }) => hits > 0).map(({ cgroup }) => cgroup.path);
  return grown.flatMap(({ cgroup, kills, own }): CountedKills[] => {
    const below = now.hierarchical ? sum(grown.filter((other) => isChild(other.cgroup.path, cgroup.path)).map((other) => other.kills)) : 0;
    // The rest happened in removed descendants, perhaps because of their own limits.
    const removed = kills - own - below;
    return [
      ...(own > 0 ? [{ cgroup: cgroup.path, count: own, limit: limitOf(cgroup, limited) }] : []),
      ...(removed > 0 ? [{ cgroup: cgroup.path, count: removed, limit: { kind: 'unknown' } as const }] : []),
    ];
  });
}

/** The nearest limit that was reached, at or above the cgroup. */
function limitOf({ path, limitHits }: CgroupOomKills, limited: readonly string[]): CountedLimit {
  if (limitHits === undefined) return { kind: 'unknown' };
  const nearest = limited
    .filter((other) => other === path || isBelow(path, other))
    .reduce<string | undefined>((a, b) => (a === undefined || b.length > a.length ? b : a), undefined);
  return nearest === undefined ? { kind: 'none' } : { kind: 'cgroup', path: nearest };
}

function isChild(path: string, parent: string): boolean {
  return isBelow(path, parent) && !path.slice(parent === '/' ? 1 : parent.length + 1).includes('/');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
