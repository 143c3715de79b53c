import { isBelow } from './cgroup.js';

/** What a cgroup has counted since it was made. */
export interface CgroupOomKills {
  readonly path: string;
  /** Processes, with those below it where counters are `hierarchical`. One that is killed with its group may count twice (mm/oom_kill.c). */
  readonly kills: number;
  /** How often its own limit led to the OOM killer; undefined: not counted (v1). */
  readonly limitHits: number | undefined;
  /** Of `kills` those of its own processes; undefined: not told. */
  readonly ownKills: number | undefined;
}

/** The kernel's counters of OOM kills below a node at one moment. */
export interface OomTally {
  /** All that there were, of the machine; undefined: of a cgroup, or not told. */
  readonly total: number | undefined;
  /** A cgroup's counter has those below it (v2), also when these are gone. Else a cgroup takes what it has counted with it. */
  readonly hierarchical: boolean;
  /** Those that have counted any, by their ids, which no other one ever gets. */
  readonly cgroups: ReadonlyMap<bigint, CgroupOomKills>;
}

/** Whose limit it was: a cgroup's, nobody's (the machine's memory, or a limit above the node), or not known. */
export type CountedLimit = { readonly kind: 'cgroup'; readonly path: string } | { readonly kind: 'none' } | { readonly kind: 'unknown' };

/** Kills that a counter shows. */
export interface CountedKills {
  /** In this cgroup, or below it in one that is gone; undefined: it is not known where. */
  readonly cgroup: string | undefined;
  /** Processes. */
  readonly count: number;
  readonly limit: CountedLimit;
}

/** The kills between two tallies, each as near as the counters say. Those of which only the total tells are not among them. */
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
    // What is left happened below it in one that is gone, and may have been a limit of that one.
    const gone = kills - own - below;
    return [
      ...(own > 0 ? [{ cgroup: cgroup.path, count: own, limit: limitOf(cgroup, limited) }] : []),
      ...(gone > 0 ? [{ cgroup: cgroup.path, count: gone, limit: { kind: 'unknown' } as const }] : []),
    ];
  });
}

/** That of the nearest one, at or above it, which has reached its own. */
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
