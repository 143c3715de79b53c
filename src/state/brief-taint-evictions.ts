import type { TaintedWorkload, TaintEvictions } from '../core/disruption/taint-eviction.js';

/** Path and name are left out where they follow from the id or the path. */
type BriefWorkload = readonly [id: string, path?: string | null, name?: string];

/** Evictions that begin and are due at the same times for the same taint. */
export type BriefTaintEvictions = readonly (readonly [
  times: Pick<TaintedWorkload, 'taint' | 'createdNs' | 'dueNs'>,
  workloads: readonly BriefWorkload[],
])[];

/** A third of the bytes: of thousands of workloads each is in it, and most have got their taint in the same step. */
export function briefTaintEvictions(evictions: TaintEvictions): BriefTaintEvictions {
  const groups = new Map<string, [Pick<TaintedWorkload, 'taint' | 'createdNs' | 'dueNs'>, BriefWorkload[]]>();
  for (const [id, { taint, createdNs, dueNs, name, path }] of evictions) {
    const key = `${String(createdNs)} ${String(dueNs)} ${taint}`;
    const [times, workloads] = groups.get(key) ?? [{ taint, createdNs, dueNs }, []];
    const own = path === pathIn(id) ? null : path;
    workloads.push(name !== nameIn(path) ? [id, own, name] : own === null ? [id] : [id, own]);
    groups.set(key, [times, workloads]);
  }
  return [...groups.values()];
}

export function taintEvictionsOf(brief: BriefTaintEvictions): TaintEvictions {
  return new Map(
    brief.flatMap(([times, workloads]) =>
      workloads.map(([id, own, given]) => {
        const path = own ?? pathIn(id);
        return [id, { ...times, path, name: given ?? nameIn(path) }] as const;
      }),
    ),
  );
}

/** An id is mostly a path and the number of its cgroup: '/workload.slice/web#123'. */
function pathIn(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf('#')));
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
