import type { Config } from '../../config/config.js';
import { boundPolicies, coversMemoryNodes, type BoundWorkload } from '../../core/oom/bound-policies.js';
import type { ConfiguredPolicy } from '../../core/policy/configured-policy.js';
import { withAncestors, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import type { BoundNodes } from '../../host/linux/memory/memory-nodes.js';
import { selectHost } from '../../host/select.js';
import type { WorkloadSource } from '../../monitor/ports/ports.js';

/** Unless workloads appear or vanish, a change of a cpuset is noticed after so long. */
const AGAIN_NS = 60_000_000_000n;

/** The policies of the memory nodes that workloads are bound to. A machine with one node reads nothing for them. */
export class MemoryNodePolicies {
  /** undefined: the machine has one node. */
  #boundNodes: BoundNodes | undefined;
  #bound: readonly BoundWorkload[] = [];
  #version: number | undefined;
  #dueNs = 0n;

  constructor(
    private readonly cpuset: CgroupHierarchy | undefined,
    private readonly workloads: Pick<WorkloadSource, 'candidates' | 'version'>,
    private readonly config: () => Pick<Config, 'departures' | 'thresholds'>,
    private readonly openBoundNodes: () => BoundNodes | undefined = () => selectHost().openBoundNodes(),
  ) {}

  /**
   * @param nowNs  monotonic
   * @param isNew  evictd has started, or its configuration has changed
   */
  at(nowNs: bigint, isNew: boolean): readonly ConfiguredPolicy[] {
    const { departures, thresholds } = this.config();
    if (isNew) {
      this.#boundNodes = this.openBoundNodes();
      this.#version = undefined;
    }
    if (this.#boundNodes === undefined || !coversMemoryNodes(departures, thresholds)) return [];
    const version = this.workloads.version?.();
    const isChanged = version === undefined || version !== this.#version;
    if (isChanged || nowNs >= this.#dueNs) {
      const { usages, vacant } = this.workloads.candidates('bounds');
      const paths = [...usages, ...(vacant?.() ?? [])].map(({ workload }) => workload.path);
      this.#bound = boundWorkloads(paths, this.#boundNodes, this.cpuset?.version === 2);
      this.#version = version;
      // A runtime binds a cgroup after it has made it: the next tick looks once more.
      this.#dueNs = isChanged ? nowNs : nowNs + AGAIN_NS;
    }
    return boundPolicies(this.#bound, departures, thresholds);
  }
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
