import { describe, expect, test } from 'vitest';
import { LONGEST_ROW } from '../support/markdown-list.js';
import { idleSummary, raceSummary, thrashSummary, type Summary } from './summary.js';

const rounds = (who: string, run: string, ...rest: readonly string[]): string[] =>
  rest.map((each) => `run=${run} who=${who} memory=1G swap=none occupied=nothing rate=50 ${each}`);

/** The rows of the tables by their titles; those of several tables, which have the same rows, are joined. */
function rowsOf({ table }: Summary): Record<string, string>[] {
  const tables = table.split('\n\n').map(rowsOfOne);
  return (tables[0] ?? []).map((_, index) => Object.assign({}, ...tables.map((rows) => rows[index])) as Record<string, string>);
}

function rowsOfOne(table: string): Record<string, string>[] {
  const [titles = [], , ...rows] = table.split('\n').map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
  return rows.map((row) =>
    Object.fromEntries(
      titles.map((title, column) => [title === '÷ earlyoom' ? `${titles[column - 1] ?? ''} ÷` : title, row[column] ?? '']),
    ),
  );
}

const EARLYOOM = rounds(
  'earlyoom',
  '1',
  'outcome=won signal_ms=100 gone_ms=400 low_available_kib=92160 stall_ms=50 rate_before=40',
  'outcome=won signal_ms=300 gone_ms=500 low_available_kib=81920 stall_ms=70 rate_before=48',
  'outcome=won signal_ms=200 gone_ms=900 low_available_kib=87040 stall_ms=60 rate_before=50',
);
const EVICTD = rounds(
  'evictd',
  '1',
  'outcome=won signal_ms=10 gone_ms=200 low_available_kib=102400 stall_ms=20',
  'outcome=kernel signal_ms=90 gone_ms=450 low_available_kib=0 stall_ms=800',
  'outcome=early signal_ms=- gone_ms=- low_available_kib=204800 stall_ms=-',
  'outcome=early signal_ms=- gone_ms=- low_available_kib=- stall_ms=-',
);

describe('the table of a race', () => {
  test('has median and worst of each contestant, compared with earlyoom', () => {
    expect(rowsOf(raceSummary([...EARLYOOM, ...EVICTD]))).toEqual([
      {
        ...{ memory: '1G', swap: 'none', 'occupied by': 'nothing', 'MiB/s (measured)': '50 (48.0)', contestant: 'earlyoom' },
        ...{ rounds: '3', won: '3', 'other ends': '', 'first signal, ms': '200 / 300', 'first signal, ms ÷': '' },
        ...{ 'gone after, ms': '500 / 900', 'gone after, ms ÷': '', 'lowest, MiB': '85.0 / 80.0', 'stall, ms': '60 / 70' },
      },
      {
        ...{ memory: '1G', swap: 'none', 'occupied by': 'nothing', 'MiB/s (measured)': '50', contestant: 'evictd' },
        ...{
          rounds: '4',
          won: '1',
          'other ends': 'kernel 1, early 2',
          'first signal, ms': '50 / 90',
          'first signal, ms ÷': '0.250 / 0.300',
        },
        ...{ 'gone after, ms': '325 / 450', 'gone after, ms ÷': '0.650 / 0.500', 'lowest, MiB': '100 / 0.0', 'stall, ms': '410 / 800' },
      },
    ]);
  });

  test('no line is wider than a row of a table in a page may be', () => {
    const wide = [...EARLYOOM, ...EVICTD].map((line) =>
      line.replace('rate=50', 'rate=0').replace('occupied=nothing', 'occupied=hugepages'),
    );
    expect(
      raceSummary(wide)
        .table.split('\n')
        .filter((line) => line.length > LONGEST_ROW),
    ).toEqual([]);
  });

  test('has no comparison without earlyoom in the same run', () => {
    const [row] = rowsOf(raceSummary(EVICTD));
    expect([row?.contestant, row?.['first signal, ms ÷'], row?.['gone after, ms ÷']]).toEqual(['evictd', '', '']);
  });

  test('has only the later of two runs on the same machine at the same rate, whatever their order', () => {
    const later = rounds('evictd', '2', 'outcome=won signal_ms=7');
    const expected = [['evictd', '1', '7 / 7', '']];
    const shown = (lines: string[]) =>
      rowsOf(raceSummary(lines)).map((row) => [row.contestant, row.rounds, row['first signal, ms'], row['first signal, ms ÷']]);
    expect([shown([...EARLYOOM, ...later, ...EVICTD]), shown([...later, ...EARLYOOM])]).toEqual([expected, expected]);
  });

  test('has a separate group for another rate, memory, swap or occupation', () => {
    const others = ['rate=50 rate=0', 'memory=1G memory=4G', 'swap=none swap=zram', 'occupied=nothing occupied=slab'].map((pair) => {
      const [from = '', to = ''] = pair.split(' ');
      return rounds('evictd', '2', 'outcome=won signal_ms=7').map((line) => line.replace(from, to));
    });
    const rows = rowsOf(raceSummary([...EARLYOOM, ...others.flat()]));
    expect(rows.map((row) => [row.contestant, row.memory, row.swap, row['occupied by'], row['MiB/s (measured)']])).toEqual([
      ['earlyoom', '1G', 'none', 'nothing', '50 (48.0)'],
      ['evictd', '1G', 'none', 'nothing', 'unthrottled'],
      ['evictd', '4G', 'none', 'nothing', '50'],
      ['evictd', '1G', 'zram', 'nothing', '50'],
      ['evictd', '1G', 'none', 'slab', '50'],
    ]);
  });
});

