import { isDeepStrictEqual } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import type { Config, ConfigNotice, LoadedConfig } from '../config/config.js';
import { DEPARTURES, departuresOf } from '../core/decide/departures.js';
import { formatDuration } from '../core/quantity/duration.js';
import { requestedText, delayRemedy, suffices } from '../core/systemd/inhibit-delay.js';
import { shutdownRequestedNs, type ShutdownConfig } from '../core/workload/shutdown-config.js';
import { thresholdKind, valueText, whenText } from '../core/threshold/threshold.js';
import { COUNTING_DEPARTURES, withNodeOf } from '../node/configuration-in-force.js';
import { sourceText } from '../workloads/kinds/source-spec.js';
import { selectHost } from '../host/select.js';
import type { MachineFacts } from '../config/lint/machine.js';
import type { Log } from '../log/log.js';
import type { NodeIdentity } from '../monitor/ports/ports.js';
import { lintConfig } from '../config/lint-notices.js';
import { withHint } from '../errors.js';

export interface StartFacts {
  readonly node: NodeIdentity;
  readonly dryRun: boolean;
  /** evictd may signal processes of other users. */
  readonly canSignalOthers: boolean;
  /** What is known of the machine without its workloads. */
  readonly machine: MachineFacts;
}

/** Logs what the operator should know at the start. */
export function announceStart(
  log: Log,
  loaded: LoadedConfig,
  { node, dryRun, canSignalOthers, machine }: StartFacts,
  warnOfDelay = warnOfInhibitDelay,
): void {
  const { config } = loaded;
  const does = dryRun ? 'makes a dry run, which evicts nothing, on' : 'guards';
  log.info(`evictd ${manifest.version} ${does} node ${node.name}: ${inForce(config)}`, { thresholds: config.thresholds.length });
  for (const notice of noticesOf(loaded, machine)) announce(log, notice);
  if (config.workloads.length > 0 && !canSignalOthers && !dryRun) {
    const { toEndOthers } = selectHost().elevation;
    log.warn(`evictd can signal only processes of its own user (${toEndOthers})`, { code: 'EVICTD_KILL_PRIVILEGE' });
  }
  void warnOfDelay(log, config.shutdown);
}

/** Top-level keys of the configuration that need a restart. */
const FIXED = [
  'node',
  'allocatable',
  'pressureWindowNs',
  'filesystems',
  'metrics',
  'controlSocket',
  'safeMode',
  'journal',
  'stateDirectory',
  'runtimeDirectory',
  'log',
  'kubernetes',
] as const;

/** The result of a reload. */
export interface ReloadAnnouncement {
  /** The configuration that is in force now. */
  readonly message: string;
  /** Warnings as in the log, one a line. */
  readonly warnings: readonly string[];
}

/** Logs notices that the configuration before did not have. */
export function announceReload(
  log: Log,
  started: Config,
  before: LoadedConfig,
  loaded: LoadedConfig,
  machine: MachineFacts,
  warnOfDelay = warnOfInhibitDelay,
): ReloadAnnouncement {
  const config = withNodeOf(started, loaded.config);
  const fixed = [
    ...FIXED.filter((key) => !isDeepStrictEqual(started[key], loaded.config[key])),
    ...COUNTING_DEPARTURES.filter((name) => started.departures[name] !== loaded.config.departures[name]),
  ];
  const known = new Set(noticesAfter(started, before, machine).map(({ message }) => message));
  const notices = [
    ...(fixed.length > 0 ? [restartNotice(fixed)] : []),
    ...noticesAfter(started, loaded, machine).filter((notice) => !known.has(notice.message)),
  ];
  for (const notice of notices) announce(log, notice);
  if (!isDeepStrictEqual(config.shutdown, before.config.shutdown)) void warnOfDelay(log, config.shutdown);
  const message = `evictd reloaded its configuration: ${inForce(config)}`;
  log.info(message, { thresholds: config.thresholds.length });
  return { message, warnings: notices.filter(({ level }) => level !== 'info').map(noticeText) };
}

