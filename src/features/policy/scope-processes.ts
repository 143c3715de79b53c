import { statSync } from 'node:fs';
import { fsPath } from '../../byte-paths.js';
import { cgroupDirectory, isBelow, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import type { WorkloadProcess } from '../../core/workload/process.js';
import type { Workload } from '../../core/workload/workload.js';
import { groupFinder, type OomRoots } from '../../host/linux/oom/oom-domain.js';
import { memcgOf } from '../../host/linux/oom/oom-processes.js';
import { endableProcess, sessionLeaders } from '../../host/linux/process/endable-processes.js';
import type { Binding, CgroupHandle } from '../../native/binding.js';

/** The maximum number of processes: one takes about 50 µs, and evictd does nothing else meanwhile. */
const MAX_PROCESSES = 2048;

/**
 * The processes of these workloads that may be ended. One in nested workloads belongs to the innermost. Where a process that
 * must not be ended is in a cgroup with memory.oom.group within a workload, none of that cgroup is.
 */
export function readProcesses(native: Binding, hierarchy: CgroupHierarchy, workloads: readonly Workload[]): readonly WorkloadProcess[] {
  const leaders = sessionLeaders();
  const pathOf = new Map<number, string>();
  for (const { path, startOrder } of workloads) {
    if (pathOf.size >= MAX_PROCESSES) break;
    for (const pid of pidsIn(native, cgroupDirectory(hierarchy, path), startOrder)) {
      if ((pathOf.get(pid) ?? '').length < path.length) pathOf.set(pid, path);
    }
  }
  const groups = new OomGroups(hierarchy);
  const found = [...pathOf].slice(0, MAX_PROCESSES).flatMap(([pid, path]) => {
    const group = groups.of(pid);
    const one = endableProcess(pid, path, leaders);
    if (one === 'kept') groups.keep(group, path);
    else if (one !== undefined) groups.add(group, one);
    return one === undefined || one === 'kept' ? [] : [{ one, group }];
  });
  return found.flatMap(({ one, group }) => groups.withGroup(one, group) ?? []);
}

/** The cgroups that end as a whole, for one reading. */
class OomGroups {
  readonly #roots: OomRoots;
  readonly #finder: ReturnType<typeof groupFinder>;
  readonly #kept = new Set<string>();
  readonly #anonBytes = new Map<string, bigint>();

  constructor(private readonly hierarchy: CgroupHierarchy) {
    this.#roots = { proc: '/proc', hierarchy };
    this.#finder = groupFinder(undefined, this.#roots);
  }

  of(pid: number): string | undefined {
    if (this.hierarchy.version !== 2) return undefined;
    const cgroup = memcgOf(pid, this.#roots);
    return cgroup === undefined ? undefined : this.#finder(cgroup);
  }

  /** A process of it must not be ended. What is not within the workload ends with the workload, which may. */
  keep(group: string | undefined, workload: string): void {
    if (group !== undefined && isBelow(group, workload)) this.#kept.add(group);
  }

  add(group: string | undefined, { anonBytes }: WorkloadProcess): void {
    if (group !== undefined) this.#anonBytes.set(group, (this.#anonBytes.get(group) ?? 0n) + anonBytes);
  }

  /** undefined: it is not ended, because its group is not. */
  withGroup(one: WorkloadProcess, path: string | undefined): WorkloadProcess | undefined {
    if (path === undefined) return one;
    const directory = statSync(fsPath(cgroupDirectory(this.hierarchy, path)), { bigint: true, throwIfNoEntry: false });
    if (directory === undefined || this.#kept.has(path)) return undefined;
    return { ...one, group: { path, id: directory.ino, anonBytes: this.#anonBytes.get(path) ?? 0n } };
  }
}

function pidsIn(native: Binding, directory: string, id: bigint): readonly number[] {
  let handle: CgroupHandle | undefined;
  try {
    handle = new native.CgroupHandle(directory, id);
    return handle.processes();
  } catch {
    return []; // removed, or too many cgroups to list
  } finally {
    handle?.close();
  }
}
