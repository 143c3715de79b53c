import { cgroupDirectory, withAncestors, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { FileSpec } from '../../../native/binding.js';
import { firstError, type KernelSource, type Missing } from '../sampling/kernel-source.js';
import { level, narrowestOf, type LevelReading } from '../sampling/level.js';

/**
 * pid.available. Machine: min(kernel.pid_max, kernel.threads-max) − existing tasks, threads included (/proc/loadavg;
 * kubelet: stats/pidlimit/pidlimit_linux.go). Cgroup: also pids.max − pids.current of it and each ancestor; the level
 * with the least left counts.
 */
export function pidsSource(
  cgroup: { readonly hierarchy: CgroupHierarchy; readonly path: string } | undefined,
): KernelSource<LevelReading | Missing> {
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
      const levels = cgroups.flatMap(({ path, file }, index) => {
        const max = values[machine.length + 2 * index] ?? NaN;
        const current = values[machine.length + 2 * index + 1] ?? NaN;
        if (!Number.isFinite(max) || Number.isNaN(current)) return []; // no such cgroup, or no limit
        return [level(max, current, { source: `pids.max − pids.current of ${path}`, used: { files: [file], weights: [1] } })];
      });
      const source = 'min(pid_max, threads-max) − tasks of /proc/loadavg';
      return narrowestOf(level(Math.min(pidMax, threadsMax), tasks, { source, used: { files: [tasksFile], weights: [1] } }), levels);
    },
  };
}
