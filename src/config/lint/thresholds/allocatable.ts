import { isBelow, normalCgroupPath } from '../../../core/workload/cgroup.js';
import { slicePath } from '../../../core/systemd/unit.js';
import { cgroupSelection, type WorkloadSourceSpec } from '../../../workloads/kinds/source-spec.js';
import type { LintRule } from '../lint-rule.js';
import type { Finding } from '../finding.js';
import type { LintSubject } from '../subject.js';

/**
 * Sources outside allocatable.cgroup: evictd does not evict their workloads for allocatableMemory.available, because
 * that would not help.
 */
export function lintAllocatable({ thresholds, workloads, allocatable }: LintSubject): Finding[] {
  if (allocatable === undefined || !thresholds.some(({ signal }) => signal === 'allocatableMemory.available')) return [];
  const cgroup = normalCgroupPath(allocatable.cgroup);
  return workloads.flatMap((source, index): Finding[] => {
    const outside = placesOf(source).filter(({ path }) => path !== cgroup && !isBelow(path, cgroup));
    return outside.map(({ name, path }): Finding => {
      const some = isBelow(cgroup, path) ? 'some workloads' : 'the workloads';
      return {
        level: 'warn',
        code: 'EVICTD_LINT_OUTSIDE_ALLOCATABLE',
        message: `${some} of ${name} are outside allocatable.cgroup (${cgroup}): evictd does not evict them for allocatableMemory.available`,
        hint: 'name a cgroup that holds all sources, or add a threshold of memory.available for the others',
        key: `workloads[${String(index)}]`,
      };
    });
  });
}

function placesOf(source: WorkloadSourceSpec): readonly { readonly name: string; readonly path: string }[] {
  const { parents = [], slices = [] } = cgroupSelection(source) ?? {}; // where pods and named units are is unknown here
  return [...parents.map((path) => ({ name: path, path })), ...slices.map((name) => ({ name, path: slicePath(name) }))];
}

export const allocatableRule: LintRule = {
  codes: ['EVICTD_LINT_OUTSIDE_ALLOCATABLE'],
  find: lintAllocatable,
};
