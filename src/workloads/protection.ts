import { isBelow, withAncestors } from '../core/cgroup.js';
import { protectedUnit } from '../core/protected-units.js';
import { unitNameOf, unitPlace } from '../core/unit.js';
import type { OomPreference, Protection } from '../core/workload.js';
import { UnitTree } from './systemd-tree.js';

export interface Protectable {
  readonly name: string;
  readonly path: string;
  readonly effect: { readonly critical: boolean; readonly liftProtection: boolean };
  /** What {@link listedProtection} says. */
  readonly listed: Protection | undefined;
  readonly oomPreference?: OomPreference | undefined;
  /** It is a pod of a kubelet's. */
  readonly byKubelet?: boolean | undefined;
  /** Who it is may be known in a moment. */
  readonly untold?: Protection | undefined;
}

/** These hold for whoever has them, wherever they are from: ending what contains one would break the promise, too. */
const HANDED_UP: ReadonlySet<Protection['kind'] | undefined> = new Set(['critical', 'self', 'unit', 'omit', 'kubelet', 'untold'] as const);

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
  for (const { path, effect, listed, oomPreference, byKubelet, untold } of workloads) {
    if (effect.critical) protections.set(path, { kind: 'critical' });
    else if (holdsEvictd.has(path)) protections.set(path, { kind: 'self' });
    else if (listed !== undefined) protections.set(path, listed);
    else if (oomPreference === 'omit') protections.set(path, { kind: 'omit' });
    else if (byKubelet) protections.set(path, { kind: 'kubelet' });
    else if (untold) protections.set(path, untold);
    else if (nodeCgroup !== undefined && !isBelow(path, nodeCgroup)) protections.set(path, { kind: 'outside' });
  }
  for (const path of criticalPaths) protectAbove(protections, path, path);
  for (const { name, path } of workloads) {
    if (HANDED_UP.has(protections.get(path)?.kind)) protectAbove(protections, path, name);
  }
  return protections;
}

/** By the list of units that the machine needs, unless a rule lifts that. */
export function listedProtection({ path, effect }: Pick<Protectable, 'path' | 'effect'>): Protection | undefined {
  const listed = protectedUnit(path);
  return listed === undefined || (effect.liftProtection && !listed.always) ? undefined : { kind: 'unit', why: listed.why };
}

/** A slice that holds a protected unit, which would die with it. Asked of the one that would go: what is in slices comes and goes. */
export function protectedBelow(
  path: string,
  directory: string,
  lookAt: (unit: {
    readonly name: string;
    readonly path: string;
  }) => Pick<Protectable, 'effect' | 'oomPreference' | 'byKubelet' | 'untold'>,
): Protection | undefined {
  if (unitPlace(path).kind !== 'slice') return undefined;
  const all = new UnitTree(path, false, () => true);
  for (const below of all.list(directory)) {
    const unit = { name: unitNameOf(below.slice(below.lastIndexOf('/') + 1)), path: `${path}/${below}` };
    const { effect, oomPreference, byKubelet, untold } = lookAt(unit);
    const isProtected = effect.critical || oomPreference === 'omit' || byKubelet === true || untold !== undefined;
    if (isProtected || listedProtection({ ...unit, effect })) return { kind: 'contains', name: unit.name };
  }
  return undefined;
}

function protectAbove(protections: Map<string, Protection>, path: string, name: string): void {
  for (const above of withAncestors(path).slice(1)) {
    if (!protections.has(above)) protections.set(above, { kind: 'contains', name });
  }
}
