import { readdirSync, readFileSync } from 'node:fs';
import { attempt } from '../../errors.js';
import type { TimedPause } from '../../core/message/pause-message.js';
import { gauge, readCounter, type Metric } from '../metric-types.js';

/** The start by the wall clock: setting the clock later does not change it. */
const PROCESS_START_SECONDS = Date.now() / 1000 - process.uptime();

export const OWN_METRICS: readonly Metric[] = [
  readCounter('evictd_journal_errors_total', 'Failed writes to the journal in the state directory.', (_latest, own) => [
    [own.journalErrors()],
  ]),
  readCounter('evictd_journal_lost_records_total', 'Journal records that are in no journal file.', (_latest, own) => [
    [own.journalLostRecords()],
  ]),
  readCounter('evictd_log_lines_dropped_total', 'Log lines dropped because the reader was too slow or a write failed.', (_latest, own) => [
    [own.logLinesDropped()],
  ]),
  gauge('evictd_build_info', 'Always 1, with the version as label.', (_latest, own) => [[1, own.version]], ['version']),
  gauge(
    'evictd_config_last_reload_successful',
    '1 if the configuration that was read last is in force, 0 if evictd refused it.',
    ({ config }) => [[config.taken ? 1 : 0]],
  ),
  gauge(
    'evictd_config_last_reload_success_timestamp_seconds',
    'When the configuration in force was read, in seconds since 1970.',
    ({ config }) => [[config.sinceSeconds]],
  ),
  gauge('evictd_safe_mode', '1 if evictd evicts nothing because it crashed several times, else 0.', ({ safeMode }) => [
    [safeMode === undefined ? 0 : 1],
  ]),
  gauge('evictd_paused', '1 if evictd evicts nothing because an operator has paused evictions, else 0.', ({ pauses }) => [
    [pauses.some(isFull) ? 1 : 0],
  ]),
  gauge('evictd_pause_end_timestamp_seconds', 'When the pause of all evictions ends, in seconds since 1970.', ({ pauses }) => [
    [pauses.find(isFull)?.endSeconds],
  ]),
  gauge('evictd_paused_workloads', 'Workloads whose evictions an operator has paused.', ({ pauses }) => [
    [pauses.filter((pause) => !isFull(pause)).length],
  ]),
  gauge(
    'evictd_taint',
    '1 for each taint in force, except those that stand for a condition.',
    ({ taints }) => taints.map(({ key, value, effect }) => [1, key, value, effect]),
    ['key', 'value', 'effect'],
  ),
  gauge('evictd_taint_evictions_waiting', 'Workloads that tolerate a NoExecute taint for a time.', ({ taintEvictions }) => [
    [taintEvictions.length],
  ]),
  gauge('evictd_dry_run', '1 if evictd only records what it would do, else 0.', (_latest, own) => [[own.dryRun ? 1 : 0]]),
  // The names that Prometheus' client libraries agree on.
  readCounter('process_cpu_seconds_total', 'CPU time of evictd, user and system.', () => [[cpuSeconds()]]),
  gauge('process_resident_memory_bytes', 'Resident memory of evictd.', () => [[process.memoryUsage.rss()]]),
  gauge('process_open_fds', 'Open file descriptors of evictd.', () => [[openFds()]]),
  gauge('process_max_fds', 'How many file descriptors evictd may open.', () => [[(maxFds ??= readMaxFds())]]),
  gauge('process_start_time_seconds', 'When evictd started, in seconds since 1970.', () => [[PROCESS_START_SECONDS]]),
];

function isFull({ workload }: TimedPause): boolean {
  return workload === undefined;
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** The number of descriptors without the one that reads the directory. undefined: no procfs, or no free descriptor to read it. */
function openFds(): number | undefined {
  return attempt(() => readdirSync('/proc/self/fd').length - 1);
}

/** Read once. */
let maxFds: number | undefined;

/** The soft limit. undefined: none, or no procfs. */
function readMaxFds(): number | undefined {
  const text = attempt(() => readFileSync('/proc/self/limits', 'utf8')) ?? '';
  const [, limit] = /^Max open files +([0-9]+)/m.exec(text) ?? [];
  return limit === undefined ? undefined : Number(limit);
}
