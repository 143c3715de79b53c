import type { CgroupFacts } from './facts/cgroup.js';
import type { DaemonsFacts } from './facts/daemon.js';
import type { FilesystemFacts } from './facts/filesystem.js';
import type { ClockFacts, KernelFacts, KernelLogFacts, MemoryFacts, PressureFacts } from './facts/kernel.js';
import type { NodeFacts } from './facts/node.js';
import type { InstanceFacts, ReloadFacts, RuntimeFacts, ServiceFacts, SubjectFacts } from './facts/process.js';
import type { ReclaimFacts } from './facts/reclaim.js';
import type { ShutdownFacts } from './facts/shutdown.js';
import type { RightsFacts, VolumeFacts, WindowsServiceFacts } from './facts/windows.js';
import type { WorkloadFacts } from './facts/workloads.js';

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
