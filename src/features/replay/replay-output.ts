import { table } from '../../cli/output/table.js';
import type { Style } from '../../cli/output/style.js';
import type { Difference, OtherReport, ReplayReport, RunReport, TimedRecord } from './replay-report.js';
import { jsonDocument } from '../../core/name/json-text.js';
import { victimName } from '../../core/workload/process.js';

const COLOURS = { same: 'dim', earlier: 'yellow', later: 'yellow', missing: 'yellow', additional: 'red' } as const;
const WORDS: Readonly<Record<Difference['kind'], string>> = {
  same: 'same',
  earlier: 'earlier',
  later: 'later',
  missing: 'not evicted',
  additional: 'additional',
};

export function replayText({ file, damages, runs }: ReplayReport, style: Style): string {
  const lost = damages.map((damage) => `${style('red', `${file}: a run cannot be read: ${damage}`)}\n`);
  const texts = runs.map((run, index) => {
    const which = runs.length === 1 ? '' : ` run ${String(index + 1)} of ${String(runs.length)}:`;
    return runText(run, `${file}:${which}`, index + 1 === runs.length, style);
  });
  return lost.join('') + texts.join('\n');
}

function runText(run: RunReport, name: string, isLast: boolean, style: Style): string {
  const { records, deviations, other, end, lost, steps } = run;
  return [
    `${name} ${summary(run)}`,
    ...(end.kind === 'cut' ? [style('yellow', `the recording is cut off (${end.reason}); replayed up to there`)] : []),
    ...(end.kind === 'open' ? [`the recording has no end: ${isLast ? 'evictd is still writing it, or ' : ''}evictd was killed`] : []),
    ...(lost > 0 ? [style('yellow', `${stepsText(lost)} missing: the disk was full or too slow`)] : []),
    '',
    ...(records.length > 0
      ? inOrder(records.filter(({ record }) => record.type !== 'ranking')).map(line)
      : [steps === 0 ? 'no step could be replayed' : 'no decisions']),
    ...(deviations.length === 0
      ? []
      : ['', style('yellow', 'this version of evictd decides differently from the one that recorded:'), ...deviations]),
    ...(other === undefined ? [] : ['', ...otherText(other, style)]),
    '',
  ].join('\n');
}

function summary({ header, span, steps }: RunReport): string {
  const when = span === undefined ? '' : `, ${span.from} to ${span.to}`;
  const dry = header.dryRun ? ', a dry run' : '';
  return `${header.node.name}, evictd ${header.version}${dry}${when}, ${stepsText(steps)}`;
}

function stepsText(steps: number): string {
  return steps === 1 ? '1 step' : `${String(steps)} steps`;
}

/** Order of the records of one step: outcomes, observations, decisions. */
const ORDER = ['outcome', 'escalation', 'reclaimed', 'threshold', 'condition', 'reclaim', 'decision', 'alert', 'error'];

/** Sorts by time, then by {@link ORDER}; the journal writes decisions first. */
function inOrder(records: readonly TimedRecord[]): readonly TimedRecord[] {
  const rank = ({ record }: TimedRecord): number => ORDER.indexOf(record.type);
  return records.toSorted((a, b) => (a.atNs === b.atNs ? rank(a) - rank(b) : Number(a.atNs - b.atNs)));
}

function line({ time, record }: TimedRecord): string {
  return `${time}  ${record.type.padEnd(10)}  ${record.message}`;
}

function otherText(other: OtherReport, style: Style): string[] {
  const { differences, records, warnings, assumptions } = other;
  const alerts = records.filter(({ record }) => record.type === 'alert');
  const rows = differences.map((difference) => [
    difference.time,
    WORDS[difference.kind],
    victimOf(difference),
    differenceReason(difference),
  ]);
  const headings = ['TIME', 'CHANGE', 'WORKLOAD', 'REASON'];
  return [
    'with the other configuration:',
    ...warnings.map((text) => style('red', `WARNING: ${text}`)),
    ...(rows.length === 0
      ? ['no evictions, as recorded']
      : table(headings, rows, (cell, row, column) => {
          const difference = differences[row];
          return column === 1 && difference ? style(COLOURS[difference.kind], cell) : cell;
        })),
    totalText(other),
    ...(alerts.length === 0 ? [] : ['', 'alerts:', ...alerts.map(line)]),
    '',
    'assumptions:',
    ...assumptions.map((text) => `  - ${text}`),
  ];
}

