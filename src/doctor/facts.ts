import type { CgroupFacts } from './facts/cgroup.js';
import type { DaemonsFacts } from './facts/daemon.js';
import type { FilesystemFacts } from './facts/filesystem.js';
import type { ClockFacts, KernelFacts, KernelLogFacts, MemoryFacts, OomFacts, PressureFacts } from './facts/kernel.js';
import type { NodeFacts } from './facts/node.js';
import type { InstanceFacts, ReloadFacts, RuntimeFacts, ServiceFacts, SubjectFacts } from './facts/process.js';
import type { ReclaimFacts } from './facts/reclaim.js';
import type { ShutdownFacts } from './facts/shutdown.js';
import type { WorkloadFacts } from './facts/workloads.js';

/** Everything that is judged. */
export interface DoctorFacts {
  readonly version: string;
  readonly kernel: KernelFacts;
  readonly pressure: PressureFacts;
  readonly oom: OomFacts;
  readonly memory: MemoryFacts;
  readonly kernelLog: KernelLogFacts;
  readonly clock: ClockFacts;
  readonly cgroup: CgroupFacts;
  readonly runtime: RuntimeFacts;
  readonly subject: SubjectFacts;
  readonly instance: InstanceFacts;
  readonly reload: ReloadFacts;
  readonly service: ServiceFacts;
  readonly node: NodeFacts;
  readonly filesystems: FilesystemFacts;
  readonly workloads: WorkloadFacts;
  readonly reclaim: ReclaimFacts;
  readonly shutdown: ShutdownFacts;
  readonly daemons: DaemonsFacts;
}
