import { STALL_KINDS, STALL_RESOURCES, type StallKind, type StallResource } from '../core/signal.js';

/** A metric as Prometheus describes it: names and labels are promises (docs/metrics.md has the same list, checked by a test). */
export interface Definition {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

const define = (type: Definition['type'], name: string, help: string, labels: readonly string[] = []): Definition => ({
  name,
  type,
  help,
  labels,
});

export const SIGNAL_AVAILABLE = define(
  'gauge',
  'evictd_signal_available',
  'What is available, in the unit of the signal: bytes, inodes or processes.',
  ['eviction_signal'],
);
export const SIGNAL_CAPACITY = define(
  'gauge',
  'evictd_signal_capacity',
  'What there is in all, in the unit of the signal: bytes, inodes or processes.',
  ['eviction_signal'],
);
export const SIGNAL_THRESHOLD = define(
  'gauge',
  'evictd_signal_threshold',
  'The threshold is met when less than this is available, in the unit of the signal.',
  ['eviction_signal', 'kind'],
);
export const SIGNAL_PRESSURE = define('gauge', 'evictd_signal_pressure_ratio', 'Share of the wall time that tasks waited, 0 to 1.', [
  'eviction_signal',
]);
export const THRESHOLD_MET = define('gauge', 'evictd_threshold_met', '1 while all operands of an entry of thresholds are met, else 0.', [
  'when',
  'kind',
]);
const total = (resource: StallResource, kind: StallKind) => ({
  resource,
  kind,
  definition: define(
    'counter',
    `evictd_pressure_${resource}_${kind === 'some' ? 'waiting' : 'stalled'}_seconds_total`,
    kind === 'some'
      ? `Time in which some task waited for ${resource}.`
      : `Time in which all tasks that were not idle waited for ${resource}.`,
  ),
});
/** As node_exporter names them: waiting is the kernel's some, stalled its full. */
export const PRESSURE_TOTALS = STALL_RESOURCES.flatMap((resource) => STALL_KINDS.map((kind) => total(resource, kind)));
export const NODE_CONDITION = define('gauge', 'evictd_node_condition', '1 while the node has the condition, else 0.', ['condition']);
export const NOTIFIER_LIVE = define(
  'gauge',
  'evictd_notifier_live',
  '1 while every notification of this mechanism is armed; 0: another mechanism stands in for it, or evictd polls.',
  ['mechanism'],
);
export const SIGNAL_POLLED = define(
  'gauge',
  'evictd_signal_polled',
  '1 while nothing wakes evictd when this signal crosses a threshold, so that it is only polled.',
  ['eviction_signal'],
);
export const SAMPLER_PERIOD = define(
  'gauge',
  'evictd_sampler_period_seconds',
  'How soon the native sampler looks at the signal again, as of the last tick: the nearer the limit, the sooner.',
  ['eviction_signal'],
);
export const CHECK_EXIT_CODE = define(
  'gauge',
  'evictd_check_exit_code',
  'The exit code of evictd check: 0 ok, 1 soft threshold met, 2 hard threshold met, 3 unknown. Only from evictd check.',
);

export const EVICTIONS = define(
  'counter',
  'evictd_evictions_total',
  'Workloads killed, no process left, by the signal that asked for it.',
  ['eviction_signal'],
);
export const EVICTIONS_FAILED = define(
  'counter',
  'evictd_evictions_failed_total',
  'Kills that failed or left processes; not counted in evictd_evictions_total.',
  ['eviction_signal'],
);
export const EVICTIONS_INEFFECTIVE = define(
  'counter',
  'evictd_evictions_ineffective_total',
  'Workloads killed that gave back little; counted in evictd_evictions_total, too.',
  ['eviction_signal'],
);
export const ALERTS = define(
  'counter',
  'evictd_alerts_total',
  'Episodes in which a threshold asked for an eviction and got none, by the reason; restart-storm: it got one that does not help for long.',
  ['alert', 'eviction_signal'],
);
export const RECLAIMS = define('counter', 'evictd_reclaims_total', 'Runs of a step of node-level reclaim.', ['step']);
export const RECLAIMS_FAILED = define(
  'counter',
  'evictd_reclaims_failed_total',
  'Runs of a step of node-level reclaim of which not all could be done; counted in evictd_reclaims_total, too.',
  ['step'],
);
export const RECLAIMED_BYTES = define(
  'counter',
  'evictd_reclaimed_bytes_total',
  'What came free on the filesystem that was short while the step ran.',
  ['step'],
);
export const RECLAIMED_INODES = define('counter', 'evictd_reclaimed_inodes_total', 'The same of inodes.', ['step']);
export const OOM_KILLS = define(
  'counter',
  'evictd_oom_kills_total',
  "Processes below the node that the kernel's OOM killer killed, by whose limit was reached.",
  ['limit'],
);
export const THRESHOLDS_MET = define('counter', 'evictd_thresholds_met_total', 'Episodes in which a threshold was met.', [
  'eviction_signal',
  'kind',
]);
export const UNITS_HELD = define(
  'gauge',
  'evictd_units_held',
  'systemd units that evictd keeps stopped, and starts again when the node has recovered.',
);
export const SHUTDOWN_START = define(
  'gauge',
  'evictd_graceful_shutdown_start_time_seconds',
  'When the last shutdown of the machine began to end workloads, in seconds since 1970; 0: none has since evictd was started.',
);
export const SHUTDOWN_END = define(
  'gauge',
  'evictd_graceful_shutdown_end_time_seconds',
  'When that was over, or called off, in seconds since 1970; 0: it is not.',
);
export const WAKE_TO_SIGNAL = define(
  'histogram',
  'evictd_wake_to_signal_seconds',
  'From the moment a threshold was seen crossed to the first signal sent to the victim.',
);
export const SAMPLE_AGE = define('gauge', 'evictd_sample_age_seconds', 'Time since the node was last read, at the time of the scrape.');
export const JOURNAL_ERRORS = define('counter', 'evictd_journal_errors_total', 'Writes to the journal in the state directory that failed.');
export const JOURNAL_LOST = define('counter', 'evictd_journal_lost_records_total', 'Records that no journal file will have.');
export const LOG_DROPPED = define('counter', 'evictd_log_lines_dropped_total', 'Log lines lost because nobody read them.');
export const BUILD_INFO = define('gauge', 'evictd_build_info', 'Always 1; the version is the label.', ['version']);
export const CONFIG_TAKEN = define(
  'gauge',
  'evictd_config_last_reload_successful',
  '1 if the configuration that was read last is in force, 0 if it was refused and the one before is.',
);
export const CONFIG_SINCE = define(
  'gauge',
  'evictd_config_last_reload_success_timestamp_seconds',
  'When the configuration in force was read, in seconds since 1970.',
);
export const DRY_RUN = define('gauge', 'evictd_dry_run', '1 if evictd only records what it would do, else 0.');
export const PROCESS_CPU = define('counter', 'evictd_process_cpu_seconds_total', 'CPU time of evictd, user and system.');
export const PROCESS_RESIDENT = define('gauge', 'evictd_process_resident_memory_bytes', 'Memory of evictd that is resident.');
export const PROCESS_OPEN_FDS = define('gauge', 'evictd_process_open_fds', 'Open file descriptors of evictd.');
export const PROCESS_START = define('gauge', 'evictd_process_start_time_seconds', 'When evictd was started, in seconds since 1970.');
