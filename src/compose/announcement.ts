import manifest from '../../package.json' with { type: 'json' };
import type { Config, ConfigNotice, LoadedConfig } from '../config/config.js';
import { thresholdKind, valueText } from '../core/threshold.js';
import type { Log } from '../log.js';
import type { NodeIdentity } from '../monitor/ports.js';

export interface StartFacts {
  readonly node: NodeIdentity;
  readonly dryRun: boolean;
  /** Processes of other users may be signalled. */
  readonly mayEndOthers: boolean;
}

/** Everything that the operator should know at the start, once. */
export function announceStart(log: Log, { config, notices }: LoadedConfig, { node, dryRun, mayEndOthers }: StartFacts): void {
  const what = dryRun ? 'dry run, guarding nothing' : 'guarding';
  log.info(`evictd ${manifest.version}, ${what}: ${node.name}; ${inForce(config)}`, { thresholds: config.thresholds.length });
  for (const notice of notices) announce(log, notice);
  if (config.workloads.length === 0) {
    log.warn('no workload source is configured: evictd watches and exports, and evicts nothing', { code: 'EVICTD_WORKLOADS_NONE' });
  } else if (!mayEndOthers && !dryRun) {
    log.warn('evictd may end processes of its own user only (run it as root, or grant CAP_KILL)', { code: 'EVICTD_KILL_PRIVILEGE' });
  }
}

/** What a running evictd cannot change: top-level keys of the configuration. */
const FIXED = ['node', 'filesystems', 'metrics', 'stateDirectory', 'runtimeDirectory', 'log'] as const;

/** What is in force after a reload; notices only where they are new. */
export function announceReload(log: Log, started: Config, before: LoadedConfig, { config, notices }: LoadedConfig): string {
  const fixed = FIXED.filter((key) => JSON.stringify(started[key]) !== JSON.stringify(config[key]));
  if (fixed.length > 0) {
    log.warn(`changed, but in force only after a restart: ${fixed.join(', ')}`, { code: 'EVICTD_RELOAD_RESTART' });
  }
  const said = new Set(before.notices.map(({ message }) => message));
  for (const notice of notices) if (!said.has(notice.message)) announce(log, notice);
  const message = `the configuration was read again: ${inForce(config)}`;
  log.info(message, { thresholds: config.thresholds.length });
  return message;
}

/** 'memory.available<100Mi, nodefs.available<10% (soft); workloads: /a, /b'. */
function inForce({ thresholds, workloads }: Config): string {
  const limits = thresholds.map((threshold) => {
    return `${threshold.signal}<${valueText(threshold.value)}${thresholdKind(threshold) === 'soft' ? ' (soft)' : ''}`;
  });
  const sources = workloads.length === 0 ? '' : `; workloads: ${workloads.map(({ cgroup }) => cgroup).join(', ')}`;
  return (limits.join(', ') || 'no thresholds') + sources;
}

function announce(log: Log, { level, code, message, hint }: ConfigNotice): void {
  log[level](hint === undefined ? message : `${message} (${hint})`, { code });
}
