import { isBelow, withAncestors } from '../core/cgroup.js';
import type { Protection } from '../core/workload.js';

export interface Protectable {
  readonly name: string;
  readonly path: string;
  readonly effect: { readonly critical: boolean };
}

/**
 * Why workloads are never evicted, by path; those without an entry may be.
 *
 * @param holdsEvictd  the paths of all cgroups that evictd or a process it descends from lives in, directly or further below
 * @param criticalPaths  cgroups that a rule calls critical by their full path: whoever is above one would take it along
 * @param nodeCgroup  undefined: the machine is the node, nothing is outside
 */
export function protectionsOf(
  workloads: readonly Protectable[],
  holdsEvictd: ReadonlySet<string>,
  nodeCgroup: string | undefined,
  criticalPaths: readonly string[],
): ReadonlyMap<string, Protection> {
  const protections = new Map<string, Protection>();
  for (const { path, effect } of workloads) {
    if (effect.critical) protections.set(path, { kind: 'critical' });
    else if (holdsEvictd.has(path)) protections.set(path, { kind: 'self' });
    else if (nodeCgroup !== undefined && !isBelow(path, nodeCgroup)) protections.set(path, { kind: 'outside' });
  }
  for (const path of criticalPaths) protectAbove(protections, path, path);
  for (const { name, path } of workloads) {
    const kind = protections.get(path)?.kind;
    if (kind !== 'critical' && kind !== 'self') continue;
    protectAbove(protections, path, name);
  }
  return protections;
}

function protectAbove(protections: Map<string, Protection>, path: string, name: string): void {
  for (const above of withAncestors(path).slice(1)) {
    if (!protections.has(above)) protections.set(above, { kind: 'contains', name });
  }
}
