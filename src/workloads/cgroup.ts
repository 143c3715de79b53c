import { readdirSync, statSync } from 'node:fs';
import { cgroupDirectory, isBelow, normalCgroupPath, pathBelowMount, withAncestors, type CgroupHierarchy } from '../core/cgroup.js';
import type { Rule } from '../core/rule.js';
import type { Candidates, Protection, UnreadableWorkload, Workload, WorkloadUsage } from '../core/workload.js';
import { errnoName, errnoText } from '../errors.js';
import type { NodeIdentity, SourceProblem, WorkloadSource } from '../monitor/ports.js';
import type { Binding, CgroupHandle, CgroupTable } from '../native/binding.js';
import { cgroupFiles, type CgroupFiles, type CgroupSample } from './cgroup-files.js';
import { OwnProcesses } from './own-processes.js';
import { compileRules, type RuleEffect } from './rules.js';

export interface WorkloadsConfig {
  /** Paths below the mount of the memory controller; every child is a workload. */
  readonly workloads: readonly { readonly cgroup: string }[];
  readonly rules: readonly Rule[];
}

/** The node whose workloads they are. `hierarchy`: where the memory controller is; undefined: nowhere. */
export interface WorkloadsNode {
  readonly identity: NodeIdentity;
  readonly hierarchy: CgroupHierarchy | undefined;
}

/** The cgroup tree as the source of workloads. Opens the files of all that are there now and reads them once. */
export function openWorkloads(config: WorkloadsConfig, native: Binding, node: WorkloadsNode): WorkloadSource {
  if (node.hierarchy === undefined) return nothing(config);
  const source = new CgroupWorkloads(config, native, node.hierarchy, node.identity.cgroup);
  source.candidates();
  return source;
}

function nothing(config: WorkloadsConfig): WorkloadSource {
  return {
    candidates: () => ({ usages: [], unreadable: [], timeNs: process.hrtime.bigint() }),
    problems: () =>
      config.workloads.map(({ cgroup }) => ({
        code: 'EVICTD_SOURCE_MISSING',
        message: `workload source ${cgroup}: this machine has no cgroup memory controller`,
        hint: 'mount the cgroup filesystem, and boot without cgroup_disable=memory',
      })),
    close: () => undefined,
  };
}

/** A child of a source. */
interface Member {
  readonly name: string;
  readonly path: string;
  readonly row: number;
  readonly id: bigint;
  readonly effect: RuleEffect;
  /** v1: to see whether there are processes in it; v2 has a file for that. */
  readonly handle: CgroupHandle | undefined;
}

/** A member with processes in it, as read in one pass. */
interface Occupied {
  readonly member: Member;
  readonly sample: CgroupSample | undefined;
  readonly pids: readonly number[] | undefined;
}

class CgroupWorkloads implements WorkloadSource {
  readonly #native: Binding;
  readonly #hierarchy: CgroupHierarchy;
  readonly #nodeCgroup: string | undefined;
  readonly #roots: readonly string[];
  readonly #files: CgroupFiles;
  readonly #table: CgroupTable;
  readonly #own: OwnProcesses;
  readonly #effectOf: (workload: { readonly name: string; readonly path: string }) => RuleEffect;
  readonly #members = new Map<string, Member>();

  constructor(config: WorkloadsConfig, native: Binding, hierarchy: CgroupHierarchy, nodeCgroup: string | undefined) {
    this.#native = native;
    this.#hierarchy = hierarchy;
    this.#nodeCgroup = nodeCgroup;
    this.#roots = [...new Set(config.workloads.map(({ cgroup }) => normalCgroupPath(cgroup)))];
    this.#files = cgroupFiles(hierarchy.version);
    this.#table = new native.CgroupTable(this.#files.specs);
    this.#own = new OwnProcesses(hierarchy);
    this.#effectOf = compileRules(config.rules);
  }

