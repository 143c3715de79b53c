import { cgroupDirectory, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import type { WorkloadProcess } from '../../core/workload/process.js';
import type { Workload } from '../../core/workload/workload.js';
import { endableProcess, sessionLeaders } from '../../host/linux/process/endable-processes.js';
import type { Binding, CgroupHandle } from '../../native/binding.js';

/** One takes about 40 µs, and evictd does nothing else meanwhile. */
const MAX_PROCESSES = 2048;

/** The processes of these workloads that may be ended alone. One in nested workloads belongs to the innermost. */
export function readProcesses(native: Binding, hierarchy: CgroupHierarchy, workloads: readonly Workload[]): readonly WorkloadProcess[] {
  const leaders = sessionLeaders();
  const pathOf = new Map<number, string>();
  for (const { path, startOrder } of workloads) {
    if (pathOf.size >= MAX_PROCESSES) break;
    for (const pid of pidsIn(native, cgroupDirectory(hierarchy, path), startOrder)) {
      if ((pathOf.get(pid) ?? '').length < path.length) pathOf.set(pid, path);
    }
  }
  return [...pathOf].slice(0, MAX_PROCESSES).flatMap(([pid, path]) => endableProcess(pid, path, leaders) ?? []);
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
