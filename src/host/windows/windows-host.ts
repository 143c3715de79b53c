import { asWindows } from '../../native/windows-addon.js';
import type { Host } from '../host.js';
import { instanceName } from '../instance-lock.js';
import { noManagedOom } from '../no-managed-oom.js';
import { noUnits } from '../no-units.js';
import { readBootId, raisePriority, isAdministrator, canSignalOthers } from './windows-process.js';
import { lockInstance, lockHolder, lockHoldersIn } from './windows-lock-files.js';
import { openWindowsNode } from './windows-node.js';
import { askByFile, listenToRequests } from './request-file.js';
import { openServiceManager } from './windows-service-manager.js';

const TO_END_OTHERS = 'run it as a service, or as an administrator who has SeDebugPrivilege';
const AS_ADMINISTRATOR = 'run it as an administrator, or as a service';
const NO_DELAY = 'on Windows no program can delay a shutdown for its workloads';

/** Windows. Features of Linux report that they are missing. */
export const windowsHost: Host = {
  os: 'windows',
  openNode: (config, native) => {
    canSignalOthers(asWindows(native)); // first, because without the right less is visible of other users' processes
    return openWindowsNode(config, asWindows(native));
  },
  lockInstance: (runtimeDirectory, node, native, dryRun) => lockInstance(runtimeDirectory, node, asWindows(native), dryRun),
  raisePriority: raisePriority,
  readHierarchies: () => ({
    memory: undefined,
    pids: undefined,
    cpuset: undefined,
    freezer: undefined,
    unified: undefined,
    systemd: undefined,
  }),
  ownMemoryCgroup: () => undefined,
  canSignalOthers: (native) => canSignalOthers(asWindows(native)),
  isAdministrator,
  elevation: { toEndOthers: TO_END_OTHERS, other: AS_ADMINISTRATOR },
  instanceName,
  lockHolder,
  lockHoldersIn,
  // Windows does not report the open files of a process.
  locksHeldBy: () => [],
  readBootId,
  oomKiller: undefined,
  readMemoryReserve: () => undefined,
  readMemoryNodes: () => [],
  openBoundNodes: () => undefined,
  openWorkloadProcesses: undefined,
  readMemoryHoldings: undefined,
  kernelKills: undefined,
  replacesOpenFiles: false,
  lockText: undefined,
  setWaiterRealtime: undefined,
  reserve: undefined,
  openServiceManager: (native, _env, onStop) => openServiceManager(asWindows(native), onStop),
  ask: (_native, request, { pid, lock, isCurrent: isStill }) => {
    if (isStill()) askByFile(lock, pid, request);
  },
  listenToRequests,
  openUnitManager: () => noUnits,
  openManagedOom: () => noManagedOom('Windows has no systemd'),
  openContainerRuntime: undefined,
  openProgramRunner: undefined,
  openOomSignal: undefined,
  openCommandRunner: () => ({ run: () => Promise.resolve('there is no systemd to run it') }),
  readInhibitDelay: () => Promise.resolve({ kind: 'unknown', reason: NO_DELAY }),
  awaitInhibitDelay: () => Promise.resolve(undefined),
  peerOf: undefined,
  userOf: undefined,
  openShutdownDelay: () => ({
    state: { kind: 'off', reason: NO_DELAY },
    start: (events) => {
      events.changed({ kind: 'off', reason: NO_DELAY });
    },
    release: () => undefined,
    close: () => undefined,
  }),
  doctor: undefined,
};
