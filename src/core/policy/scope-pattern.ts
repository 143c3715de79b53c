import { namesIn, normalCgroupPath, withAncestors } from '../workload/cgroup.js';
import { compileGlob } from '../workload/glob.js';
import type { PolicyCgroups } from './configured-policy.js';

/** Which cgroups a policy is about. Paths may lack the slash at their beginning. */
export interface ScopePattern {
  readonly matches: (path: string) => boolean;
  /** Whether a cgroup below this one may match. */
  readonly reachesBelow: (path: string) => boolean;
}

export function compileScope({ cgroup, paths }: PolicyCgroups): ScopePattern {
  return paths === undefined ? compilePattern(cgroup) : listed(paths);
}

function listed(paths: readonly string[]): ScopePattern {
  const all = new Set(paths.map(normalCgroupPath));
  const above = new Set([...all].flatMap((path) => withAncestors(path).slice(1)));
  return { matches: (path) => all.has(normalCgroupPath(path)), reachesBelow: (path) => above.has(normalCgroupPath(path)) };
}

/** One name, or (undefined) any number of them. */
type Segment = RegExp | undefined;

/**
 * '/user.slice/**\/app.slice': within a name as in rules (`*`, `?`), and a name `**` for any number of names, also none.
 * The whole path must match. A slash at the end counts for nothing.
 */
function compilePattern(glob: string): ScopePattern {
  const segments = namesIn(glob).map((name): Segment => (name === '**' ? undefined : compileGlob(name)));
  const after = (path: string): ReadonlySet<number> => {
    let places = withSkipped(segments, [0]);
    for (const name of namesIn(path)) {
      const next = [...places].flatMap((place) => {
        if (place === segments.length) return [];
        const segment = segments[place];
        if (segment === undefined) return [place];
        return segment.test(name) ? [place + 1] : [];
      });
      places = withSkipped(segments, next);
    }
    return places;
  };
  return {
    matches: (path) => after(path).has(segments.length),
    reachesBelow: (path) => [...after(path)].some((place) => place < segments.length),
  };
}

/** `**` may stand for no name. */
function withSkipped(segments: readonly Segment[], places: readonly number[]): ReadonlySet<number> {
  const all = new Set<number>();
  for (let place of places) {
    all.add(place);
    while (place < segments.length && segments[place] === undefined) all.add((place += 1));
  }
  return all;
}
