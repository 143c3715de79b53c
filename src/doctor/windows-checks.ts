import { addonCheck } from './addon.js';
import type { CheckKind } from './check-kind.js';
import { evictableCheck } from './evictable.js';
import type { WindowsFacts } from './facts.js';
import { lintCheck } from './lint.js';
import { nodeVersionCheck } from './node-version.js';
import { nodeCheck } from './node.js';
import { notifiersCheck } from './notifiers.js';
import { runningConfigurationCheck } from './running-configuration.js';
import { runningVersionCheck } from './running-version.js';
import { sourcesCheck } from './sources.js';
import { windowsInstanceCheck } from './windows-instance.js';
import { rightsCheck } from './windows-rights.js';
import { windowsServiceCheck } from './windows-service.js';
import { volumesCheck } from './windows-volumes.js';

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
