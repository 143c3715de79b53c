import { table } from './table.js';
import type { Style } from './style.js';
import type { Difference } from '../replay/difference.js';
import type { OtherReport, ReplayReport, TimedRecord } from '../replay/report.js';

const COLOURS = { same: 'dim', earlier: 'yellow', later: 'yellow', missing: 'yellow', additional: 'red' } as const;
const WORDS: Readonly<Record<Difference['kind'], string>> = {
  same: 'the same',
  earlier: 'earlier',
  later: 'later',
  missing: 'not evicted',
  additional: 'in addition',
};

export function replayText(report: ReplayReport, style: Style): string {
  const { records, deviations, other, end } = report;
  return [
    summary(report),
    ...(end.kind === 'cut' ? [style('yellow', `it ends in the middle (${end.reason}): replayed up to there`)] : []),
    ...(end.kind === 'open' ? ['it has no end: it is still being written, or evictd was killed'] : []),
    ...(report.lost > 0 ? [style('yellow', `${String(report.lost)} steps are missing: the disk could not take them`)] : []),
    '',
    ...(records.length === 0 ? ['nothing was decided'] : records.map(line)),
    ...(deviations.length === 0 ? [] : ['', style('yellow', 'this evictd decides otherwise than the one that recorded:'), ...deviations]),
    ...(other === undefined ? [] : ['', ...otherText(other, style)]),
    '',
  ].join('\n');
}

function summary({ file, header, span, steps }: ReplayReport): string {
  const when = span === undefined ? '' : `, ${span.from} to ${span.to}`;
  const dry = header.dryRun ? ', a dry run' : '';
  return `${file}: ${header.node.name}, evictd ${header.version}${dry}${when}, ${String(steps)} steps`;
}

function line({ time, record }: TimedRecord): string {
  return `${time}  ${record.type.padEnd(10)}  ${record.message}`;
}

function otherText({ differences, assumptions }: OtherReport, style: Style): string[] {
  const rows = differences.map((difference) => [difference.time, WORDS[difference.kind], victimOf(difference), whyOf(difference)]);
  const headings = ['WHEN', 'THEN', 'WORKLOAD', 'WHY'];
  return [
    'with the other configuration:',
    ...(rows.length === 0
      ? ['nobody is evicted, as recorded']
      : table(
          headings.map((heading) => ({ heading, align: 'left' })),
          rows,
          (cell, row, column) => {
            const difference = differences[row];
            return column === 1 && difference ? style(COLOURS[difference.kind], cell) : cell;
          },
        )),
    '',
    'assumed:',
    ...assumptions.map((text) => `  - ${text}`),
  ];
}

function victimOf(difference: Difference): string {
  return (difference.kind === 'missing' ? difference.recorded : difference.replayed).decision.victim.workload.name;
}

function whyOf(difference: Difference): string {
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

/** Records as docs/journal.md has them. */
export function replayJson({ header, other, records, end, ...report }: ReplayReport): string {
  const { version, node, dryRun } = header;
  const timed = (list: readonly TimedRecord[]) =>
    list.map(({ time, record: { type, ...rest } }) => ({ time, type, node: node.name, ...rest }));
  const plain = {
    ...report,
    recorded: { version, node: node.name, dryRun },
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
              victim: victimOf(difference),
              ...(difference.kind === 'additional' ? {} : { recorded: difference.recorded.record }),
              ...(difference.kind === 'missing' ? {} : { replayed: difference.replayed.record }),
            })),
            records: timed(other.records),
            assumptions: other.assumptions,
          },
        }),
  };
  return `${JSON.stringify(plain, undefined, 2)}\n`;
}
