import type { CgroupFacts } from '../../host/facts/cgroup-facts.js';
import type { DaemonsFacts } from '../../host/facts/daemon-facts.js';
import type { FilesystemFacts } from '../../host/facts/filesystem-facts.js';
import type { ClockFacts, KernelFacts, KernelLogFacts, MemoryFacts, PressureFacts } from '../../host/facts/kernel-facts.js';
import type { NodeFacts } from './facts/node-facts.js';
import type { InstanceFacts, ReloadFacts, RuntimeFacts, ServiceFacts, SubjectFacts } from '../../host/facts/process-facts.js';
import type { ReclaimFacts } from './facts/reclaim-facts.js';
import type { ShutdownFacts } from './facts/shutdown-facts.js';
import type { RightsFacts, VolumeFacts, WindowsServiceFacts } from './facts/windows-facts.js';
import type { WorkloadFacts } from './facts/workload-facts.js';

/** What checks read on every platform. */
export interface CommonFacts {
  /** The version of this program. */
  readonly version: string;
  readonly runtime: RuntimeFacts;
  readonly instance: InstanceFacts;
  readonly reload: ReloadFacts;
  readonly node: NodeFacts;
  readonly workloads: WorkloadFacts;
}

export interface LinuxFacts extends CommonFacts {
  /** Reads a small file of /proc, /sys or /etc; undefined: not readable. */
  readonly kernelFile: (path: string) => string | undefined;
  readonly kernel: KernelFacts;
  readonly pressure: PressureFacts;
  readonly memory: MemoryFacts;
  readonly kernelLog: KernelLogFacts;
  readonly clock: ClockFacts;
  readonly cgroup: CgroupFacts;
  readonly subject: SubjectFacts;
  readonly service: ServiceFacts;
  readonly filesystems: FilesystemFacts;
  readonly reclaim: ReclaimFacts;
  readonly shutdown: ShutdownFacts;
  readonly daemons: DaemonsFacts;
}

export interface WindowsFacts extends CommonFacts {
  readonly rights: RightsFacts;
  readonly windowsService: WindowsServiceFacts;
  readonly volumes: readonly VolumeFacts[];
}

export type DoctorFacts = LinuxFacts & WindowsFacts;