  candidates(): Candidates {
    const unreadable: UnreadableWorkload[] = [];
    this.#list(unreadable);
    const timeNs = process.hrtime.bigint();
    this.#table.read();
    this.#replaceRecreated(unreadable);
    const occupied = [...this.#members.values()].flatMap((member) => this.#look(member) ?? []);
    const protections = this.#protections(occupied);
    const usages: WorkloadUsage[] = [];
    for (const { member, sample } of occupied) {
      if (sample) usages.push({ workload: workloadOf(member, sample, protections.get(member.path)), ...usageOf(sample) });
      else unreadable.push({ name: member.name, path: member.path, reason: this.#whyUnreadable(member) });
    }
    return { usages, unreadable, timeNs };
  }

  problems(): readonly SourceProblem[] {
    return this.#roots.flatMap((root): SourceProblem[] => {
      const directory = cgroupDirectory(this.#hierarchy, root);
      try {
        statSync(directory);
        return [];
      } catch (error) {
        const missing = errnoName(error) === 'ENOENT';
        const message = missing
          ? `workload source ${root} does not exist (looked for ${directory})`
          : `workload source ${root}: ${String(error)}`;
        return [
          {
            code: 'EVICTD_SOURCE_MISSING',
            message,
            hint: 'its workloads are candidates as soon as it is there; nothing in it is evicted until then',
          },
        ];
      }
    });
  }

  close(): void {
    for (const member of this.#members.values()) member.handle?.close();
    this.#members.clear();
    this.#table.close();
    this.#own.close();
  }

  /** Brings the table in line with the directories: one row per child of a source. */
  #list(unreadable: UnreadableWorkload[]): void {
    const listed = new Set<string>();
    for (const root of this.#roots) {
      for (const name of childrenOf(cgroupDirectory(this.#hierarchy, root))) {
        const path = root === '/' ? `/${name}` : `${root}/${name}`;
        if (listed.has(path)) continue;
        listed.add(path);
        if (!this.#members.has(path)) this.#add(name, path, unreadable);
      }
    }
    for (const member of this.#members.values()) if (!listed.has(member.path)) this.#remove(member);
  }

  #add(name: string, path: string, unreadable: UnreadableWorkload[]): Member | undefined {
    const directory = cgroupDirectory(this.#hierarchy, path);
    let row: number | undefined;
    try {
      row = this.#table.add(directory);
      const id = this.#table.id(row);
      const handle = this.#hierarchy.version === 1 ? new this.#native.CgroupHandle(directory, id) : undefined;
      const member = { name, path, row, id, handle, effect: this.#effectOf({ name, path }) };
      this.#members.set(path, member);
      return member;
    } catch (error) {
      if (row !== undefined) this.#table.remove(row);
      const errno = errnoName(error);
      // ENOENT: removed since it was listed; ESTALE: removed and made again since then. The next pass sees it.
      if (errno !== 'ENOENT' && errno !== 'ESTALE') unreadable.push({ name, path, reason: String(error) });
      return undefined;
    }
  }

  #remove(member: Member): void {
    member.handle?.close();
    this.#table.remove(member.row);
    this.#members.delete(member.path);
  }

  /** A row whose cgroup was removed is dropped; if another has its name by now, that one is a workload of its own. */
  #replaceRecreated(unreadable: UnreadableWorkload[]): void {
    for (const member of [...this.#members.values()]) {
      if (this.#table.errors[member.row] !== ENODEV) continue;
      this.#remove(member);
      const added = this.#add(member.name, member.path, unreadable);
      if (added) this.#table.read([added.row]);
    }
  }

  /** undefined: no process lives in it, so there is nothing to evict. */
  #look(member: Member): Occupied | undefined {
    if (this.#table.errors[member.row] === ENODEV) return undefined;
    const row = this.#row(member);
    if (this.#files.populated(row) === false) return undefined;
    const pids = processesOf(member.handle);
    if (pids?.length === 0) return undefined;
    return { member, pids, sample: this.#files.sample(row) };
  }

  #row({ row }: Member): Float64Array {
    const { columns, values } = this.#table;
    return values.subarray(row * columns, (row + 1) * columns);
  }

  #protections(occupied: readonly Occupied[]): ReadonlyMap<string, Protection> {
    const holdsEvictd = this.#whatHoldsEvictd(occupied);
    const protections = new Map<string, Protection>();
    for (const { member } of occupied) {
      const protection = this.#protectionOf(member, holdsEvictd);
      if (protection) protections.set(member.path, protection);
    }
    for (const { member } of occupied) {
      const kind = protections.get(member.path)?.kind;
      if (kind !== 'critical' && kind !== 'self') continue;
      for (const above of withAncestors(member.path).slice(1)) {
        if (!protections.has(above)) protections.set(above, { kind: 'contains', name: member.name });
      }
    }
    return protections;
  }

  #protectionOf({ path, effect }: Member, holdsEvictd: ReadonlySet<string>): Protection | undefined {
    if (effect.critical) return { kind: 'critical' };
    if (holdsEvictd.has(path)) return { kind: 'self' };
    if (this.#nodeCgroup !== undefined && !isBelow(path, this.#nodeCgroup)) return { kind: 'outside' };
    return undefined;
  }

  /** The paths of all cgroups that evictd or a process it descends from lives in, directly or further below. */
  #whatHoldsEvictd(occupied: readonly Occupied[]): ReadonlySet<string> {
    const paths = new Set<string>();
    const hidden: number[] = [];
    for (const { pid, cgroup } of this.#own.read()) {
      const path = cgroup === undefined ? undefined : pathBelowMount(cgroup, this.#hierarchy);
      if (path === undefined) hidden.push(pid);
      else for (const above of withAncestors(path)) paths.add(above);
    }
    // The name of its cgroup is hidden by a namespace, or lies outside the mount: then the members of each candidate tell.
    if (hidden.length > 0) {
      for (const { member, pids } of occupied) {
        if ((pids ?? this.#processesOf(member)).some((pid) => hidden.includes(pid))) paths.add(member.path);
      }
    }
    return paths;
  }

  #processesOf(member: Member): readonly number[] {
    try {
      const handle = new this.#native.CgroupHandle(cgroupDirectory(this.#hierarchy, member.path), member.id);
      const pids = processesOf(handle);
      handle.close();
      return pids ?? [];
    } catch {
      return []; // removed meanwhile
    }
  }

  #whyUnreadable({ row }: Member): string {
    const errno = this.#table.errors[row] ?? 0;
    return errno === ENOENT
      ? `it has no ${this.#files.usageFile}: the memory controller is not enabled for it`
      : `${this.#files.usageFile}: ${errnoText(errno)}`;
  }
}

const ENOENT = 2;
const ENODEV = 19;

/** undefined: not known, which is not the same as none. */
function processesOf(handle: CgroupHandle | undefined): readonly number[] | undefined {
  try {
    return handle?.processes();
  } catch {
    return undefined;
  }
}

function childrenOf(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
  } catch {
    return []; // `problems` says so
  }
}

function workloadOf({ name, path, id, effect }: Member, { guaranteedBytes }: CgroupSample, protection: Protection | undefined): Workload {
  return {
    id: `${path}#${String(id)}`,
    name,
    path,
    priority: effect.priority,
    requests: { memory: effect.requestsMemory ?? guaranteedBytes },
    terminationGracePeriodNs: effect.terminationGracePeriodNs,
    startOrder: id,
    protection,
  };
}

function usageOf({ workingSetBytes, usageBytes }: CgroupSample): Omit<WorkloadUsage, 'workload'> {
  return { workingSetBytes, usageBytes };
}
