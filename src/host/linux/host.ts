import type { Host } from '../host.js';
import { readBootId } from './boot-id.js';
import * as cri from './cri/container-runtime.js';
import * as doctor from './doctor/readers.js';
import { ownMemoryCgroup, readHierarchies } from './hierarchies.js';
import { instanceName, lockInstance } from './instance-lock.js';
import * as kernelLog from './kernel-log.js';
import { lockHolder, lockHoldersIn, locksHeldBy } from './lock-holder.js';
import { readMemoryReserve } from './memory-reserve.js';
import { openNode } from './node.js';
import * as oomCounters from './oom-counters.js';
import * as oomDomain from './oom-killer/domain.js';
import * as oomKiller from './oom-killer/killer.js';
import { raisePriority } from './priority.js';
import { readMayEndOthers } from './privilege.js';
import { askToReload } from './requests.js';
import { openServiceManager } from './service-manager.js';
import * as inhibitDelay from './systemd/inhibit-delay.js';
import * as shutdownDelay from './systemd/shutdown-delay.js';
import * as transientUnits from './systemd/transient-units.js';
import * as unitManager from './systemd/unit-manager.js';

/** Linux. Its modules that are imported as a namespace are evaluated when they are used (see host/select.ts). */
export const linuxHost: Host = {
  os: 'linux',
  openNode,
  lockInstance,
  raisePriority,
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
  get oomKiller() {
    return { read: oomKiller.readOomKiller, domainOf: oomDomain.domainOf };
  },
  readMemoryReserve,
  get kernelKills() {
    return { KernelLogWatch: kernelLog.KernelLogWatch, OomCounters: oomCounters.OomCounters };
  },
  replacesOpenFiles: true,
  lockText: (native) => native.lockText(),
  reserve: (native, fd, offset, length) => native.fallocate(fd, offset, length),
  openServiceManager,
  askToReload,
  listenToRequests: () => ({ close: () => undefined }),
  openUnitManager: (...args) => unitManager.openUnitManager(...args),
  openContainerRuntime: (...args) => cri.openContainerRuntime(...args),
  openCommandRunner: (...args) => transientUnits.openCommandRunner(...args),
  readInhibitDelay: (...args) => inhibitDelay.readInhibitDelay(...args),
  awaitInhibitDelay: (...args) => inhibitDelay.awaitInhibitDelay(...args),
  openShutdownDelay: (...args) => shutdownDelay.openShutdownDelay(...args),
  get doctor() {
    return doctor.doctorReaders;
  },
};
