import type { Config } from '../../config/config.js';
import { boundPolicies, coversMemoryNodes, type BoundWorkload } from '../../core/oom/bound-policies.js';
import type { ConfiguredPolicy } from '../../core/policy/configured-policy.js';
import { withAncestors, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import type { BoundNodes } from '../../host/linux/memory/memory-nodes.js';
import { selectHost } from '../../host/select.js';
import type { WorkloadSource } from '../../monitor/ports/ports.js';

/** The policies of the memory nodes that workloads are bound to now. A machine with one node reads no workload for it. */
export function policiesOfMemoryNodes(
  cpuset: CgroupHierarchy | undefined,
  workloads: Pick<WorkloadSource, 'candidates'>,
  { departures, thresholds }: Pick<Config, 'departures' | 'thresholds'>,
): readonly ConfiguredPolicy[] {
  const { readMemoryNodes, openBoundNodes } = selectHost();
  if (!coversMemoryNodes(departures, thresholds) || readMemoryNodes().length === 0) return [];
  const paths = workloads.candidates('bounds').usages.map(({ workload }) => workload.path);
  return boundPolicies(boundWorkloads(paths, openBoundNodes(), cpuset?.version === 2), departures, thresholds);
}

/**
 * Those of the cgroups that a cpuset keeps off some memory nodes. Where that is not known, doctor says so.
 *
 * @param isNested  what binds a cgroup binds all below it: v2. On v1 the paths of cpusets are others
 */
export function boundWorkloads(paths: readonly string[], boundNodes: BoundNodes, isNested: boolean): readonly BoundWorkload[] {
  return paths.flatMap((path): BoundWorkload[] => {
    const nodes = boundNodes(path);
    if (!Array.isArray(nodes)) return [];
    const isSame = (above: string): boolean => {
      const others = boundNodes(above);
      return Array.isArray(others) && others.join() === nodes.join();
    };
    const ancestors = isNested ? withAncestors(path) : [];
    const end = ancestors.findIndex((above) => !isSame(above));
    return [{ path, nodes, boundAt: ancestors[end - 1] ?? path }];
  });
}