/** 'total: 2 evictions (1 earlier, 1 additional) where 1 was recorded; 1 not later than shown; readings …' */
function totalText({ differences, readings }: OtherReport): string {
  const kinds = (Object.keys(WORDS) as Difference['kind'][]).flatMap((kind) => {
    const count = differences.filter((difference) => difference.kind === kind).length;
    return count === 0 ? [] : [`${String(count)} ${WORDS[kind]}`];
  });
  const replayed = differences.filter(({ kind }) => kind !== 'missing').length;
  const recorded = differences.filter(({ kind }) => kind !== 'additional').length;
  const latest = differences.filter(({ notBefore }) => notBefore !== undefined).length;
  const gaps = readings.map(({ signal, largestGapNs }) => `${signal} ${seconds(largestGapNs)}`);
  return [
    `total: ${replayed === 1 ? '1 eviction' : `${String(replayed)} evictions`}, recorded ${String(recorded)}${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}`,
    ...(latest === 0 ? [] : [`${String(latest)} not later than shown`]),
    ...(gaps.length === 0 ? [] : [`readings at most apart: ${gaps.join(', ')}`]),
  ].join('; ');
}

function victimOf(difference: Difference): string {
  return victimName((difference.kind === 'missing' ? difference.recorded : difference.replayed).decision.victim);
}

function differenceReason(difference: OtherReport['differences'][number]): string {
  const { notBefore } = difference;
  return notBefore === undefined ? reasonOf(difference) : `not later than this, not before ${notBefore}: ${reasonOf(difference)}`;
}

function reasonOf(difference: Difference): string {
  switch (difference.kind) {
    case 'missing':
      return `recorded: ${difference.recorded.record.message}`;
    case 'earlier':
    case 'later':
      return `by ${seconds(difference.recorded.atNs - difference.replayed.atNs)}: ${difference.replayed.record.message}`;
    case 'same':
    case 'additional':
      return difference.replayed.record.message;
  }
}

function seconds(ns: bigint): string {
  const ms = Math.abs(Number(ns)) / 1e6;
  return ms < 1_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** Records have the format of docs/journal.md. */
export function replayJson({ file, damages, runs }: ReplayReport): string {
  return jsonDocument({ file, damages, runs: runs.map(runJson) });
}

function runJson({ header, other, records, end, ...report }: RunReport): unknown {
  const { version, node, dryRun } = header;
  const timed = (list: readonly TimedRecord[]) =>
    list.map(({ time, record: { type, ...rest } }) => ({ time, type, node: node.name, dryRun, ...rest }));
  return {
    recorded: { version, node: node.name, dryRun },
    ...report,
    end: end.kind,
    ...(end.kind === 'cut' ? { cut: end.reason } : {}),
    records: timed(records),
    ...(other === undefined
      ? {}
      : {
          other: {
            differences: other.differences.map((difference) => ({
              difference: difference.kind,
              time: difference.time,
              ...(difference.notBefore !== undefined && { notBefore: difference.notBefore }),
              victim: victimOf(difference),
              ...(difference.kind === 'additional' ? {} : { recorded: difference.recorded.record }),
              ...(difference.kind === 'missing' ? {} : { replayed: difference.replayed.record }),
            })),
            readings: other.readings.map(({ signal, readings, largestGapNs }) => ({
              signal,
              readings,
              largestGapMs: Number(largestGapNs) / 1e6,
            })),
            records: timed(other.records),
            warnings: other.warnings,
            assumptions: other.assumptions,
          },
        }),
  };
}
