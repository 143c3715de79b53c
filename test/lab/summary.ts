import { Distribution } from '../bench/distribution.js';
import { digits, markdown } from '../bench/table.js';
import { type Fields, fieldsOf, numberOf } from './fields.js';
import type { Outcome } from './round.js';

/** What others are compared with: in the same run, on the same machine. */
const BASELINE = 'earlyoom';

const MACHINE_TITLES = ['memory', 'swap', 'occupied by', 'MiB/s (measured)', 'contestant'] as const;

const END_TITLES = [...MACHINE_TITLES, 'rounds', 'won', 'other ends', 'lowest, MiB', 'stall, ms'] as const;

const TIME_TITLES = [...MACHINE_TITLES, 'first signal, ms', '÷ earlyoom', 'gone after, ms', '÷ earlyoom'] as const;

const IDLE_TITLES = ['workloads', 'contestant', 's', 'processor, ms', '÷ earlyoom', 'RSS, MiB', 'PSS, MiB', 'anonymous, MiB'] as const;

const THRASH_TITLES = ['memory', 'swap', 'work', 'contestant', 's', 'lowest, MiB', 'full, %', 'refaults', 'ended', 'after, s'] as const;

export interface Summary {
  readonly table: string;
  /** When the runs in the table began: the first and the last. */
  readonly runs: string;
}

/** Of the lines of rounds: how they ended, and median and worst of the times of each contestant. A table of both is too wide. */
export function raceSummary(lines: readonly string[]): Summary {
  const groups = latest(lines, ['memory', 'swap', 'occupied', 'rate']);
  const rows = groups.flatMap(raceRows);
  const ends = markdown(
    END_TITLES,
    rows.map(({ machine, end }) => [...machine, ...end]),
    (column) => column >= 5 && column !== 7,
  );
  const times = markdown(
    TIME_TITLES,
    rows.map(({ machine, time }) => [...machine, ...time]),
    (column) => column >= 5,
  );
  return { table: `${ends}\n\n${times}`, runs: runsOf(groups) };
}

/** Of the lines of idle contestants. */
export function idleSummary(lines: readonly string[]): Summary {
  const groups = latest(lines, ['workloads']);
  return { table: markdown(IDLE_TITLES, groups.flatMap(idleRows), (column) => column >= 2), runs: runsOf(groups) };
}

/** Of the lines of work that may put memory under pressure. */
export function thrashSummary(lines: readonly string[]): Summary {
  const groups = latest(lines, ['memory', 'swap', 'who', 'work']);
  const rows = groups.flatMap((group) => group.map(thrashRow));
  return { table: markdown(THRASH_TITLES, rows, (column) => column >= 4 && column !== 8), runs: runsOf(groups) };
}

function runsOf(groups: readonly (readonly Fields[])[]): string {
  const runs = groups.map(([fields]) => fields?.run ?? '').sort();
  const [first = '', last = ''] = [runs[0], runs.at(-1)];
  return first === last ? first : `${first} to ${last}`;
}

/** Lines with the same values of `names`, of the latest run that has these values. Times of two runs are not compared. */
function latest(lines: readonly string[], names: readonly string[]): Fields[][] {
  const groups = new Map<string, Fields[]>();
  for (const fields of lines.filter((line) => line.trim() !== '').map(fieldsOf)) {
    const key = names.map((name) => fields[name] ?? '').join(' ');
    const group = groups.get(key) ?? [];
    const [run = '', known = ''] = [fields.run, group[0]?.run];
    if (run >= known) groups.set(key, run === known ? [...group, fields] : [fields]);
  }
  return [...groups.values()];
}

interface RaceRow {
  readonly machine: readonly string[];
  readonly end: readonly string[];
  readonly time: readonly string[];
}

function raceRows(group: readonly Fields[]): RaceRow[] {
  const baseline = byContestant(group).get(BASELINE) ?? [];
  return [...byContestant(group)].map(([contestant, rounds]) => {
    const [{ memory = '', swap = '', occupied = '', rate = '' } = {}] = rounds;
    const compared = (name: string): string[] => {
      const [of, to] = [spread(rounds, name), spread(baseline, name)];
      return [
        medianAndMax(of),
        contestant === BASELINE || !of || !to ? '' : `${digits(of.median / to.median)} / ${digits(of.max / to.max)}`,
      ];
    };
    const lowest = spread(rounds, 'low_available_kib');
    const measured = spread(rounds, 'rate_before');
    return {
      machine: [
        memory,
        swap,
        occupied,
        `${rate === '0' ? 'unthrottled' : rate}${measured ? ` (${digits(measured.median)})` : ''}`,
        contestant,
      ],
      end: [
        String(rounds.length),
        String(rounds.filter(({ outcome }) => outcome === 'won').length),
        otherEnds(rounds),
        lowest ? `${mib(lowest.median)} / ${mib(lowest.quantile(0))}` : '',
        medianAndMax(spread(rounds, 'stall_ms')),
      ],
      time: [...compared('signal_ms'), ...compared('gone_ms')],
    };
  });
}

function otherEnds(rounds: readonly Fields[]): string {
  const others: readonly Outcome[] = ['kernel', 'wrong', 'early', 'undecided'];
  return others
    .map((other) => [other, rounds.filter(({ outcome }) => outcome === other).length] as const)
    .filter(([, count]) => count > 0)
    .map(([other, count]) => `${other} ${String(count)}`)
    .join(', ');
}

function idleRows(group: readonly Fields[]): string[][] {
  const baseline = group.find(({ who }) => who === BASELINE);
  const baselineMs = baseline && numberOf(baseline, 'cpu_ms');
  return group.map((fields) => {
    const { who = '', workloads = '', seconds = '' } = fields;
    const ms = numberOf(fields, 'cpu_ms') ?? 0;
    const ratio = who === BASELINE || !baselineMs ? '' : digits(ms / baselineMs);
    return [
      workloads,
      who,
      seconds,
      String(ms),
      ratio,
      ...['rss_kib', 'pss_kib', 'anonymous_kib'].map((name) => mib(numberOf(fields, name) ?? 0)),
    ];
  });
}

function thrashRow({ memory = '', swap = '', ...fields }: Fields): string[] {
  const { work = '', who = '', seconds = '', low_available_mib = '', full_percent = '', refaults = '', ended = '', after_s = '' } = fields;
  return [memory, swap, work.replaceAll('_', ' '), who, seconds, low_available_mib, full_percent, refaults, ended, after_s];
}

function byContestant(group: readonly Fields[]): Map<string, Fields[]> {
  const found = new Map<string, Fields[]>();
  for (const fields of group) found.set(fields.who ?? '', [...(found.get(fields.who ?? '') ?? []), fields]);
  return found;
}

/** undefined: no round has a value. */
function spread(rounds: readonly Fields[], name: string): Distribution | undefined {
  const values = rounds.flatMap((fields) => numberOf(fields, name) ?? []);
  return values.length > 0 ? new Distribution(values) : undefined;
}

function medianAndMax(values: Distribution | undefined): string {
  return values ? `${values.median.toFixed(0)} / ${values.max.toFixed(0)}` : '';
}

function mib(kib: number): string {
  return (kib / 1024).toFixed(kib < 100 * 1024 ? 1 : 0);
}
