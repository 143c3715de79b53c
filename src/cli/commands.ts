import { configuredPlatform } from '../compose/configured-platform.js';
import type { CommandList } from './command.js';

const isWindows = (): boolean => configuredPlatform().os === 'windows';

/** Every command, in the order of `evictd --help`. */
export const COMMANDS: CommandList = {
  run: async () => (await import('./run.js')).run,
  check: async () => (await import('./check.js')).check,
  rank: async () => (await import('./rank.js')).rank,
  shutdown: async () => (await import('./shutdown.js')).shutdown,
  admit: async () => (await import('./admit.js')).admit,
  doctor: async () => (await import('./doctor.js')).doctor,
  config: async () => (await import('./config.js')).config,
  history: async () => (await import('./history.js')).history,
  reclaim: async () => (await import('./reclaim.js')).reclaim,
  reload: async () => (await import('./reload.js')).reload,
  install: async () => (isWindows() ? (await import('./windows-installation.js')).install : (await import('./installation.js')).install),
  uninstall: async () =>
    isWindows() ? (await import('./windows-installation.js')).uninstall : (await import('./installation.js')).uninstall,
  restore: async () => (await import('./installation.js')).restore,
  replay: async () => (await import('./replay.js')).replay,
  demo: async () => (await import('./demo.js')).demo,
};
