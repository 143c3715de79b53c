import type { Platform } from '../core/operating-system.js';
import { HostError } from '../errors.js';
import { readBootId } from './linux/boot-id.js';
import { openContainerRuntime } from './linux/cri/container-runtime.js';
import { doctorReaders } from './linux/doctor/readers.js';
import { ownMemoryCgroup, readHierarchies } from './linux/hierarchies.js';
import { instanceName, lockInstance } from './linux/instance-lock.js';
import { KernelLogWatch } from './linux/kernel-log.js';
import { lockHolder, lockHoldersIn, locksHeldBy } from './linux/lock-holder.js';
import { readMemoryReserve } from './linux/memory-reserve.js';
import { openNode } from './linux/node.js';
import { OomCounters } from './linux/oom-counters.js';
import { domainOf } from './linux/oom-killer/domain.js';
import { readOomKiller } from './linux/oom-killer/killer.js';
import { readMayEndOthers } from './linux/privilege.js';
import { onReadOnlyMounts } from './linux/read-only-mount.js';
import { openServiceManager } from './linux/service-manager.js';
import { awaitInhibitDelay, readInhibitDelay } from './linux/systemd/inhibit-delay.js';
import { openShutdownDelay } from './linux/systemd/shutdown-delay.js';
import { openCommandRunner } from './linux/systemd/transient-units.js';
import { openUnitManager } from './linux/systemd/unit-manager.js';

export type { NodeConfig, LinuxNode, NotifierMode } from './linux/node.js';
export type { KernelLogWatch } from './linux/kernel-log.js';
export type { InstanceLock } from './linux/instance-lock.js';

/** The kernel's own OOM killer, as far as it is listened to. */
export interface KernelKillReaders {
  readonly KernelLogWatch: typeof KernelLogWatch;
  readonly OomCounters: typeof OomCounters;
}

/** What evictd needs of an operating system. */
export interface Host {
  readonly openNode: typeof openNode;
  readonly lockInstance: typeof lockInstance;
  readonly readHierarchies: typeof readHierarchies;
  readonly ownMemoryCgroup: typeof ownMemoryCgroup;
  readonly mayEndOthers: () => boolean;
  readonly instanceName: typeof instanceName;
  readonly lockHolder: typeof lockHolder;
  readonly lockHoldersIn: typeof lockHoldersIn;
  readonly locksHeldBy: typeof locksHeldBy;
  readonly readBootId: typeof readBootId;
  readonly onReadOnlyMounts: typeof onReadOnlyMounts;
  readonly readOomKiller: typeof readOomKiller;
  readonly oomDomainOf: typeof domainOf;
  readonly readMemoryReserve: typeof readMemoryReserve;
  /** Who tells whom the kernel kills for want of memory; undefined: this kernel kills nobody. */
  readonly kernelKills: KernelKillReaders | undefined;
  readonly openServiceManager: typeof openServiceManager;
  readonly openUnitManager: typeof openUnitManager;
  readonly openContainerRuntime: typeof openContainerRuntime;
  readonly openCommandRunner: typeof openCommandRunner;
  readonly readInhibitDelay: typeof readInhibitDelay;
  readonly awaitInhibitDelay: typeof awaitInhibitDelay;
  readonly openShutdownDelay: typeof openShutdownDelay;
  readonly doctor: typeof doctorReaders;
}

/** What a configuration is for. Where evictd does not run it may be checked all the same, and is Linux's. */
export function selectPlatform(platform: NodeJS.Platform = process.platform, env: NodeJS.ProcessEnv = process.env): Platform {
  return platform === 'win32' ? { os: 'windows', programData: env.ProgramData ?? 'C:\\ProgramData' } : { os: 'linux' };
}

/** The one place that asks which platform this is. */
export function selectHost(platform: NodeJS.Platform = process.platform): Host {
  if (platform === 'linux') {
    return {
      openNode,
      lockInstance,
      readHierarchies,
      ownMemoryCgroup,
      mayEndOthers: readMayEndOthers,
      instanceName,
      lockHolder,
      lockHoldersIn,
      locksHeldBy,
      readBootId,
      onReadOnlyMounts,
      readOomKiller,
      oomDomainOf: domainOf,
      readMemoryReserve,
      kernelKills: { KernelLogWatch, OomCounters },
      openServiceManager,
      openUnitManager,
      openContainerRuntime,
      openCommandRunner,
      readInhibitDelay,
      awaitInhibitDelay,
      openShutdownDelay,
      doctor: doctorReaders,
    };
  }
  throw new HostError('EVICTD_HOST_PLATFORM', `evictd does not run on ${platform} yet`, { hint: 'it runs on Linux' });
}
