import { table } from './table.js';
import type { Style } from './style.js';
import type { Difference } from '../replay/difference.js';
import type { OtherReport, ReplayReport, RunReport, TimedRecord } from '../replay/report.js';

const COLOURS = { same: 'dim', earlier: 'yellow', later: 'yellow', missing: 'yellow', additional: 'red' } as const;
const WORDS: Readonly<Record<Difference['kind'], string>> = {
  same: 'the same',
  earlier: 'earlier',
  later: 'later',
  missing: 'not evicted',
  additional: 'in addition',
};

export function replayText({ file, runs }: ReplayReport, style: Style): string {
  return runs
    .map((run, index) => {
      const which = runs.length === 1 ? '' : ` run ${String(index + 1)} of ${String(runs.length)}:`;
      return runText(run, `${file}:${which}`, index + 1 === runs.length, style);
    })
    .join('\n');
}

function runText(run: RunReport, name: string, isLast: boolean, style: Style): string {
  const { records, deviations, other, end, lost } = run;
  return [
    `${name} ${summary(run)}`,
    ...(end.kind === 'cut' ? [style('yellow', `it ends in the middle (${end.reason}): replayed up to there`)] : []),
    ...(end.kind === 'open' ? [`it has no end: ${isLast ? 'it is still being written, or ' : ''}evictd was killed`] : []),
    ...(lost > 0 ? [style('yellow', `${String(lost)} steps are missing: the disk could not take them`)] : []),
    '',
    ...(records.length === 0 ? ['nothing was decided'] : records.map(line)),
    ...(deviations.length === 0 ? [] : ['', style('yellow', 'this evictd decides otherwise than the one that recorded:'), ...deviations]),
    ...(other === undefined ? [] : ['', ...otherText(other, style)]),
    '',
  ].join('\n');
}

function summary({ header, span, steps }: RunReport): string {
  const when = span === undefined ? '' : `, ${span.from} to ${span.to}`;
  const dry = header.dryRun ? ', a dry run' : '';
  return `${header.node.name}, evictd ${header.version}${dry}${when}, ${String(steps)} steps`;
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
export function replayJson({ file, runs }: ReplayReport): string {
  return `${JSON.stringify({ file, runs: runs.map(runJson) }, undefined, 2)}\n`;
}

function runJson({ header, other, records, end, ...report }: RunReport): unknown {
  const { version, node, dryRun } = header;
  const timed = (list: readonly TimedRecord[]) =>
    list.map(({ time, record: { type, ...rest } }) => ({ time, type, node: node.name, ...rest }));
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
              victim: victimOf(difference),
              ...(difference.kind === 'additional' ? {} : { recorded: difference.recorded.record }),
              ...(difference.kind === 'missing' ? {} : { replayed: difference.replayed.record }),
            })),
            records: timed(other.records),
            assumptions: other.assumptions,
          },
        }),
  };
}
