import { cgroupDirectory, withAncestors, type CgroupHierarchy } from '../../core/cgroup.js';
import type { FileSpec } from '../../native/binding.js';
import { firstError, type KernelSource, type Missing } from './kernel-source.js';

/** Process ids of a level: the machine, the node's cgroup, or one above it. */
export interface PidsLevel {
  readonly available: bigint;
  readonly capacity: bigint;
  readonly source: string;
  /** What counts those that are used. */
  readonly file: FileSpec;
}

/** All levels that have a limit, and the one with the least left. */
export interface PidsReading {
  readonly narrowest: PidsLevel;
  readonly levels: readonly PidsLevel[];
}

/**
 * pid.available. The machine's as the kubelet has it: min(kernel.pid_max, kernel.threads-max) minus the tasks that exist, threads included, as
 * /proc/loadavg counts them (kubelet: stats/pidlimit/pidlimit_linux.go). Where the node is a cgroup, pids.max − pids.current of it and of each
 * cgroup above it too; the level with the least left counts.
 */
export function pidsSource(
  cgroup: { readonly hierarchy: CgroupHierarchy; readonly path: string } | undefined,
): KernelSource<PidsReading | Missing> {
  const tasksFile: FileSpec = { path: '/proc/loadavg', format: 'loadavg' };
  const machine: FileSpec[] = [
    { path: '/proc/sys/kernel/pid_max', format: 'number' },
    { path: '/proc/sys/kernel/threads-max', format: 'number' },
    tasksFile,
  ];
  const cgroups = (cgroup === undefined ? [] : withAncestors(cgroup.path)).map((path) => {
    const directory = cgroup === undefined ? '' : cgroupDirectory(cgroup.hierarchy, path);
    const limit: FileSpec = { path: `${directory}/pids.max`, format: 'number' };
    const file: FileSpec = { path: `${directory}/pids.current`, format: 'number' };
    return { path, limit, file };
  });
  return {
    files: [...machine, ...cgroups.flatMap(({ limit, file }) => [limit, file])],
    read: (values, errors) => {
      const missing = firstError(machine, errors.subarray(0, machine.length));
      if (missing) return missing;
      const [pidMax = NaN, threadsMax = NaN, tasks = NaN] = values;
      let narrowest = level(Math.min(pidMax, threadsMax), tasks, 'min(pid_max, threads-max) − tasks of /proc/loadavg', tasksFile);
      const levels = [narrowest];
      cgroups.forEach(({ path, file }, index) => {
        const max = values[machine.length + 2 * index] ?? NaN;
        const current = values[machine.length + 2 * index + 1] ?? NaN;
        if (!Number.isFinite(max) || Number.isNaN(current)) return; // no such cgroup there, or no limit
        const candidate = level(max, current, `pids.max − pids.current of ${path}`, file);
        levels.push(candidate);
        if (candidate.available < narrowest.available) narrowest = candidate;
      });
      return { narrowest, levels };
    },
  };
}

function level(capacity: number, used: number, source: string, file: FileSpec): PidsLevel {
  return { available: BigInt(Math.max(capacity - used, 0)), capacity: BigInt(capacity), source, file };
}