test('the idle table has processor time compared with earlyoom, for each number of workloads, and memory', () => {
  const line = (who: string, workloads: string, ms: number): string =>
    `run=1 who=${who} workloads=${workloads} seconds=60 cpu_ms=${String(ms)} rss_kib=2048 pss_kib=1536 anonymous_kib=204800`;
  const lines = [line('earlyoom', '20-units', 600), line('evictd', '20-units', 300), line('evictd', '300-cgroups', 900)];
  const memory = { 'RSS, MiB': '2.0', 'PSS, MiB': '1.5', 'anonymous, MiB': '200' };
  expect(rowsOf(idleSummary(lines))).toEqual([
    { workloads: '20-units', contestant: 'earlyoom', s: '60', 'processor, ms': '600', 'processor, ms ÷': '', ...memory },
    { workloads: '20-units', contestant: 'evictd', s: '60', 'processor, ms': '300', 'processor, ms ÷': '0.500', ...memory },
    { workloads: '300-cgroups', contestant: 'evictd', s: '60', 'processor, ms': '900', 'processor, ms ÷': '', ...memory },
  ]);
});

test('the thrash table has the memory of each kind of work and whether it was ended, from the latest run', () => {
  const line = (run: string, work: string, more: string): string =>
    `run=${run} memory=2G swap=zram who=evictd-defaults work=${work} seconds=42 total_mib=1960 low_available_mib=180 full_percent=37 refaults=5 ${more}`;
  const lines = [
    line('1', 'backup', 'ended=web after_s=3'),
    line('2', 'backup', 'ended=- after_s=-'),
    line('2', 'database_and_leak', 'ended=leak after_s=42'),
  ];
  const memory = {
    memory: '2G',
    swap: 'zram',
    contestant: 'evictd-defaults',
    s: '42',
    'lowest, MiB': '180',
    'full, %': '37',
    refaults: '5',
  };
  expect(rowsOf(thrashSummary(lines))).toEqual([
    { ...memory, work: 'backup', ended: '', 'after, s': '' },
    { ...memory, work: 'database and leak', ended: 'leak', 'after, s': '42' },
  ]);
});

test('a table names its runs: one, or the first and the last, without those that do not count', () => {
  const other = rounds('evictd', '3', 'outcome=won').map((line) => line.replace('rate=50', 'rate=0'));
  const later = rounds('evictd', '2', 'outcome=won');
  expect([raceSummary(EARLYOOM).runs, raceSummary([...EARLYOOM, ...other, ...later]).runs]).toEqual(['1', '2 to 3']);
});
