import { cgroupDirectory, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { isLiteral } from '../../core/workload/glob.js';
import type { LoadedUnit } from '../../core/systemd/loaded-unit.js';
import { unitPlace, type UnitCgroup } from '../../core/systemd/unit.js';
import type { Candidates, OomPreference, Protection, UnreadableWorkload, Workload, WorkloadUsage } from '../../core/workload/workload.js';
import { innermost, type WorkloadSources } from '../../core/workload/workload-source.js';
import type { CandidateReading, SourceProblem, UnitManager, WorkloadSource } from '../../monitor/ports/ports.js';
import type { Binding } from '../../native/binding.js';
import { type CgroupSample, processCount } from './cgroup-files.js';
import { ContainerNames } from '../cri/container-names.js';
import { CgroupNames } from './cgroup-names.js';
import { KnownWorkloads, usageOf } from './cgroup-workload.js';
import { inodeOf, type Member, type SourceRoot } from './source-root.js';
import { Members } from './members.js';
import { OomPreferences, readOomPreference } from './oom-preference.js';
import { missingSources, noWorkloads } from './missing-sources.js';
import type { FactSources, WorkloadsConfig, WorkloadsNode } from './workloads-node.js';
import { KnownProtections } from './known-protections.js';
import { cgroupsHolding, holdsAny, OwnProcesses, type OwnProcess } from './own-processes.js';
import { heldBelow, isOfKubelet, listedProtection, protectedBelow, protectionsOf, type Protectable } from './protection.js';
import { compileRules, matchingNames } from '../workload-rules.js';
import { ReportedRoot, ReportedWorkloads } from '../cri/reported-workloads.js';
import * as kubernetes from '../kubernetes/pod-cgroups.js';
import { cgroupsOf } from '../kinds/source-spec.js';
import { managedRoot, mayPrefer } from '../systemd/managed-tree.js';
import { rootsOf } from '../systemd/unit-tree.js';

/**
 * Opens the cgroup tree as a source of workloads, and reads it once.
 *
 * @param watched  the kernel reports changes, for repeated reading
 */
export function openWorkloads(
  config: WorkloadsConfig,
  native: Binding,
  node: WorkloadsNode,
  watched = true,
  facts: FactSources = {},
): WorkloadSource {
  if (node.hierarchy === undefined) return noWorkloads(config.workloads);
  const source = new CgroupWorkloads(config, native, { ...node, hierarchy: node.hierarchy }, watched, facts);
  source.candidates();
  return source;
}

/** Up to this number of workloads a pass reads the working sets of all, even if only the first must be known. */
const FEW = 16;

type PodFacts<E> = Pick<Protectable, 'byKubelet' | 'pod' | 'pending'> & { readonly effect: E };

class CgroupWorkloads implements WorkloadSource {
  readonly #hierarchy: CgroupHierarchy;
  readonly #pids: CgroupHierarchy | undefined;
  readonly #nodeCgroup: string | undefined;
  readonly #sources: WorkloadSources;
  readonly #roots: readonly SourceRoot[];
  readonly #reported: ReportedWorkloads;
  readonly #containerNames: ContainerNames;
  readonly #names: CgroupNames;
  readonly #members: Members;
  readonly #units: UnitManager | undefined;
  readonly #preferenceOf: (path: string) => OomPreference | undefined;
  readonly #preferences: OomPreferences;
  /** A preference has changed, so others may have, too. */
  #preferencesChanged = false;
  readonly #effectOf: ReturnType<typeof compileRules>;
  readonly #criticalPaths: readonly string[];
  readonly #matchesNames: ReturnType<typeof matchingNames>;
  readonly #own: OwnProcesses;
  #ownProcesses: readonly OwnProcess[];
  readonly #protections = new KnownProtections();
  readonly #workloads = new KnownWorkloads();
  readonly version = (): number => this.#members.version;
  readonly #isOwn = (path: string): boolean => this.#members.get(path) !== undefined && this.#reported.holding(path) === undefined;

  constructor(
    config: WorkloadsConfig,
    native: Binding,
    { hierarchy, pids, beside = [], identity }: WorkloadsNode & { readonly hierarchy: CgroupHierarchy },
    watched: boolean,
    { units, runtimes = [], nodePods, containerNames = new ContainerNames(!watched), operators, managed }: FactSources,
  ) {
    this.#units = units;
    this.#hierarchy = hierarchy;
    this.#pids = pids;
    this.#nodeCgroup = identity.cgroup;
    this.#sources = cgroupsOf(config.workloads);
    this.#roots = managed ? [managedRoot(managed, hierarchy)] : rootsOf(this.#sources, hierarchy, watched ? native : undefined);
    this.#names = new CgroupNames(hierarchy, operators);
    const reporters = [
      ...(nodePods && this.#sources.apiServer ? [new kubernetes.PodCgroups(nodePods, hierarchy, this.#names)] : []),
      ...this.#sources.endpoints.flatMap((endpoint) => runtimes.filter((runtime) => runtime.endpoint === endpoint)),
    ];
    const reportedRoots = reporters.map((reporter) => new ReportedRoot(reporter, hierarchy.mountPoint));
    this.#reported = new ReportedWorkloads(reportedRoots);
    this.#containerNames = containerNames;
    const effectOf = compileRules(config.rules);
    this.#effectOf = (named) => effectOf({ ...named, labels: this.#reported.labelsAt(named.path) });
    this.#criticalPaths = config.rules.flatMap(({ critical, match }) =>
      critical && match.path !== undefined && isLiteral(match.path) ? match.path : [],
    );
    this.#matchesNames = matchingNames(config.rules);
    this.#preferenceOf = (path) =>
      readOomPreference(
        native,
        [hierarchy, ...beside].map((one) => cgroupDirectory(one, path)),
        managed && (() => mayPrefer(path, managed(), hierarchy)),
      ) ?? (hierarchy.version === 1 ? this.#loadedPreference(path) : undefined);
    this.#preferences = new OomPreferences(this.#preferenceOf);
    this.#members = new Members(native, {
      hierarchy,
      roots: [...reportedRoots, ...this.#roots],
      effectOf: this.#effectOf,
      countsCache: config.departures?.['reclaimable-cache'] !== true,
      preferences: this.#preferences,
      containerNames: this.#containerNames,
      names: this.#names,
    });
    this.#own = new OwnProcesses(hierarchy);
    this.#ownProcesses = this.#own.read();
  }

  candidates(reading: CandidateReading = 'all'): Candidates {
    const isBounds = reading !== 'all' && this.#members.count > FEW;
    const unreadable: UnreadableWorkload[] = [];
    this.#reported.follow();
    this.#refreshPreferences();
    const { occupied, timeNs } = this.#members.read(unreadable, isBounds);
    const closed = unreadable.map(({ name, path }) => {
      const effect = this.#effectOf({ name, path });
      return { name, path, listed: listedProtection({ path, effect }, this.#names), ...this.#podFacts({ path, effect }) };
    });
    const facts = {
      own: this.#ownProcesses,
      changes: this.#preferences.version + this.#reported.version,
      isComplete: closed.length === 0 && this.#matchesNames === undefined,
    };
    const protections = this.#protections.of(occupied, facts, () => {
      const all = occupied.map(({ member }) => ({ ...member, oomPreference: this.#preferences.of(member), ...this.#podFacts(member) }));
      // As of the last tick.
      const holding = cgroupsHolding(this.#ownProcesses, this.#hierarchy, (hidden) => this.#members.listing(hidden, occupied));
      return protectionsOf([...all, ...closed], holding, this.#nodeCgroup, this.#criticalPaths);
    });
    const usages: WorkloadUsage[] = [];
    for (const { member, sample } of occupied) {
      if (sample) usages.push(this.#usage(member, sample, protections.get(member.path)));
      else unreadable.push({ name: member.name, path: member.path, reason: this.#members.whyUnreadable(member) });
    }
    return {
      usages,
      unreadable,
      timeNs,
      awaitedRuntimes: this.#reported.awaited(),
      ...(isBounds && { measure: this.#measuring(usages) }),
      veto: (workload) => this.#veto(workload),
      processes: () => this.#processes(usages),
      vacant: () => this.#vacant(),
    };
  }

  /** Reads one of them completely, and replaces it. */
  #measuring(usages: WorkloadUsage[]): NonNullable<Candidates['measure']> {
    let indices: ReadonlyMap<Workload, number> | undefined;
    return (workload) => {
      const member = this.#members.get(workload.path);
      const sample = member?.id === workload.startOrder ? this.#members.measure(member) : undefined;
      if (sample === undefined) return undefined;
      const measured = usageOf(workload, sample);
      indices ??= new Map(usages.map((usage, index) => [usage.workload, index]));
      const index = indices.get(workload);
      if (index !== undefined) usages[index] = measured;
      return measured.stats;
    };
  }

  #processes(usages: readonly WorkloadUsage[]): ReadonlyMap<string, bigint> {
    const counts = new Map<string, bigint>();
    for (const { workload } of usages) {
      const member = this.#members.get(workload.path);
      const count = member && processCount(this.#pids, member.path, () => this.#members.processes(member));
      if (count !== undefined) counts.set(workload.id, count);
    }
    return counts;
  }

  #vacant(): readonly WorkloadUsage[] {
    return this.#members.vacant().flatMap(({ member, sample }) => (sample ? [this.#usage(member, sample, undefined)] : []));
  }

  #usage(member: Member, sample: CgroupSample, protection: Protection | undefined): WorkloadUsage {
    const reported = { runtime: this.#reported.runtimeAt(member.path), pod: this.#reported.at(member.path)?.pod };
    const known = { oomPreference: this.#preferences.of(member), protection, loaded: this.#loaded(member.unit), ...reported };
    return usageOf(this.#workloads.of(member, sample, known), sample);
  }

  /** Reads all if one has changed, else those that have a preference. */
  #refreshPreferences(): void {
    if (this.#preferencesChanged) for (const member of this.#members.all()) this.#preferences.look(member);
    else this.#preferences.refresh();
    this.#preferencesChanged = false;
  }

  /** systemd's facts about a system unit with this cgroup. */
  #loaded(unit: UnitCgroup | undefined): LoadedUnit | undefined {
    if (unit?.manager !== 'system') return undefined;
    const loaded = this.#units?.unit(unit.name);
    return loaded?.controlGroup === unit.path ? loaded : undefined;
  }

  /** systemd does not report changes; on v2 the attribute is more current. */
  #loadedPreference(path: string): OomPreference | undefined {
    const { unit } = unitPlace(path);
    const preference = unit?.path === path ? this.#loaded(unit)?.managedOomPreference : undefined;
    return preference === 'none' ? undefined : preference;
  }

  holding(cgroup: string): { readonly name: string; readonly path: string } | undefined {
    const found = innermost([this.#reported.holding(cgroup), this.#sources.holding(cgroup)].filter((held) => held !== undefined));
    if (found === undefined) return undefined;
    const { name, path } = found;
    return { name: this.#reported.at(path)?.name ?? this.#members.get(path)?.name ?? name, path };
  }

  /** Facts from the pod above. */
  #podFacts<E extends Protectable['effect']>({ path, effect }: { readonly path: string; readonly effect: E }): PodFacts<E> {
    const above = this.#reported.above(path);
    const isInCritical = above !== undefined && (this.#members.get(above.path)?.effect ?? this.#effectOf(above)).critical;
    const found = this.#reported.at(path);
    const { pod, runtime } = found ?? above ?? {};
    const pending = this.#pending(path);
    const byKubelet = pod === undefined && (runtime?.byKubelet ?? isOfKubelet(path, pending, this.#names));
    const ofPod = pod && (found ? { is: 'pod' as const, protection: pod.workload.protection } : { is: 'part' as const });
    return { effect: isInCritical ? { ...effect, critical: true } : effect, byKubelet, pod: ofPod, pending };
  }

  #pending(path: string): Protection | undefined {
    const missing = this.#matchesNames && this.#reported.holding(path) === undefined ? this.#containerNames.missing(path) : undefined;
    if (missing !== undefined && this.#matchesNames?.(path))
      return { kind: 'unreported', what: missing === 'pending' ? 'name' : 'lost name' };
    const isAwaited = this.#reported.isAwaited(path) && this.#names.isNamedByRoot(path);
    return isAwaited ? { kind: 'unreported', what: 'pod' } : undefined;
  }

  problems(): readonly SourceProblem[] {
    const isUnnamed = (path: string): boolean => this.#isOwn(path) && this.#matchesNames?.(path) === true;
    return [...missingSources(this.#roots), ...this.#members.problems(), ...this.#containerNames.problems(isUnnamed)];
  }

  close(): void {
    this.#members.close();
    this.#own.close();
    this.#units?.unfollow(this);
  }

  refresh(): void {
    this.#ownProcesses = this.#own.read();
    this.#containerNames.retry(this.#isOwn);
    // Empties the kernel's queue, and opens new cgroups before they are needed.
    this.#members.watch();
    this.#reported.follow();
    this.#members.follow([]);
    this.#units?.follow(this.#unitNames(), this);
  }

  *#unitNames(): Iterable<string> {
    for (const { unit } of this.#members.all()) if (unit?.manager === 'system') yield unit.name;
  }

  /** Checks the processes that live in it now. On v2 they need not be listed. */
  #veto({ path }: Workload): Protection | undefined {
    const member = this.#members.get(path);
    let holdsEvictd = member && this.#members.isPopulated(member) ? holdsAny(path, this.#own.read(), this.#hierarchy) : undefined;
    let pids = holdsEvictd === undefined && member ? this.#members.processes(member) : [];
    if (pids === 'too many') {
      holdsEvictd = holdsAny(path, this.#own.read(), this.#hierarchy);
      pids = holdsEvictd === undefined ? undefined : [];
    }
    if (pids === undefined) return { kind: 'unlisted' };
    if (holdsEvictd === undefined && pids.length === 0) {
      const inode = inodeOf(cgroupDirectory(this.#hierarchy, path));
      // Removed, or (v1) renamed: the name then belongs to another cgroup.
      const isRemoved = inode === undefined || (member !== undefined && inode !== member.id);
      if (isRemoved && member) this.#members.forget(member);
      return { kind: isRemoved ? 'removed' : 'vacant' };
    }
    if (holdsEvictd || this.#ownProcesses.some(({ pid }) => pids.includes(pid))) return { kind: 'self' };
    // Before `changed`, which only postpones an eviction.
    const lookAt = (cgroup: { readonly name: string; readonly path: string }) => {
      const named = { ...cgroup, name: this.#containerNames.of(cgroup.path, () => this.#names.namer(cgroup.path)) ?? cgroup.name };
      return { oomPreference: this.#preferenceOf(cgroup.path), ...this.#podFacts({ path: cgroup.path, effect: this.#effectOf(named) }) };
    };
    const below =
      protectedBelow(path, cgroupDirectory(this.#hierarchy, path), this.#names, lookAt) ??
      heldBelow(path, this.#hierarchy, this.#names, this.#reported.holding(path) ? undefined : lookAt);
    if (below !== undefined) return below;
    if (!member || !this.#preferences.look(member)) return undefined;
    this.#preferencesChanged = true;
    return { kind: 'changed' };
  }
}
