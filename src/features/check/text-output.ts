import { amountOfBytes } from '../../core/quantity/amount.js';
import type { CheckedEntry, CheckedSignal, CheckedThreshold, CheckStatus } from '../../core/threshold/check-status.js';
import { comparisonText, readingsText } from '../../core/message/message.js';
import { isPressure, SIGNAL_FACTS, type Signal } from '../../core/signal/signal.js';
import { operandsOf, whenText, type ThresholdKind } from '../../core/threshold/threshold.js';
import { formatPosition } from '../../cli/output/error-text.js';
import { metReadings, type CheckProblem, type CheckReport } from './check-report.js';
import type { Colour, Style } from '../../cli/output/style.js';
import { table } from '../../cli/output/table.js';
import { printable } from '../../core/name/printable.js';
import { withHint } from '../../errors.js';

const COLOUR: Readonly<Record<CheckStatus, Colour>> = { ok: 'green', soft: 'yellow', hard: 'red', unknown: 'red' };

const COLUMNS = ['SIGNAL', '>AVAILABLE', '>CAPACITY', '>AVAIL%', '>SOFT BELOW', '>HARD BELOW', 'STATUS'];

/** The code of a usage error. */
const USAGE = 'EVICTD_USAGE';

const UNWATCHED = 'no threshold';
const LISTED = 'see below';
const ABSENT = 'not on this node';

/** The status, a table, then problems. */
export function checkText(report: CheckReport, style: Style): string {
  const { status, node, signals, entries, conditions, notifiers, problems } = report;
  const [wrong] = problems;
  if (!node && wrong?.code === USAGE) return `${style('red', 'unknown:')} ${problemText(wrong, style)}\n`;
  const rows = signals.filter(({ signal }) => !isPressure(signal)).map((signal) => rowOf(signal, entries));
  const set = conditions.filter(({ status: on }) => on === true).map(({ type }) => type);
  const dead = notifiers.filter(({ live }) => !live);
  const lines = [
    `${style(COLOUR[status], verdict(report))}${node ? style('dim', `  (${nodeText(node)})`) : ''}`,
    ...(rows.length > 0
      ? [
          '',
          ...table(
            COLUMNS,
            rows.map(({ cells }) => cells),
            (cell, row, column) => paint(cell, rows[row], column, style),
          ),
        ]
      : []),
    ...(entries.length > 0 ? ['', ...entries.map((entry) => style(COLOUR[entryStatus(entry)], entryText(entry)))] : []),
    ...(set.length > 0 || dead.length > 0 || problems.length > 0 ? [''] : []),
    ...(set.length > 0 ? [`node conditions: ${set.join(', ')}`] : []),
    ...dead.map(
      ({ mechanism, target, reason, hint, essential }) =>
        `${withHint(`notifier ${mechanism} on ${printable(target)} cannot be armed: ${reason ?? 'unknown'}`, hint)}${essential ? '; evictd run would poll' : ''}`,
    ),
    ...problems.map((problem) => problemText(problem, style)),
  ];
  return `${lines.join('\n')}\n`;
}

function problemText({ code, message, hint, position }: CheckProblem, style: Style): string {
  const place = position ? `${formatPosition(position)}: ` : '';
  return `${printable(withHint(`${place}${message}`, hint))} ${style('dim', `[${code}]`)}`;
}

/** 'met: memory.available 60MiB < 100Mi & memory.pressure.full 45.2% > 40% (soft)'. */
function entryText(entry: CheckedEntry): string {
  const { threshold, kind, observation, met } = entry;
  if (met === true && observation) return `met: ${comparisonText({ ...entry, observation })}`;
  return `${met === undefined ? 'unknown' : 'not met'}: ${whenText(threshold)} (${kind}): ${readingsText(entry)}`;
}

function entryStatus({ met, kind }: CheckedEntry): CheckStatus {
  return met === undefined ? 'unknown' : met ? kind : 'ok';
}

function verdict({ status, node, ...checked }: CheckReport): string {
  const met = metReadings(checked, status).map(comparisonText);
  switch (status) {
    case 'ok':
      return 'ok: no threshold is met';
    case 'soft':
      return `soft threshold met: ${met.join(', ')}`;
    case 'hard':
      return `hard threshold met: ${met.join(', ')}`;
    case 'unknown':
      return node ? 'unknown: not everything could be checked' : 'unknown: nothing could be checked';
  }
}

function nodeText({ name, cgroupVersion }: NonNullable<CheckReport['node']>): string {
  const node = `node: ${printable(name)}`;
  return cgroupVersion === undefined ? node : `${node}, cgroup v${String(cgroupVersion)}`;
}

interface Row {
  readonly cells: readonly string[];
  readonly status: CheckStatus;
}

function rowOf({ signal, observation, thresholds }: CheckedSignal, entries: readonly CheckedEntry[]): Row {
  const isListedBelow = entries.some(({ threshold }) => operandsOf(threshold).some((operand) => operand.signal === signal));
  const met = thresholds.filter((threshold) => threshold.met === true).map(({ kind }) => kind);
  const status: CheckStatus = thresholds.some(({ met: known }) => known === undefined)
    ? 'unknown'
    : met.includes('hard')
      ? 'hard'
      : met.includes('soft')
        ? 'soft'
        : 'ok';
  const values = observation
    ? [
        amountText(signal, observation.available),
        amountText(signal, observation.capacity),
        percentText(observation.available, observation.capacity),
      ]
    : ['?', '?', '?'];
  const word =
    thresholds.length === 0
      ? isListedBelow
        ? LISTED
        : UNWATCHED
      : !observation && status === 'ok'
        ? ABSENT
        : status === 'ok'
          ? 'ok'
          : status === 'unknown'
            ? 'unknown'
            : `${status} threshold met`;
  return { cells: [signal, ...values, limitText('soft', signal, thresholds), limitText('hard', signal, thresholds), word], status };
}

function paint(cell: string, row: Row | undefined, column: number, style: Style): string {
  if (!row) return style('dim', cell);
  return column === COLUMNS.length - 1 && cell !== UNWATCHED && cell !== LISTED ? style(COLOUR[row.status], cell) : cell;
}

/** Inodes and processes have no unit in a table. */
function amountText(signal: Signal, amount: bigint): string {
  return SIGNAL_FACTS[signal].unit === 'bytes' ? amountOfBytes(amount) : String(amount);
}

/** Rounded down, so that 100.0% means all. */
function percentText(available: bigint, capacity: bigint): string {
  if (capacity === 0n) return '-';
  return `${(Number((available * 1000n) / capacity) / 10).toFixed(1)}%`;
}

function limitText(kind: ThresholdKind, signal: Signal, thresholds: readonly CheckedThreshold[]): string {
  const threshold = thresholds.find((candidate) => candidate.kind === kind);
  if (!threshold) return '-';
  return threshold.value === undefined ? '?' : amountText(signal, threshold.value);
}
