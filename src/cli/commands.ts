import { configuredPlatform } from '../node/configured-platform.js';
import type { CommandList } from './output/command.js';

const isWindows = (): boolean => configuredPlatform().os === 'windows';

/** Every command, in the order of `evictd --help`. */
export const COMMANDS: CommandList = {
  run: async () => (await import('./run.js')).run,
  status: async () => (await import('../features/status/command.js')).status,
  top: async () => (await import('../features/status/top/command.js')).top,
  check: async () => (await import('../features/check/command.js')).check,
  rank: async () => (await import('../features/rank/command.js')).rank,
  explain: async () => (await import('../features/explain/command.js')).explain,
  shutdown: async () => (await import('../features/shutdown/command.js')).shutdown,
  admit: async () => (await import('../features/admission/command.js')).admit,
  doctor: async () => (await import('../features/doctor/command.js')).doctor,
  config: async () => (await import('./config.js')).config,
  history: async () => (await import('../features/history/command.js')).history,
  reclaim: async () => (await import('../features/reclaim/command.js')).reclaim,
  evict: async () => (await import('../features/eviction/command.js')).evict,
  drain: async () => (await import('../features/eviction/drain-command.js')).drain,
  cordon: async () => (await import('../features/eviction/drain-command.js')).cordon,
  uncordon: async () => (await import('../features/eviction/drain-command.js')).uncordon,
  reload: async () => (await import('../features/request/reload-command.js')).reload,
  pause: async () => (await import('../features/request/pause-command.js')).pause,
  resume: async () => (await import('../features/request/resume-command.js')).resume,
  taint: async () => (await import('../features/request/taint-command.js')).taint,
  install: async () => (isWindows() ? (await import('./windows-install.js')).install : (await import('./install.js')).install),
  uninstall: async () => (isWindows() ? (await import('./windows-install.js')).uninstall : (await import('./install.js')).uninstall),
  restore: async () => (await import('./install.js')).restore,
  replay: async () => (await import('../features/replay/command.js')).replay,
  simulate: async () => (await import('../features/simulate/command.js')).simulate,
  demo: async () => (await import('../features/demo/command.js')).demo,
  controller: async () => (await import('../features/controller/command.js')).controller,
  completion: async () => (await import('../features/completion/command.js')).completion,
};
