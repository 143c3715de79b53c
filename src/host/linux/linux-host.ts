import type { Host } from '../host.js';
import * as checkedPrograms from './process/checked-programs.js';
import * as childCommands from './process/child-commands.js';
import { readBootId, raisePriority, readCanSignalOthers } from './process/own-process.js';
import * as cri from './cri/container-runtime.js';
import * as doctor from './facts/readers.js';
import { ownMemoryCgroup, readHierarchies } from './cgroup/hierarchies.js';
import { instanceName, lockInstance, lockHolder, lockHoldersIn, locksHeldBy } from './process/lock-files.js';
import * as kernelLog from './oom/kernel-log.js';
import * as managedOom from './managed-oom/managed-oom.js';
import * as memoryHoldings from './memory/memory-holdings.js';
import * as memoryNodes from './memory/memory-nodes.js';
import { readMemoryReserve } from './memory/memory-reserve.js';
import { openNode } from './node.js';
import * as oomCounters from './oom/oom-counters.js';
import * as oomDomain from './oom/oom-domain.js';
import * as oomKiller from './oom/oom-killer.js';
import * as peer from './process/peer.js';
import { askBySignal } from './process/request-signal.js';
import { openServiceManager } from './process/service-manager.js';
import * as inhibitDelay from './systemd/inhibit-delay.js';
import * as oomSignal from './systemd/oom-signal.js';
import * as shutdownDelay from './systemd/shutdown-delay.js';
import * as transientUnits from './systemd/transient-units.js';
import * as workloadProcesses from './process/workload-processes.js';
import * as unitManager from './systemd/unit-manager.js';

/** Linux. Its modules that are imported as a namespace are evaluated when they are used (see host/select.ts). */
export const linuxHost: Host = {
  os: 'linux',
  openNode,
  lockInstance,
  raisePriority,
  readHierarchies,
  ownMemoryCgroup,
  canSignalOthers: () => readCanSignalOthers(),
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
  readMemoryNodes: () => memoryNodes.readMemoryNodes(),
  openBoundNodes: () => memoryNodes.openBoundNodes(readHierarchies()),
  openWorkloadProcesses: (...args) => new workloadProcesses.WorkloadProcesses(...args),
  readMemoryHoldings: (...args) => memoryHoldings.readMemoryHoldings(...args),
  get kernelKills() {
    return { KernelLogWatch: kernelLog.KernelLogWatch, OomCounters: oomCounters.OomCounters, oomCgroup: oomCounters.oomCgroup };
  },
  replacesOpenFiles: true,
  lockText: (native) => native.lockText(),
  setWaiterRealtime: (native) => native.setWaiterRealtime(),
  reserve: (native, fd, offset, length) => native.fallocate(fd, offset, length),
  openServiceManager,
  ask: askBySignal,
  listenToRequests: () => ({ close: () => undefined }),
  openUnitManager: (...args) => unitManager.openUnitManager(...args),
  openManagedOom: (...args) => managedOom.openManagedOom(...args),
  openContainerRuntime: (...args) => cri.openContainerRuntime(...args),
  openCommandRunner: (...args) => transientUnits.openCommandRunner(...args),
  openProgramRunner: (native) =>
    new checkedPrograms.CheckedPrograms(
      transientUnits.hasSystemd() ? transientUnits.openCommandRunner() : new childCommands.ChildCommands(native),
      checkedPrograms.ProgramChecks.by(native),
    ),
  openOomSignal: (...args) => new oomSignal.OomSignal(...args),
  readInhibitDelay: (...args) => inhibitDelay.readInhibitDelay(...args),
  awaitInhibitDelay: (...args) => inhibitDelay.awaitInhibitDelay(...args),
  peerOf: (...args) => peer.peerOf(...args),
  userOf: (...args) => peer.userOf(...args),
  openShutdownDelay: (...args) => shutdownDelay.openShutdownDelay(...args),
  get doctor() {
    return doctor.doctorReaders;
  },
};
