/**
 * Run in a process of its own, because it moves itself from cgroup to cgroup: prints, for each move, the workloads and their protection as JSON.
 * Argument: {"hierarchy": …, "sources": [paths], "moves": [directories]}.
 */
import { writeFileSync } from 'node:fs';
import type { CgroupHierarchy } from '../../src/core/cgroup.js';
import { native } from '../../src/native/index.js';
import { openWorkloads } from '../../src/workloads/cgroup.js';

interface Task {
  readonly hierarchy: CgroupHierarchy;
  readonly sources: readonly string[];
  readonly moves: readonly string[];
}
const { hierarchy, sources, moves } = JSON.parse(process.argv[2] ?? '') as Task;
const identity = { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy.version };
const source = openWorkloads({ workloads: sources.map((cgroup) => ({ cgroup })), rules: [] }, native, { identity, hierarchy });
const seen = moves.map((directory) => {
  writeFileSync(`${directory}/cgroup.procs`, String(process.pid));
  return Object.fromEntries(source.candidates().usages.map(({ workload }) => [workload.name, workload.protection?.kind ?? 'none']));
});
source.close();
process.stdout.write(JSON.stringify(seen));
