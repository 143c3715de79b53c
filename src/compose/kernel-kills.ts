import { normalCgroupPath } from '../core/cgroup.js';
import { concernsNode, kernelKillMessage, workloadHolding, type KernelKill } from '../core/kernel-kill.js';
import { selectHost, type LinuxNode } from '../host/select.js';
import type { Log } from '../log.js';
import type { Journal } from '../monitor/journal.js';
import { kernelOomRecord } from '../monitor/record.js';
import { native } from '../native/index.js';

export interface KernelKillParts {
  readonly node: LinuxNode;
  readonly log: Log;
  readonly journal: Pick<Journal, 'record'>;
  /** Those in force. */
  readonly sources: () => readonly { readonly cgroup: string }[];
}

/** Says in the log and in the journal whom the kernel's OOM killer killed below the node, for as long as the kernel log can be read. */
export function tellKernelKills({ node, log, journal, sources }: KernelKillParts): { close(): void } {
  const tell = (kill: KernelKill): void => {
    if (!concernsNode(kill, node.identity.cgroup)) return;
    const workload = workloadHolding(
      kill.cgroup,
      sources().map(({ cgroup }) => normalCgroupPath(cgroup)),
    );
    journal.record(kernelOomRecord(kill, workload));
    log.warn(kernelKillMessage(kill, workload?.name), { pid: kill.pid, cgroup: kill.cgroup });
  };
  const watch = selectHost().watchKernelLog(native, node.hierarchy, (kills, lost) => {
    kills.forEach(tell);
    if (lost) log.warn('the kernel log was overwritten before it was read: OOM kills may be missing here', { code: 'EVICTD_KERNEL_LOG' });
  });
  if (watch.failure !== undefined) {
    log.info(`whom the kernel's OOM killer kills is not told: ${watch.failure}`, { code: 'EVICTD_KERNEL_LOG' });
  }
  return watch;
}
