import type { OperatingSystem, Platform } from '../core/operating-system.js';
import { HostError } from '../errors.js';
import type { ServiceManager } from '../monitor/ports.js';
import type { Binding } from '../native/binding.js';
import { readBootId } from './linux/boot-id.js';
import { openContainerRuntime } from './linux/cri/container-runtime.js';
import { doctorReaders, type DoctorReaders } from './linux/doctor/readers.js';
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
import { goFirst } from './linux/priority.js';
import { askToReload } from './linux/requests.js';
import { openServiceManager } from './linux/service-manager.js';
import { awaitInhibitDelay, readInhibitDelay } from './linux/systemd/inhibit-delay.js';
import { openShutdownDelay } from './linux/systemd/shutdown-delay.js';
import { openCommandRunner } from './linux/systemd/transient-units.js';
import { openUnitManager } from './linux/systemd/unit-manager.js';
import type { Asked, Requests } from './requests.js';
import { windowsHost } from './windows/host.js';

export type { NodeConfig, LinuxNode, NotifierMode } from './linux/node.js';
export type { KernelLogWatch } from './linux/kernel-log.js';
export type { InstanceLock } from './linux/instance-lock.js';
export type { DoctorReaders } from './linux/doctor/readers.js';

/** The kernel's own OOM killer, as far as it is listened to. */
export interface KernelKillReaders {
  readonly KernelLogWatch: typeof KernelLogWatch;
  readonly OomCounters: typeof OomCounters;
}

/** The kernel's own OOM killer, as far as it can be asked whom it would kill. */
export interface OomKillerReaders {
  readonly read: typeof readOomKiller;
  readonly domainOf: typeof domainOf;
}

/** What evictd needs of an operating system. `undefined`: it has nothing of the kind. */
export interface Host {
  readonly os: OperatingSystem;
  readonly openNode: typeof openNode;
  readonly lockInstance: typeof lockInstance;
  readonly goFirst: () => void;
  readonly readHierarchies: typeof readHierarchies;
  readonly ownMemoryCgroup: typeof ownMemoryCgroup;
  readonly mayEndOthers: (native: Binding) => boolean;
  /** Root, or an administrator of Windows. */
  readonly isAdministrator: () => boolean;
  /** What to do where the rights are missing: to end processes of others, and for anything else. */
  readonly elevation: { readonly toEndOthers: string; readonly other: string };
  readonly instanceName: typeof instanceName;
  readonly lockHolder: typeof lockHolder;
  readonly lockHoldersIn: typeof lockHoldersIn;
  readonly locksHeldBy: typeof locksHeldBy;
  readonly readBootId: typeof readBootId;
  readonly oomKiller: OomKillerReaders | undefined;
  readonly readMemoryReserve: typeof readMemoryReserve;
  /** Who tells whom the kernel kills for want of memory; undefined: this kernel kills nobody. */
  readonly kernelKills: KernelKillReaders | undefined;
  /** Keeps the program's machine code in memory. `errno`: of what was refused. */
  readonly lockText: ((native: Binding) => { readonly bytes: number; readonly errno: number }) | undefined;
  /** Whether a file may take the name of one that is open. */
  readonly replacesOpenFiles: boolean;
  /** Reserves space behind what a file has, and leaves its size. Rejects with Node's errors. */
  readonly reserve: ((native: Binding, fd: number, offset: number, length: number) => Promise<void>) | undefined;
  /** `env`: what it says of the manager is taken out of it. `onStop`: the manager asks evictd to end, otherwise than by a signal. */
  readonly openServiceManager: (native: Binding, env: NodeJS.ProcessEnv, onStop: () => void) => ServiceManager | undefined;
  /** Asks an evictd to read its configuration again. Throws where it may not be asked. */
  readonly askToReload: (native: Binding, asked: Asked) => void;
  /** Hears, as the holder of a lock file, what others ask for otherwise than by a signal. */
  readonly listenToRequests: (lock: string, requests: Requests) => { close(): void };
  readonly openUnitManager: typeof openUnitManager;
  readonly openContainerRuntime: typeof openContainerRuntime | undefined;
  readonly openCommandRunner: typeof openCommandRunner;
  readonly readInhibitDelay: typeof readInhibitDelay;
  readonly awaitInhibitDelay: typeof awaitInhibitDelay;
  readonly openShutdownDelay: typeof openShutdownDelay;
  /** What is asked of Linux; another system has checks of its own. */
  readonly doctor: DoctorReaders | undefined;
}

/** What a configuration is for. Where evictd does not run it may be checked all the same, and is Linux's. */
export function selectPlatform(platform: NodeJS.Platform = process.platform, env: NodeJS.ProcessEnv = process.env): Platform {
  return platform === 'win32' ? { os: 'windows', programData: env.ProgramData ?? 'C:\\ProgramData' } : { os: 'linux' };
}

/** By which signals a process is asked to stop, and to read its configuration again. On Windows SIGHUP is the end of the console, and SIGBREAK Ctrl-Break. */
export function selectSignals(platform: NodeJS.Platform = process.platform): ProcessSignals {
  return platform === 'win32'
    ? { stop: ['SIGINT', 'SIGBREAK', 'SIGHUP'], reload: [] }
    : { stop: ['SIGTERM', 'SIGINT'], reload: ['SIGHUP'] };
}
export interface ProcessSignals {
  readonly stop: readonly NodeJS.Signals[];
  readonly reload: readonly NodeJS.Signals[];
}

/** The one place that asks which platform this is. */
export function selectHost(platform: NodeJS.Platform = process.platform): Host {
  if (platform === 'linux') {
    return {
      os: 'linux',
      openNode,
      lockInstance,
      goFirst,
      readHierarchies,
      ownMemoryCgroup,
      mayEndOthers: () => readMayEndOthers(),
      isAdministrator: () => process.getuid?.() === 0,
      elevation: { toEndOthers: 'run it as root, or grant CAP_KILL', other: 'run it as root' },
      instanceName,
      lockHolder,
      lockHoldersIn,
      locksHeldBy,
      readBootId,
      oomKiller: { read: readOomKiller, domainOf },
      readMemoryReserve,
      kernelKills: { KernelLogWatch, OomCounters },
      replacesOpenFiles: true,
      lockText: (native) => native.lockText(),
      reserve: (native, fd, offset, length) => native.fallocate(fd, offset, length),
      openServiceManager,
      askToReload,
      listenToRequests: () => ({ close: () => undefined }),
      openUnitManager,
      openContainerRuntime,
      openCommandRunner,
      readInhibitDelay,
      awaitInhibitDelay,
      openShutdownDelay,
      doctor: doctorReaders,
    };
  }
  if (platform === 'win32') return windowsHost;
  throw new HostError('EVICTD_HOST_PLATFORM', `evictd does not run on ${platform}`, { hint: 'it runs on Linux and on Windows' });
}
