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
    const byMachine: Protection | undefined = holdsEvictd.has(path) ? { kind: 'self' } : listed;
    const isOutside = nodeCgroup !== undefined && !isBelow(path, nodeCgroup);
    const byWhose: Protection | undefined = byKubelet ? { kind: 'kubelet' } : (untold ?? (isOutside ? { kind: 'outside' } : undefined));
    const asks = oomPreference === 'omit' ? besides('omit', byWhose) : byWhose;
    const protection = effect.critical ? besides('critical', byMachine ?? byWhose) : (byMachine ?? asks);
    if (protection) protections.set(path, protection);
  }
  for (const path of criticalPaths) protectAbove(protections, path, { name: path, protection: { kind: 'critical' } });
  for (const { name, path } of workloads) {
    const protection = protections.get(path);
    if (protection && HANDED_UP.has(protection.kind)) protectAbove(protections, path, { name, protection });
  }
  return protections;
}

function besides(kind: 'critical' | 'omit', also: Protection | undefined): Protection {
  return { kind, ...(also && { also }) };
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
  let unlisted = 0;
  const units = all.list(directory, () => {
    unlisted += 1;
  });
  for (const below of units) {
    const unit = { name: unitNameOf(below.slice(below.lastIndexOf('/') + 1)), path: `${path}/${below}` };
    const { effect, oomPreference, byKubelet, untold } = lookAt(unit);
    const isProtected = effect.critical || oomPreference === 'omit' || byKubelet === true || untold !== undefined;
    if (isProtected || listedProtection({ ...unit, effect })) return { kind: 'contains', name: unit.name };
  }
  return unlisted > 0 ? { kind: 'unlisted' } : undefined;
}

function protectAbove(
  protections: Map<string, Protection>,
  path: string,
  below: { readonly name: string; readonly protection: Protection },
): void {
  const contains: Protection = { kind: 'contains', name: below.name };
  for (const above of withAncestors(path).slice(1)) {
    const own = protections.get(above);
    if (own === undefined) protections.set(above, contains);
    else if (isBesides(own) && own.also === undefined && outlives(below.protection, own))
      protections.set(above, besides(own.kind, contains));
  }
}

function isBesides(protection: Protection): protection is Extract<Protection, { readonly also?: Protection }> {
  return protection.kind === 'critical' || protection.kind === 'omit';
}

/** Whether what is below would be ended too early, or at all, if the one above it ended in its turn at a shutdown. */
function outlives(below: Protection, above: Protection): boolean {
  if (!isBesides(below) || below.also !== undefined) return true;
  return below.kind === 'critical' && above.kind !== 'critical';
}
