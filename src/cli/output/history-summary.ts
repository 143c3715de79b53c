import { amountOfBytes } from '../../core/amount.js';
import { jsonInteger } from '../../core/integer.js';
import { OOM_LIMITS } from '../../core/kernel-kill.js';
import type { Summary, WorkloadHistory } from '../history/summary.js';
import { momentText } from '../history/moment.js';
import { printable } from './history.js';
import type { Style } from './style.js';
import { table, type Column } from './table.js';

const COLUMNS: readonly Column[] = [
  { heading: 'WORKLOAD', align: 'left' },
  { heading: 'EVICTED', align: 'right' },
  { heading: 'NOT EVICTED', align: 'right' },
  { heading: 'FREED', align: 'right' },
  { heading: 'OOM NODE', align: 'right' },
  { heading: 'OOM WORKLOAD', align: 'right' },
  { heading: 'OOM OTHER', align: 'right' },
  { heading: 'LAST', align: 'left' },
  { heading: 'SIGNALS', align: 'left' },
];

/** Evictions without a process left, as evictd_evictions_total counts. */
const evicted = ({ killed = 0, ineffective = 0 }: Readonly<Record<string, number>>): number => killed + ineffective;

/** Evictions and OOM kills by workload. */
export function summaryText(summary: Summary, style: Style, utc: boolean): string {
  const { first, last, results, oomKills, oomKillsUnseen = 0, alerts, freedBytes } = summary;
  if (first === undefined || last === undefined) return 'no records in this time\n';
  const lines = [
    `from ${momentText(Date.parse(first), utc)} to ${momentText(Date.parse(last), utc)}`,
    '',
    `evictions   ${countsText(results)}${freedBytes === 0n ? '' : `; freed ${amountOfBytes(freedBytes)}`}`,
    `OOM kills   ${countsText(oomKills)}${oomKills.node === 0 ? '' : style('red', '; node: evictd was too late, or found no workload to evict')}`,
    ...(oomKillsUnseen === 0
      ? []
      : [`            and ${String(oomKillsUnseen)} while evictd did not run, counted by the kernel but not in the journal`]),
    `alerts      ${countsText(alerts)}`,
  ];
  const rows = ordered(summary).map((workload) => rowOf(workload, utc));
  return `${[...lines, ...(rows.length === 0 ? [] : ['', ...table(COLUMNS, rows)])].join('\n')}\n`;
}

/** '12 killed, 1 failed'. */
function countsText(counts: Readonly<Record<string, number>>): string {
  const texts = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${String(count)} ${name}`);
  return texts.length === 0 ? 'none' : texts.join(', ');
}

function rowOf({ name, evictions, freedBytes, oomKills, signals, last }: WorkloadHistory, utc: boolean): string[] {
  const all = Object.values(evictions).reduce((sum, each) => sum + each, 0);
  const numbers = [evicted(evictions), all - evicted(evictions), oomKills.node, oomKills.workload, oomKills.other + oomKills.unknown];
  const [done, not, node, own, other] = numbers.map((value) => (value === 0 ? '-' : String(value)));
  const freed = freedBytes === 0n ? '-' : amountOfBytes(freedBytes);
  return [printable(name), done, not, freed, node, own, other, momentText(Date.parse(last), utc), [...signals].sort().join(', ')].map(
    (cell) => cell ?? '',
  );
}

/** By evictions, then OOM kills. */
function ordered({ workloads }: Summary): WorkloadHistory[] {
  const hits = ({ evictions, oomKills }: WorkloadHistory): number =>
    evicted(evictions) * 1e6 + OOM_LIMITS.reduce((sum, limit) => sum + oomKills[limit], 0);
  return [...workloads.values()].sort((a, b) => hits(b) - hits(a) || (a.name < b.name ? -1 : 1));
}

/** Results and alerts have the names of the journal. */
export function summaryJson(summary: Summary): string {
  const { first, last, results, oomKills, oomKillsUnseen, alerts, freedBytes } = summary;
  const workloads = ordered(summary).map(({ name, evictions, freedBytes: freed, signals, oomKills: kills, last: latest }) => ({
    name,
    evictions,
    freedBytes: jsonInteger(freed),
    signals: [...signals].sort(),
    oomKills: kills,
    last: latest,
  }));
  return `${JSON.stringify({ first, last, evictions: results, freedBytes: jsonInteger(freedBytes), oomKills, oomKillsUnseen, alerts, workloads }, undefined, 2)}\n`;
}
