import { isBelow, withAncestors, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { containerScope } from '../../core/workload/container-scope.js';
import { isPodsCgroup } from '../../core/workload/cri-cgroup.js';
import { protectedUnit, type NameFacts } from '../../core/systemd/protected-units.js';
import { unitNameOf, unitPlace } from '../../core/systemd/unit.js';
import type { OomPreference, Protection } from '../../core/workload/workload.js';
import type { CgroupNames } from './cgroup-names.js';
import { cgroupsBelow } from './cgroups-below.js';
import { UnitTree } from '../systemd/unit-tree.js';

export interface Protectable {
  readonly name: string;
  readonly path: string;
  readonly effect: { readonly critical: boolean; readonly liftProtection: boolean };
  /** The protection from {@link listedProtection}. */
  readonly listed: Protection | undefined;
  readonly oomPreference?: OomPreference | undefined;
  /** Whether a kubelet manages it as a pod that the API server has not reported. */
  readonly byKubelet?: boolean | undefined;
  /** A pod that the API server has reported, or a part of one, which the kubelet would start again. */
  readonly pod?: { readonly is: 'pod'; readonly protection: Protection | undefined } | { readonly is: 'part' } | undefined;
  /** Facts about it are still awaited. */
  readonly pending?: Protection | undefined;
}

/** Protections that extend to all cgroups above, because ending these would end the workload. */
const EXTENDS_UPWARDS: ReadonlySet<Protection['kind'] | undefined> = new Set([
  'critical',
  'self',
  'unit',
  'omit',
  'kubelet',
  'static',
  'unreported',
] as const);

/**
 * Protections by path; workloads without an entry may be evicted.
 *
 * @param holdsEvictd  cgroups with evictd or one of its ancestors in them or below
 * @param criticalPaths  cgroups that rules name as critical by full path: those above them are protected
 * @param nodeCgroup  undefined: the node is the machine
 */
export function protectionsOf(
  workloads: readonly Protectable[],
  holdsEvictd: ReadonlySet<string>,
  nodeCgroup: string | undefined,
  criticalPaths: readonly string[],
): ReadonlyMap<string, Protection> {
  const protections = new Map<string, Protection>();
  for (const { path, effect, listed, oomPreference, byKubelet, pod, pending } of workloads) {
    const byMachine: Protection | undefined = holdsEvictd.has(path) ? { kind: 'self' } : listed;
    const isOutside = nodeCgroup !== undefined && !isBelow(path, nodeCgroup);
    const byPod = pod?.is === 'pod' ? pod.protection : undefined;
    const byWhose: Protection | undefined = byKubelet
      ? { kind: 'kubelet' }
      : (byPod ?? pending ?? (isOutside ? { kind: 'outside' } : undefined));
    const byPreference = oomPreference === 'omit' ? besides('omit', byWhose) : byWhose;
    const protection = effect.critical ? besides('critical', byMachine ?? byWhose) : (byMachine ?? byPreference);
    if (protection) protections.set(path, protection);
  }
  for (const path of criticalPaths) protectAbove(protections, path, { name: path, protection: { kind: 'critical' } });
  for (const { name, path } of workloads) {
    const protection = protections.get(path);
    if (protection && EXTENDS_UPWARDS.has(protection.kind)) protectAbove(protections, path, { name, protection });
  }
  // Last, so that a part does not protect its pod.
  for (const { path, pod } of workloads) if (pod?.is === 'part' && !protections.has(path)) protections.set(path, { kind: 'kubelet' });
  return protections;
}

function besides(kind: 'critical' | 'omit', also: Protection | undefined): Protection {
  return { kind, ...(also && { also }) };
}

/**
 * Whether a cgroup that no source reports as a pod is, or is inside of, the cgroup of all pods of a kubelet.
 *
 * @param pending  what a source has yet to report is judged by that
 */
export function isOfKubelet(path: string, pending: Protection | undefined, names: Pick<CgroupNames, 'isNamedByRoot'>): boolean {
  const cgroups = pending === undefined ? withAncestors(path) : [path];
  return cgroups.some((cgroup) => isPodsCgroup(cgroup) && names.isNamedByRoot(cgroup));
}

/** The protection by the list of units that the machine needs, unless a rule lifts it. */
export function listedProtection({ path, effect }: Pick<Protectable, 'path' | 'effect'>, names: NameFacts): Protection | undefined {
  const listed = protectedUnit(path, names);
  if (listed === undefined || (effect.liftProtection && !listed.always)) return undefined;
  return { kind: 'unit', rule: listed.rule, why: listed.why };
}

/** @param isWhole  a user's manager with too much in it to be listed: it may go as a whole, unless it is an operator's */
export function memberProtection(one: Pick<Protectable, 'path' | 'effect'>, isWhole: boolean, facts: NameFacts): Protection | undefined {
  const [, uid] = /\/user@(\d+)\.service$/.exec(one.path) ?? [];
  return isWhole && (uid === undefined || !facts.isOperator(Number(uid))) ? undefined : listedProtection(one, facts);
}

/** Looks at a cgroup that is not a workload as if it were one. */
type LookAt = (cgroup: {
  readonly name: string;
  readonly path: string;
}) => Pick<Protectable, 'effect' | 'oomPreference' | 'byKubelet' | 'pending'>;

/**
 * A protected unit in a slice protects the slice. Checked for the victim only, because units in slices come and go. In a
 * user's manager those beyond the limits of UnitTree do not count: otherwise a user's cgroups could delay or prevent it.
 */
export function protectedBelow(path: string, directory: string, names: NameFacts, lookAt: LookAt): Protection | undefined {
  if (unitPlace(path).kind !== 'slice') return undefined;
  const all = new UnitTree(path, false, () => true);
  let unlisted = 0;
  const units = all.list(directory, {
    follow: () => undefined,
    unfollow: () => undefined,
    unlisted: () => {
      unlisted += 1;
    },
  });
  for (const below of units) {
    const unit = { name: unitNameOf(below.slice(below.lastIndexOf('/') + 1)), path: `${path}/${below}` };
    const found = lookAt(unit);
    if (isProtected(found) || listedProtection({ ...unit, effect: found.effect }, names)) return { kind: 'contains', name: unit.name };
  }
  return unlisted > 0 ? { kind: 'unlisted' } : undefined;
}

/** The maximum number of cgroups in a victim that are checked: more take too long, because an eviction waits. */
const MAX_IN_VICTIM = 512;

/**
 * A kubelet's pods, or a protected container of what is not a container itself. Checked for the victim only, because the
 * search takes time.
 *
 * @param lookAt  undefined: the containers are known as parts of it
 */
export function heldBelow(
  path: string,
  hierarchy: CgroupHierarchy,
  names: Pick<CgroupNames, 'isNamedByRoot' | 'isOwnedByRoot'>,
  lookAt: LookAt | undefined,
): Protection | undefined {
  if (!names.isNamedByRoot(path)) return undefined;
  const containers = new Set<string>(containerScope(path) ? [path] : []);
  for (const below of cgroupsBelow(path, hierarchy, names, isPodsCgroup, MAX_IN_VICTIM)) {
    const name = below.slice(below.lastIndexOf('/') + 1);
    if (isPodsCgroup(below)) return { kind: 'contains', name };
    // The names of containers within a container are not known here.
    if (!lookAt || !containerScope(below) || withAncestors(below).some((above) => containers.has(above))) continue;
    containers.add(below);
    if (isProtected(lookAt({ name, path: below }))) return { kind: 'contains', name };
  }
  return undefined;
}

function isProtected({ effect, oomPreference, byKubelet, pending }: ReturnType<LookAt>): boolean {
  return effect.critical || oomPreference === 'omit' || byKubelet === true || pending !== undefined;
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
    else if (isBesides(own) && own.also === undefined && wouldEndTooEarly(below.protection, own))
      protections.set(above, besides(own.kind, contains));
  }
}

function isBesides(protection: Protection): protection is Extract<Protection, { readonly also?: Protection }> {
  return protection.kind === 'critical' || protection.kind === 'omit';
}

/** Whether the cgroup above, ended last at a shutdown, would end this one too early. */
function wouldEndTooEarly(below: Protection, above: Protection): boolean {
  if (!isBesides(below) || below.also !== undefined) return true;
  return below.kind === 'critical' && above.kind !== 'critical';
}
