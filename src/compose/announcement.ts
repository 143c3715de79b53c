import { isDeepStrictEqual } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import type { Config, ConfigNotice, LoadedConfig } from '../config/config.js';
import { DEPARTURES, departuresOf } from '../core/departure.js';
import { thresholdKind, valueText, whenText } from '../core/threshold.js';
import type { MachineFacts } from '../lint/machine.js';
import type { Log } from '../log.js';
import type { NodeIdentity } from '../monitor/ports.js';
import { lintConfig } from './lint.js';

export interface StartFacts {
  readonly node: NodeIdentity;
  readonly dryRun: boolean;
  /** Processes of other users may be signalled. */
  readonly mayEndOthers: boolean;
  /** What is known of the machine before the workloads are there. */
  readonly machine: MachineFacts;
}

/** Everything that the operator should know at the start, once. */
export function announceStart(log: Log, loaded: LoadedConfig, { node, dryRun, mayEndOthers, machine }: StartFacts): void {
  const { config } = loaded;
  const what = dryRun ? 'dry run, guarding nothing' : 'guarding';
  log.info(`evictd ${manifest.version}, ${what}: ${node.name}; ${inForce(config)}`, { thresholds: config.thresholds.length });
  for (const notice of noticesOf(loaded, machine)) announce(log, notice);
  if (config.workloads.length === 0) {
    announceNoSource(log);
  } else if (!mayEndOthers && !dryRun) {
    log.warn('evictd may end processes of its own user only (run it as root, or grant CAP_KILL)', { code: 'EVICTD_KILL_PRIVILEGE' });
  }
}

/** What a running evictd cannot change: top-level keys of the configuration. */
const FIXED = ['node', 'allocatable', 'pressureWindowNs', 'filesystems', 'metrics', 'stateDirectory', 'runtimeDirectory', 'log'] as const;

/** What is in force after a reload; notices only where they are new. */
export function announceReload(log: Log, started: Config, before: LoadedConfig, loaded: LoadedConfig, machine: MachineFacts): string {
  const config = { ...loaded.config, allocatable: started.allocatable };
  const fixed = FIXED.filter((key) => !isDeepStrictEqual(started[key], loaded.config[key]));
  if (fixed.length > 0) {
    log.warn(
      `changed, but in force only after a restart: ${fixed.map((key) => (key === 'pressureWindowNs' ? 'pressureWindow' : key)).join(', ')}`,
      { code: 'EVICTD_RELOAD_RESTART' },
    );
  }
  const said = new Set(noticesAfter(started, before, machine).map(({ message }) => message));
  for (const notice of noticesAfter(started, loaded, machine)) if (!said.has(notice.message)) announce(log, notice);
  if (config.workloads.length === 0 && before.config.workloads.length > 0) announceNoSource(log);
  const message = `the configuration was read again: ${inForce(config)}`;
  log.info(message, { thresholds: config.thresholds.length });
  return message;
}

/** Of a configuration that was read again: the node reads what evictd was started with. */
function noticesAfter({ allocatable }: Config, loaded: LoadedConfig, machine: MachineFacts): ConfigNotice[] {
  const notices = noticesOf({ ...loaded, config: { ...loaded.config, allocatable } }, machine);
  const isNew = allocatable === undefined && loaded.config.allocatable !== undefined;
  const unread = loaded.config.thresholds.find(({ signal }) => isNew && signal === 'allocatableMemory.available');
  if (unread === undefined) return notices;
  const message = `${unread.signal}<${valueText(unread.value)} cannot be read before a restart: evictd was started without allocatable`;
  return [...notices, { level: 'warn', code: 'EVICTD_CONFIG_ALLOCATABLE', message, hint: 'restart evictd' }];
}

/** With what `config check` warns of, as far as it is so whatever workloads come: at a boot most are still to come. */
function noticesOf(loaded: LoadedConfig, machine: MachineFacts): ConfigNotice[] {
  const warnings = lintConfig(loaded, machine).filter(({ level, code }) => level === 'warn' && code !== 'EVICTD_WORKLOADS_NONE');
  return [...loaded.notices, ...warnings];
}

function announceNoSource(log: Log): void {
  log.warn('no workload source is configured: evictd watches and exports, and evicts nothing', { code: 'EVICTD_WORKLOADS_NONE' });
}

/** 'allocatableMemory.available<1Gi (not read), memory.available<100Mi, nodefs.available<10% (soft); workloads: /a, /b; compatibility kubelet, with hard-grace'. */
function inForce({ thresholds, workloads, compatibility, departures, allocatable }: Config): string {
  const limits = thresholds.map((threshold) => {
    const unread = threshold.signal === 'allocatableMemory.available' && allocatable === undefined ? ' (not read)' : '';
    return `${whenText(threshold)}${thresholdKind(threshold) === 'soft' ? ' (soft)' : ''}${unread}`;
  });
  const sources = workloads.length === 0 ? '' : `; workloads: ${workloads.map(({ cgroup }) => cgroup).join(', ')}`;
  const profile = departuresOf(compatibility);
  const switched = DEPARTURES.filter((name) => departures[name] !== profile[name]).map(
    (name) => `${departures[name] ? 'with' : 'without'} ${name}`,
  );
  const decides = compatibility === 'evictd' ? switched : [`compatibility ${compatibility}`, ...switched];
  return `${limits.join(', ') || 'no thresholds'}${sources}${decides.length === 0 ? '' : `; ${decides.join(', ')}`}`;
}

function announce(log: Log, { level, code, message, hint }: ConfigNotice): void {
  log[level](hint === undefined ? message : `${message} (${hint})`, { code });
}
