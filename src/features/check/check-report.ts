import type { ConfigNotice } from '../../config/value/report.js';
import { CHECK_EXIT, checkPressure, type CheckedSignal, type CheckStatus, type PressureCheck } from '../../core/threshold/check-status.js';
import type { ThresholdReading } from '../../core/message/message.js';
import type { Observations } from '../../core/signal/observation.js';
import type { Stall } from '../../core/signal/pressure-share.js';
import { operandsOf, type Threshold } from '../../core/threshold/threshold.js';
import type { NodeReading } from '../../metrics/metric-types.js';
import type { NodeIdentity, NotifierState, SourceProblem } from '../../monitor/ports/ports.js';
import { problemsOf } from '../../cli/output/error-text.js';

/** A problem during a check. The status is `unknown` only if a configured signal, or nothing, could be read. */
export type CheckProblem = Pick<ConfigNotice, 'code' | 'message' | 'hint' | 'position'>;

/** The result of a check, for every output format. */
export interface CheckReport extends PressureCheck {
  readonly exit: (typeof CHECK_EXIT)[CheckStatus];
  /** undefined: the check failed earlier. */
  readonly node: NodeIdentity | undefined;
  readonly notifiers: readonly NotifierState[];
  /** What all of it comes from. */
  readonly reading: NodeReading;
  readonly problems: readonly CheckProblem[];
  /** Whether `--signal` limits the report to some signals. */
  readonly isNarrow: boolean;
  /** Configuration warnings that do not affect this check; only in JSON. */
  readonly notices: readonly CheckProblem[];
  /** One moment on both clocks, to convert times. */
  readonly clock: Clock;
}
export interface Clock {
  readonly monotonicNs: bigint;
  readonly wallMs: number;
}

export interface CheckInput {
  readonly node: NodeIdentity;
  readonly observations: Observations;
  readonly thresholds: readonly Threshold[];
  readonly notifiers: readonly NotifierState[];
  /** Left out: not asked for. */
  readonly stalls?: readonly Stall[];
  /** Left out: false. */
  readonly isNarrow?: boolean;
  readonly problems: readonly SourceProblem[];
  readonly notices: readonly ConfigNotice[];
  readonly clock: Clock;
}

export function checkReport(input: CheckInput): CheckReport {
  const { node, observations, thresholds, notifiers, stalls = [], isNarrow = false, problems, notices, clock } = input;
  const { status, signals, entries, conditions } = checkPressure(observations, thresholds);
  const undecided = new Set(
    entries.filter(({ met }) => met === undefined).flatMap(({ threshold }) => operandsOf(threshold).map(({ signal }) => signal)),
  );
  const unread = signals
    .filter(
      ({ signal, observation, thresholds: checked }) =>
        checked.some(({ met }) => met === undefined) || (observation === undefined && undecided.has(signal)),
    )
    .map(({ signal, reason }) => ({ code: 'EVICTD_SIGNAL_UNREADABLE', message: `${signal} cannot be read: ${reason ?? 'no reading'}` }));
  const warnings = notices.filter(({ level }) => level === 'warn');
  return {
    status,
    exit: CHECK_EXIT[status],
    node,
    signals,
    entries,
    conditions,
    notifiers,
    reading: { observations, thresholds, notifierStates: notifiers, stalls },
    problems: [...unread, ...problems, ...standIns(signals), ...warnings.filter(concernsReading)].map(problemOf),
    isNarrow,
    notices: warnings.filter((notice) => !concernsReading(notice)).map(problemOf),
    clock,
  };
}

/** Every error makes a check `unknown`, also a configuration error and a missing node. */
export function failedReport(error: unknown, clock: Clock): CheckReport {
  return {
    status: 'unknown',
    exit: CHECK_EXIT.unknown,
    node: undefined,
    signals: [],
    entries: [],
    conditions: [],
    notifiers: [],
    reading: { observations: { observed: new Map(), missing: new Map() }, thresholds: [], notifierStates: [], stalls: [] },
    problems: problemsOf(error, 'EVICTD_CHECK_FAILED').map(problemOf),
    isNarrow: false,
    notices: [],
    clock,
  };
}

/** A share of time needs two samples, and a check takes one. */
function standIns(signals: readonly CheckedSignal[]): CheckProblem[] {
  const by = signals.filter(({ observation }) => observation?.standIn !== undefined).map(({ signal }) => signal);
  if (by.length === 0) return [];
  const message = `${by.join(', ')}: using the kernel's 10 s average (avg10), because only a running evictd knows the share of the last pressureWindow`;
  return [{ code: 'EVICTD_CHECK_PRESSURE_AVERAGE', message }];
}

/** A setting has no effect, so that a threshold may be missing from the check. */
function concernsReading({ code }: ConfigNotice): boolean {
  return code === 'EVICTD_CONFIG_CONTAINERFS' || code === 'EVICTD_CONFIG_DROPIN_NAME';
}

function problemOf({ code, message, hint, position }: CheckProblem): CheckProblem {
  return { code, message, ...(hint === undefined ? {} : { hint }), ...(position === undefined ? {} : { position }) };
}

/** RFC 3339 in UTC. */
export function wallTime(timeNs: bigint, clock: Clock): string {
  return new Date(clock.wallMs - Number(clock.monotonicNs - timeNs) / 1e6).toISOString();
}

/** Met thresholds with their values: those of the maps, then those of the list. */
export function metReadings({ signals, entries }: Pick<CheckReport, 'signals' | 'entries'>, kind?: CheckStatus): ThresholdReading[] {
  const isShown = (checked: { readonly met: boolean | undefined; readonly kind: CheckStatus }): boolean =>
    checked.met === true && (kind === undefined || checked.kind === kind);
  return [
    ...signals.flatMap(({ observation, thresholds }) =>
      thresholds.filter(isShown).flatMap(({ threshold }) => (observation ? [{ threshold, observation }] : [])),
    ),
    ...entries.filter(isShown).flatMap(({ observation, ...entry }) => (observation ? [{ ...entry, observation }] : [])),
  ];
}
