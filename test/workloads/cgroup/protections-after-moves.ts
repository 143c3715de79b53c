/**
 * Run in a process of its own, because it moves itself from cgroup to cgroup: prints, for each move, the workloads and
 * their protection as JSON. Argument: {"hierarchy": …, "sources": [paths], "moves": [directories], "by": "ranking" or
 * "veto"}.
 */
import { writeFileSync } from 'node:fs';
import type { CgroupHierarchy } from '../../../src/core/workload/cgroup.js';
import type { Workload } from '../../../src/core/workload/workload.js';
import { native } from '../../../src/native/index.js';
import { openWorkloads } from '../../../src/workloads/cgroup/cgroup-workloads.js';

interface Task {
  readonly hierarchy: CgroupHierarchy;
  readonly sources: readonly string[];
  readonly moves: readonly string[];
  /** What is asked: the ranking after a tick, or the veto without one. */
  readonly by: 'ranking' | 'veto';
}
const { by, hierarchy, sources, moves } = JSON.parse(process.argv[2] ?? '') as Task;
const identity = { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy.version };
const source = openWorkloads({ workloads: sources.map((cgroup) => ({ cgroup })), rules: [] }, native, { identity, hierarchy });
const seen = moves.map((directory) => {
  writeFileSync(`${directory}/cgroup.procs`, String(process.pid));
  if (by === 'ranking') source.refresh();
  const found = source.candidates();
  const kindOf = (workload: Workload): string | undefined => (by === 'ranking' ? workload.protection : found.veto?.(workload))?.kind;
  const inhabited = found.usages.filter(({ workload }) => found.veto?.(workload)?.kind !== 'vacant');
  return Object.fromEntries(inhabited.map(({ workload }) => [workload.name, kindOf(workload) ?? 'none']));
});
source.close();
process.stdout.write(JSON.stringify(seen));
