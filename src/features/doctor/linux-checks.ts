import { addonCheck } from './process/addon.js';
import { capabilitiesCheck } from './process/capabilities.js';
import { cgroupNamespaceCheck } from './cgroup/cgroup-namespace.js';
import { cgroupVersionCheck } from './cgroup/cgroup-version.js';
import type { CheckKind } from './check-kind.js';
import { clockCheck } from './kernel/clock.js';
import { controllersCheck } from './cgroup/controllers.js';
import { daemonsCheck } from './daemons/daemons.js';
import { descriptorsCheck } from './process/descriptors.js';
import { evictableCheck } from './node/evictable.js';
import type { LinuxFacts } from './machine-facts.js';
import { filesystemsCheck } from './node/filesystems.js';
import { instanceCheck } from './service/instance.js';
import { kernelLogCheck } from './kernel/kernel-log.js';
import { kernelVersionCheck } from './kernel/kernel-version.js';
import { lintCheck } from './node/lint.js';
import { memoryMinCheck } from './service/memory-min.js';
import { nodeVersionCheck } from './process/node-version.js';
import { nodeCheck } from './node/node.js';
import { notifiersCheck } from './node/notifiers.js';
import { oomScoreAdjCheck } from './service/oom-score-adj.js';
import { oomCheck } from './kernel/oom.js';
import { otherDaemonsCheck } from './daemons/other-daemons.js';
import { overcommitCheck } from './kernel/overcommit.js';
import { pressureWindowCheck } from './kernel/pressure-window.js';
import { pressureCheck } from './kernel/pressure.js';
import { reclaimCheck } from './node/reclaim.js';
import { runningConfigurationCheck } from './service/running-configuration.js';
import { runningVersionCheck } from './service/running-version.js';
import { serviceUnitCheck } from './service/service-unit.js';
import { shutdownDelayCheck } from './node/shutdown-delay.js';
import { sourcesCheck } from './node/sources.js';
import { swapCheck } from './kernel/swap.js';
import { watchdogCheck } from './service/watchdog.js';
import { watermarksCheck } from './kernel/watermarks.js';

/** In the order of the report: the foundations first. */
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
  nodeVersionCheck,
  addonCheck,
  capabilitiesCheck,
  descriptorsCheck,
  serviceUnitCheck,
  instanceCheck,
  runningVersionCheck,
  runningConfigurationCheck,
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
  otherDaemonsCheck,
  daemonsCheck,
];