function restartNotice(fixed: readonly string[]): ConfigNotice {
  const keys = fixed.map((key) => (key === 'pressureWindowNs' ? 'pressureWindow' : key)).join(', ');
  return { level: 'warn', code: 'EVICTD_RELOAD_RESTART', message: `changed, but in force only after a restart: ${keys}` };
}

/** The notices of a reloaded configuration. `allocatable` stays as it was at the start. */
function noticesAfter({ allocatable }: Config, loaded: LoadedConfig, machine: MachineFacts): ConfigNotice[] {
  const notices = noticesOf({ ...loaded, config: { ...loaded.config, allocatable } }, machine);
  const isNew = allocatable === undefined && loaded.config.allocatable !== undefined;
  const unread = loaded.config.thresholds.find(({ signal }) => isNew && signal === 'allocatableMemory.available');
  if (unread === undefined) return notices;
  const message = `${unread.signal}<${valueText(unread.value)} cannot be read before a restart: evictd was started without allocatable`;
  return [...notices, { level: 'warn', code: 'EVICTD_CONFIG_ALLOCATABLE', message, hint: 'restart evictd' }];
}

/** The warnings of `config check` that do not depend on workloads: at boot most workloads have not started yet. */
function noticesOf(loaded: LoadedConfig, machine: MachineFacts): ConfigNotice[] {
  const warnings = lintConfig(loaded, machine).filter(({ level }) => level !== 'info');
  return [...loaded.notices, ...warnings];
}

/** 'memory.available<100Mi, nodefs.available<10% (soft); workloads: /a, /b; compatibility kubelet, with hard-grace' */
function inForce({ thresholds, workloads, compatibility, departures, allocatable }: Config): string {
  const limits = thresholds.map((threshold) => {
    const unread = threshold.signal === 'allocatableMemory.available' && allocatable === undefined ? ' (not read)' : '';
    return `${whenText(threshold)}${thresholdKind(threshold) === 'soft' ? ' (soft)' : ''}${unread}`;
  });
  const sources = workloads.length === 0 ? '' : `; workloads: ${workloads.map(sourceText).join(', ')}`;
  const profile = departuresOf(compatibility);
  const switched = DEPARTURES.filter((name) => departures[name] !== profile[name]).map(
    (name) => `${departures[name] ? 'with' : 'without'} ${name}`,
  );
  const decides = compatibility === 'evictd' ? switched : [`compatibility ${compatibility}`, ...switched];
  return `${limits.join(', ') || 'no thresholds'}${sources}${decides.length === 0 ? '' : `; ${decides.join(', ')}`}`;
}

/** A setting without an effect is a warning, because evictd works as configured otherwise. */
function announce(log: Log, notice: ConfigNotice): void {
  log[notice.level === 'info' ? 'info' : 'warn'](noticeText(notice), { code: notice.code });
}

function noticeText({ message, hint }: ConfigNotice): string {
  return withHint(message, hint);
}

/**
 * Warns if logind delays a shutdown for less than the configuration requests. MachineShutdown warns if it does not
 * delay it at all.
 */
export async function warnOfInhibitDelay(log: Log, shutdown: ShutdownConfig, read = () => selectHost().awaitInhibitDelay()): Promise<void> {
  const requestedNs = shutdownRequestedNs(shutdown);
  if (requestedNs <= 0n) return;
  const delay = await read();
  if (delay === undefined || suffices(delay, requestedNs) === true) return;
  const waits = `logind lets a shutdown wait for ${formatDuration(delay.maxNs)} (InhibitDelayMaxSec): then systemd ends the workloads that are left`;
  log.warn(`${requestedText(requestedNs)}; ${waits} (${delayRemedy(delay, requestedNs)})`, {
    code: 'EVICTD_SHUTDOWN_DELAY',
  });
}
