import type { SettingsDocument } from './document.js';

/** Where evictd looks when no --config is given. */
export const DEFAULT_FILE = '/etc/evictd/config.yaml';

/**
 * What holds where nothing is set, written as a configuration is.
 *
 * evictionHard: the kubelet's defaults for Linux (v1.36, apis/config/v1beta1/defaults_linux.go) as far as their signals are watched.
 * evictionMaxPodGracePeriod: the kubelet's 0 would make every soft eviction a hard one (departure soft-default-grace).
 */
const DEFAULT_SETTINGS = {
  compatibility: 'evictd',
  evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' },
  evictionPressureTransitionPeriod: '5m',
  evictionMaxPodGracePeriod: 10,
  enforceNodeAllocatable: ['pods'],
  pressureWindow: '2s',
  monitoringInterval: '10s',
  filesystems: { nodefs: '/' },
  workloads: [],
  rules: [],
  oomScoreAdj: 'off',
  metrics: { listen: '127.0.0.1:9796' },
  stateDirectory: '/var/lib/evictd',
  runtimeDirectory: '/run/evictd',
  log: { format: 'auto', level: 'info' },
};

const nowhere = () => ({ file: 'default' });

export const DEFAULTS: SettingsDocument = { value: DEFAULT_SETTINGS, at: nowhere, keyAt: nowhere };
