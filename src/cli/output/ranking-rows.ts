import type { Departures } from '../../core/decide/departures.js';
import { amountOfBytes } from '../../core/quantity/amount.js';
import { comparatorsOf, decidingComparator, type Compared, type ComparatorName } from '../../core/rank/rank-comparators.js';
import { isResourceSignal, isSignal, type ResourceSignal } from '../../core/signal/signal.js';
import { integerIn, objectIn, textIn, type JournalRecord } from '../../journal/reading/history-event.js';
import type { Style } from './style.js';
import { table } from './table.js';
import { NANO } from '../../core/quantity/integer.js';

/** A candidate of a recorded decision, and by what it has its place. */
export interface RankedRow {
  readonly place: number;
  readonly name: string;
  readonly path: string;
  readonly isVictim: boolean;
  /** The protection as text; undefined: none. */
  readonly protection: string | undefined;
  readonly compared: Compared;
  /** The comparator that puts the previous row of the list before this one; undefined: the first row, or they are equal. */
  readonly decidedBy: ComparatorName | undefined;
  /** The first comparator by which it differs from the victim; undefined: it is the victim, or equal to it. */
  readonly againstVictim: { readonly comparator: ComparatorName; readonly value: string; readonly victim: string } | undefined;
}

type Row = Readonly<Record<string, unknown>>;

/** The candidates of a decision in their order. */
export function decidedRanking(decision: JournalRecord, departures: Departures): readonly RankedRow[] {
  const signal = textIn(decision, 'signal');
  // A disruption has no signal, and a newer evictd may have others.
  const ranked: ResourceSignal = signal !== undefined && isSignal(signal) && isResourceSignal(signal) ? signal : 'memory.available';
  const comparators = comparatorsOf(ranked, departures);
  const written = Array.isArray(decision.ranking) ? (decision.ranking as readonly (Row | null)[]) : [];
  const rows = written.flatMap((row) => (row ? [{ row, compared: comparedIn(row) }] : []));
  const victimPath = objectIn(decision, 'victim').path;
  const victim = rows.find(({ row }) => row.path === victimPath);
  return rows.map(({ row, compared }, index) => {
    const isVictim = row.path === victimPath;
    const before = rows[index - 1];
    const against = victim && !isVictim ? decidingComparator(comparators, victim.compared, compared) : undefined;
    return {
      place: Number(row.place),
      name: textIn(row, 'name') ?? '?',
      path: textIn(row, 'path') ?? '',
      isVictim,
      protection: textIn(row, 'protectedBecause'),
      compared,
      decidedBy: before && decidingComparator(comparators, before.compared, compared)?.name,
      againstVictim: victim &&
        against && { comparator: against.name, value: against.valueOf(compared), victim: against.valueOf(victim.compared) },
    };
  });
}

const ABOVE = ['aboveRequestBytes', 'aboveRequestInodes'] as const;
const USED = ['workingSetBytes', 'workingSetAtMostBytes', 'usedBytes', 'usedInodes', 'processes'] as const;

function comparedIn(row: Row): Compared {
  const [usage] = USED.flatMap((field) => integerIn(row, field) ?? []);
  const [above] = ABOVE.flatMap((field) => integerIn(row, field) ?? []);
  return {
    stats: usage === undefined ? undefined : row,
    usage,
    exceedsRequest: row.exceedsRequest === true,
    priority: Number(row.priority),
    aboveRequestNano: (above ?? 0n) * NANO,
    workload: {
      name: textIn(row, 'name') ?? '',
      id: textIn(row, 'path') ?? '',
      startOrder: integerIn(row, 'startOrder') ?? 0n,
      ...(row.avoid === true && { avoid: true }),
    },
  };
}

const COLUMNS = ['>#', 'WORKLOAD', 'EXCEEDS', '>PRIORITY', '>ABOVE REQUEST', 'PLACE DECIDED BY', ''];

/** One line a candidate. A protected candidate has no place, and the numbers skip it. */
export function rankingTable(rows: readonly RankedRow[], style: Style): string[] {
  const passedOver = (place: number): number => rows.filter((row) => row.protection !== undefined && row.place < place).length;
  const cells = rows.map(({ place, name, compared, decidedBy, isVictim, protection }) => [
    protection === undefined ? String(place - passedOver(place)) : '-',
    name,
    compared.exceedsRequest ? 'yes' : 'no',
    String(compared.priority),
    amountText(compared),
    decidedBy ?? '',
    isVictim ? 'evicted' : protection === undefined ? '' : `never evicted: ${protection}`,
  ]);
  return table(COLUMNS, cells, (cell, row) => (row === -1 ? style('dim', cell) : rows[row]?.isVictim ? style('yellow', cell) : cell));
}

function amountText({ stats, aboveRequestNano }: Compared): string {
  if (stats === undefined) return '?';
  if ('processes' in stats) return '-';
  return 'usedInodes' in stats ? String(aboveRequestNano / NANO) : amountOfBytes(aboveRequestNano / NANO);
}
