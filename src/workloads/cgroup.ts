import { statSync } from 'node:fs';
import { cgroupDirectory, normalCgroupPath, pathBelowMount, withAncestors, type CgroupHierarchy } from '../core/cgroup.js';
import type { Rule } from '../core/rule.js';
import type { Candidates, Protection, UnreadableWorkload, Workload, WorkloadUsage } from '../core/workload.js';
import { errnoName } from '../errors.js';
import type { NodeIdentity, SourceProblem, WorkloadSource } from '../monitor/ports.js';
import type { Binding } from '../native/binding.js';
import { usageOf, workloadOf } from './cgroup-workload.js';
import { Members, type Sampled } from './members.js';
import { OwnProcesses, type OwnProcess } from './own-processes.js';
import { protectionsOf } from './protection.js';
import { compileRules } from './rules.js';

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

/**
 * The cgroup tree as the source of workloads. Opens the files of all that are there now and reads them once. `watched`: the kernel tells who comes and goes,
 * for whoever asks more than once.
 */
export function openWorkloads(config: WorkloadsConfig, native: Binding, node: WorkloadsNode, watched = true): WorkloadSource {
  if (node.hierarchy === undefined) return nothing(config);
  const source = new CgroupWorkloads(config, native, node.hierarchy, node.identity.cgroup, watched);
  source.candidates();
  return source;
}

function nothing(config: WorkloadsConfig): WorkloadSource {
  return {
    candidates: () => ({ usages: [], unreadable: [], timeNs: process.hrtime.bigint() }),
    refresh: () => undefined,
    problems: () =>
      config.workloads.map(({ cgroup }) => ({
        code: 'EVICTD_SOURCE_MISSING',
        message: `workload source ${cgroup}: this machine has no cgroup memory controller`,
        hint: 'mount the cgroup filesystem, and boot without cgroup_disable=memory',
      })),
    close: () => undefined,
  };
}

class CgroupWorkloads implements WorkloadSource {
  readonly #hierarchy: CgroupHierarchy;
  readonly #nodeCgroup: string | undefined;
  readonly #roots: readonly string[];
  readonly #members: Members;
  readonly #effectOf: ReturnType<typeof compileRules>;
  readonly #criticalPaths: readonly string[];
  readonly #own: OwnProcesses;
  #ownProcesses: readonly OwnProcess[];

  constructor(config: WorkloadsConfig, native: Binding, hierarchy: CgroupHierarchy, nodeCgroup: string | undefined, watched: boolean) {
    this.#hierarchy = hierarchy;
    this.#nodeCgroup = nodeCgroup;
    this.#roots = [...new Set(config.workloads.map(({ cgroup }) => normalCgroupPath(cgroup)))];
    this.#effectOf = compileRules(config.rules);
    this.#criticalPaths = config.rules.flatMap(({ critical, match }) =>
      critical && match.path !== undefined && !/[*?]/.test(match.path) ? match.path : [],
    );
    this.#members = new Members(native, hierarchy, this.#roots, this.#effectOf, watched);
    this.#own = new OwnProcesses(hierarchy);
    this.#ownProcesses = this.#own.read();
  }

  candidates(): Candidates {
    const unreadable: UnreadableWorkload[] = [];
    const { occupied, timeNs } = this.#members.read(unreadable);
    const closed = unreadable.map(({ name, path }) => ({ name, path, effect: this.#effectOf({ name, path }) }));
    const protections = protectionsOf(
      [...occupied.map(({ member }) => member), ...closed],
      this.#whatHoldsEvictd(occupied),
      this.#nodeCgroup,
      this.#criticalPaths,
    );
    const usages: WorkloadUsage[] = [];
    for (const { member, sample } of occupied) {
      const { name, path } = member;
      if (sample) usages.push(usageOf(workloadOf(member, sample, protections.get(path)), sample));
      else unreadable.push({ name, path, reason: this.#members.whyUnreadable(member) });
    }
    return { usages, unreadable, timeNs, veto: (workload) => this.#veto(workload), vacant: () => this.#vacant() };
  }

  #vacant(): readonly WorkloadUsage[] {
    return this.#members.vacant().flatMap(({ member, sample }) => (sample ? [usageOf(workloadOf(member, sample, undefined), sample)] : []));
  }

  problems(): readonly SourceProblem[] {
    return [...this.#missing(), ...this.#members.problems()];
  }

  #missing(): readonly SourceProblem[] {
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
    this.#members.close();
    this.#own.close();
  }

  refresh(): void {
    this.#ownProcesses = this.#own.read();
    // So that the kernel's queue does not fill up, and who came since the last tick is open when it matters.
    this.#members.watch();
    this.#members.follow([]);
  }

  /** By the processes that live in it now, whatever their cgroups were at the last tick. */
  #veto({ path }: Workload): Protection | undefined {
    const member = this.#members.get(path);
    const pids = member ? this.#members.processes(member) : [];
    if (pids === undefined) return { kind: 'unlisted' };
    if (pids.length === 0) {
      const found = statSync(cgroupDirectory(this.#hierarchy, path), { bigint: true, throwIfNoEntry: false });
      // Removed, or (v1) renamed: whoever has the name now is another one.
      const gone = found === undefined || (member !== undefined && found.ino !== member.id);
      if (gone && member) this.#members.forget(member);
      return { kind: gone ? 'gone' : 'vacant' };
    }
    return this.#ownProcesses.some(({ pid }) => pids.includes(pid)) ? { kind: 'self' } : undefined;
  }

  /** The paths of all cgroups that evictd or a process it descends from lives in, directly or further below, as of the last tick. */
  #whatHoldsEvictd(occupied: readonly Sampled[]): ReadonlySet<string> {
    const paths = new Set<string>();
    const hidden: number[] = [];
    for (const { pid, cgroup } of this.#ownProcesses) {
      const path = cgroup === undefined ? undefined : pathBelowMount(cgroup, this.#hierarchy);
      if (path === undefined) hidden.push(pid);
      else for (const above of withAncestors(path)) paths.add(above);
    }
    // The name of its cgroup is hidden by a namespace, or lies outside the mount: then the members of each candidate tell.
    if (hidden.length > 0) {
      for (const { member } of occupied) {
        if (this.#members.processes(member)?.some((pid) => hidden.includes(pid))) paths.add(member.path);
      }
    }
    return paths;
  }
}
