import { pathBelowMount, type CgroupHierarchy } from '../../core/cgroup.js';
import type { KernelKill } from '../../core/kernel-kill.js';
import { errnoName } from '../../errors.js';
import type { Binding, OomRecord } from '../../native/binding.js';

/** What the kernel's OOM killer does from now on. */
export interface KernelLogWatch {
  /** Why nothing is told, for people; undefined: it is. */
  readonly failure: string | undefined;
  close(): void;
}

/** @param onKills  `lost`: some may be missing */
export function watchKernelLog(
  native: Binding,
  hierarchy: CgroupHierarchy | undefined,
  onKills: (kills: readonly KernelKill[], lost: boolean) => void,
): KernelLogWatch {
  try {
    const log = new native.KernelLog(() => {
      const { list, overruns, dropped } = log.records();
      onKills(
        list.map((record) => killOf(record, hierarchy)),
        overruns + dropped > 0,
      );
    });
    return {
      failure: undefined,
      close: () => {
        log.close();
      },
    };
  } catch (error) {
    return { failure: reasonOf(error), close: () => undefined };
  }
}

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!message.includes('open')) return `${message} (it is no kernel log: another file stands in its place)`;
  switch (errnoName(error)) {
    case 'EPERM':
      return `${message} (grant CAP_SYSLOG, or set kernel.dmesg_restrict=0)`;
    case 'EACCES':
      return `${message} (run evictd as root)`;
    default:
      return message;
  }
}

function killOf(record: OomRecord, hierarchy: CgroupHierarchy | undefined): KernelKill {
  const below = (path: string | undefined): string | undefined =>
    path === undefined || !hierarchy ? undefined : pathBelowMount(path, hierarchy);
  return {
    constraint: record.constraint,
    limitedCgroup: below(record.oomMemcg),
    cgroup: below(record.taskMemcg),
    pid: record.pid,
    name: record.name,
    uid: record.uid,
    anonBytes: BigInt(record.anonRssBytes),
    oomScoreAdj: record.oomScoreAdj,
    sinceBootUs: record.timeUs,
  };
}
