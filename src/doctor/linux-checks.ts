import { addonCheck } from './addon.js';
import { capabilitiesCheck } from './capabilities.js';
import { cgroupNamespaceCheck } from './cgroup-namespace.js';
import { cgroupVersionCheck } from './cgroup-version.js';
import type { CheckKind } from './check-kind.js';
import { clockCheck } from './clock.js';
import { controllersCheck } from './controllers.js';
import { daemonsCheck } from './daemons.js';
import { descriptorsCheck } from './descriptors.js';
import { evictableCheck } from './evictable.js';
import type { LinuxFacts } from './facts.js';
import { filesystemsCheck } from './filesystems.js';
import { instanceCheck } from './instance.js';
import { kernelLogCheck } from './kernel-log.js';
import { kernelVersionCheck } from './kernel-version.js';
import { lintCheck } from './lint.js';
import { memoryMinCheck } from './memory-min.js';
import { nodeVersionCheck } from './node-version.js';
import { nodeCheck } from './node.js';
import { notifiersCheck } from './notifiers.js';
import { oomScoreAdjCheck } from './oom-score-adj.js';
import { oomCheck } from './oom.js';
import { otherDaemonsCheck } from './other-daemons.js';
import { overcommitCheck } from './overcommit.js';
import { pressureWindowCheck } from './pressure-window.js';
import { pressureCheck } from './pressure.js';
import { reclaimCheck } from './reclaim.js';
import { runningConfigurationCheck } from './running-configuration.js';
import { runningVersionCheck } from './running-version.js';
import { serviceUnitCheck } from './service-unit.js';
import { shutdownDelayCheck } from './shutdown-delay.js';
import { sourcesCheck } from './sources.js';
import { swapCheck } from './swap.js';
import { watchdogCheck } from './watchdog.js';
import { watermarksCheck } from './watermarks.js';

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
