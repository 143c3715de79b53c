import type { Departures } from '../../core/decide/departures.js';
import type { CgroupHierarchy } from '../../core/workload/cgroup.js';
import type { Rule } from '../../core/workload/rule.js';
import type { ContainerRuntime, NodeIdentity, UnitManager } from '../../monitor/ports/ports.js';
import type { NodePods } from '../../monitor/ports/node-pods.js';
import type { ContainerNames } from '../cri/container-names.js';
import type { WorkloadSourceSpec } from '../kinds/source-spec.js';

export interface WorkloadsConfig {
  readonly workloads: readonly WorkloadSourceSpec[];
  readonly rules: readonly Rule[];
  /** Left out: page cache is usage as on a kubelet. */
  readonly departures?: Pick<Departures, 'reclaimable-cache'>;
}

/** Sources of facts besides the kernel. The caller closes them. */
export interface FactSources {
  /** undefined: systemd is not asked. */
  readonly units?: UnitManager | undefined;
  readonly runtimes?: readonly ContainerRuntime[];
  /** undefined: no API server is asked, and no pod of a kubelet is evicted. */
  readonly nodePods?: NodePods | undefined;
  /** Left out: the machine's. */
  readonly containerNames?: ContainerNames;
  /** Uids. Left out: the machine's. */
  readonly operators?: ReadonlySet<number>;
  /** The workloads are what these managed cgroups contain (ManagedTree). Left out: those of the sources. */
  readonly managed?: (() => readonly string[]) | undefined;
}

/** The node of the workloads. `hierarchy`: the memory controller's; undefined: none. */
export interface WorkloadsNode {
  readonly identity: NodeIdentity;
  readonly hierarchy: CgroupHierarchy | undefined;
  /** The pids controller's; undefined: none. */
  readonly pids?: CgroupHierarchy | undefined;
  /** v1: other hierarchies in which the service manager may have set preferences for the same cgroups. */
  readonly beside?: readonly CgroupHierarchy[];
}
