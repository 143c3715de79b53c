import { addonCheck } from './process/addon.js';
import type { CheckKind } from './check-kind.js';
import { evictableCheck } from './node/evictable.js';
import type { WindowsFacts } from './machine-facts.js';
import { lintCheck } from './node/lint.js';
import { nodeVersionCheck } from './process/node-version.js';
import { nodeCheck } from './node/node.js';
import { notifiersCheck } from './node/notifiers.js';
import { runningConfigurationCheck } from './service/running-configuration.js';
import { runningVersionCheck } from './service/running-version.js';
import { sourcesCheck } from './node/sources.js';
import { windowsInstanceCheck } from './service/windows-instance.js';
import { rightsCheck } from './process/windows-rights.js';
import { windowsServiceCheck } from './service/windows-service.js';
import { volumesCheck } from './node/windows-volumes.js';

/** In the order of the report. */
export const WINDOWS_CHECKS: readonly CheckKind<WindowsFacts>[] = [
  nodeVersionCheck,
  addonCheck,
  rightsCheck,
  windowsServiceCheck,
  windowsInstanceCheck,
  runningVersionCheck,
  runningConfigurationCheck,
  nodeCheck,
  notifiersCheck,
  volumesCheck,
  lintCheck,
  sourcesCheck,
  evictableCheck,
];
