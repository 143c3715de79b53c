import { addonCheck, nodeVersionCheck, rightsCheck } from './checks/process.js';
import type { CheckKind } from './check-kind.js';
import { evictableCheck, lintCheck, sourcesCheck } from './checks/workloads.js';
import type { WindowsFacts } from './machine-facts.js';
import { nodeCheck, notifiersCheck } from './checks/node.js';
import {
  runningConfigurationCheck,
  runningVersionCheck,
  safeModeCheck,
  windowsInstanceCheck,
  windowsServiceCheck,
} from './checks/service.js';
import { volumesCheck } from './checks/filesystems.js';

/** The checks in the order of the report. */
export const WINDOWS_CHECKS: readonly CheckKind<WindowsFacts>[] = [
  nodeVersionCheck,
  addonCheck,
  rightsCheck,
  windowsServiceCheck,
  windowsInstanceCheck,
  runningVersionCheck,
  runningConfigurationCheck,
  safeModeCheck,
  nodeCheck,
  notifiersCheck,
  volumesCheck,
  lintCheck,
  sourcesCheck,
  evictableCheck,
];
