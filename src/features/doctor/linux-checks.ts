import { addonCheck, capabilitiesCheck, descriptorsCheck, nodeVersionCheck } from './checks/process.js';
import { cgroupNamespaceCheck, cgroupVersionCheck, controllersCheck, podsLimitCheck } from './checks/cgroup.js';
import type { CheckKind } from './check-kind.js';
import { clockCheck, kernelLogCheck, kernelVersionCheck, oomCheck, pressureWindowCheck, pressureCheck } from './checks/kernel.js';
import { daemonsCheck, otherDaemonsCheck } from './checks/daemons.js';
import { evictableCheck, lintCheck, operatorsCheck, sourcesCheck } from './checks/workloads.js';
import type { LinuxFacts } from './machine-facts.js';
import { filesystemsCheck } from './checks/filesystems.js';
import {
  instanceCheck,
  pauseCheck,
  runningConfigurationCheck,
  runningVersionCheck,
  safeModeCheck,
  serviceUnitCheck,
  watchdogCheck,
} from './checks/service.js';
import { apiServerCheck, budgetsCheck, clusterControllersCheck, couldRunCheck, excessCheck } from './checks/kubernetes.js';
import { memoryMinCheck, oomScoreAdjCheck } from './checks/protection.js';
import { nodeCheck, notifiersCheck, reclaimCheck, shutdownDelayCheck } from './checks/node.js';
import { numaCheck } from './checks/numa.js';
import { overcommitCheck, swapCheck, watermarksCheck } from './checks/memory.js';

/** The checks in the order of the report: the foundations first. */
export const LINUX_CHECKS: readonly CheckKind<LinuxFacts>[] = [
  kernelVersionCheck,
  pressureCheck,
  pressureWindowCheck,
  kernelLogCheck,
  clockCheck,
  oomCheck,
  overcommitCheck,
  swapCheck,
  watermarksCheck,
  cgroupVersionCheck,
  cgroupNamespaceCheck,
  controllersCheck,
  podsLimitCheck,
  nodeVersionCheck,
  addonCheck,
  capabilitiesCheck,
  descriptorsCheck,
  serviceUnitCheck,
  instanceCheck,
  runningVersionCheck,
  runningConfigurationCheck,
  safeModeCheck,
  pauseCheck,
  watchdogCheck,
  memoryMinCheck,
  oomScoreAdjCheck,
  nodeCheck,
  notifiersCheck,
  filesystemsCheck,
  reclaimCheck,
  shutdownDelayCheck,
  lintCheck,
  sourcesCheck,
  evictableCheck,
  operatorsCheck,
  numaCheck,
  apiServerCheck,
  excessCheck,
  budgetsCheck,
  couldRunCheck,
  clusterControllersCheck,
  otherDaemonsCheck,
  daemonsCheck,
];
