import { win32 } from 'node:path';
import type { Platform } from '../../core/signal/operating-system.js';
import type { SettingsDocument } from '../value/document.js';

/** The configuration file if --config is not given. */
export function defaultFile(platform: Platform): string {
  return platform.os === 'linux' ? '/etc/evictd/config.yaml' : win32.join(platform.programData, 'evictd', 'config.yaml');
}

/** The default on Linux. */
const RUNTIME_DIRECTORY = '/run/evictd';

/**
 * The defaults, as a configuration.
 *
 * evictionHard: the kubelet's defaults for Linux (v1.36, apis/config/v1beta1/defaults_linux.go); those of imagefs only
 * if one is configured. thresholds: departure thrashing. evictionMaxPodGracePeriod: the kubelet's 0 would make every
 * soft eviction a hard one (departure soft-default-grace).
 */
const LINUX = {
  compatibility: 'evictd',
  evictionHard: {
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
    'imagefs.available': '15%',
    'imagefs.inodesFree': '5%',
  },
  thresholds: [{ when: 'memory.pressure.full>30% & memory.available<10%', kind: 'soft', for: '3s' }],
  evictionPressureTransitionPeriod: '5m',
  evictionMaxPodGracePeriod: 10,
  enforceNodeAllocatable: ['pods'],
  shutdownGracePeriod: '0s',
  shutdownGracePeriodCriticalPods: '0s',
  shutdownGracePeriodByPodPriority: [],
  pressureWindow: '2s',
  evictionBudget: { max: 5, window: '10m', bands: [] },
  monitoringInterval: '10s',
  standingOrder: { after: '500us' },
  safeMode: { crashes: 5, within: '10m' },
  pause: { max: '4h' },
  filesystems: { nodefs: '/' },
  workloads: [],
  priorityClasses: [],
  rules: [],
  taints: [],
  reclaim: [],
  policies: [],
  oomScoreAdj: 'off',
  metrics: { listen: '127.0.0.1:9796' },
  journal: { maxSize: '4Mi', maxFiles: 5 },
  stateDirectory: '/var/lib/evictd',
  runtimeDirectory: RUNTIME_DIRECTORY,
  log: { format: 'auto', level: 'info' },
};

const nowhere = () => ({ file: 'default' });

export function defaultsOf(platform: Platform): SettingsDocument {
  return { value: platform.os === 'linux' ? LINUX : windows(platform.programData), at: nowhere, keyAt: nowhere };
}

/** evictionHard: the kubelet's defaults for Windows (v1.36, apis/config/v1beta1/defaults_windows.go). */
function windows(programData: string): object {
  return {
    ...LINUX,
    evictionHard: { 'memory.available': '500Mi', 'nodefs.available': '10%', 'imagefs.available': '15%' },
    thresholds: [],
    filesystems: { nodefs: 'C:\\' },
    stateDirectory: win32.join(programData, 'evictd', 'state'),
    runtimeDirectory: win32.join(programData, 'evictd', 'run'),
  };
}
