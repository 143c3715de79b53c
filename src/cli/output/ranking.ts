import { amountOfResource } from '../../core/amount.js';
import { jsonInteger, jsonOfNano } from '../../core/integer.js';
import { describeRanked, protectionText, type RankedWorkload } from '../../core/rank.js';
import { SIGNAL_FACTS, type Signal } from '../../core/signal.js';
import type { UnreadableWorkload } from '../../core/workload.js';
import type { NodeIdentity, SourceProblem } from '../../monitor/ports.js';
import type { Style } from './style.js';
import { table, type Column } from './table.js';

export interface RankReport {
  readonly signal: Signal;
  readonly node: NodeIdentity;
  /** Whether evicting a workload is known to help this signal. */
  readonly evictable: boolean;
  /** Whether a workload source is configured. */
  readonly configured: boolean;
  readonly ranked: readonly RankedWorkload[];
  /** How many of the source's cgroups have no process: nothing can be ended there. */
  readonly vacant: number;
  readonly unreadable: readonly UnreadableWorkload[];
  readonly problems: readonly SourceProblem[];
}

const COLUMNS: readonly Column[] = [
  { heading: '#', align: 'right' },
  { heading: 'WORKLOAD', align: 'left' },
  { heading: 'PRIORITY', align: 'right' },
  { heading: 'USES', align: 'right' },
  { heading: 'REQUEST', align: 'right' },
  { heading: 'ABOVE', align: 'right' },
  { heading: '', align: 'left' },
];

const NANO = 1_000_000_000n;

/** A table in the order of eviction, then what would happen, then what could not be ranked. */
export function rankText(report: RankReport, style: Style): string {
  const { ranked, unreadable, problems } = report;
  const { resource } = SIGNAL_FACTS[report.signal];
  const amount = (nano: bigint): string => (nano > 0n ? amountOfResource(resource, nano / NANO) : '-');
  const rows = ranked.map(({ place, workload, usage, requestNano, aboveRequestNano, priority, protection }) => [
    String(place),
    workload.name,
    String(priority),
    usage === undefined ? '?' : amountOfResource(resource, usage),
    amount(requestNano),
    amount(aboveRequestNano),
    protection ? `never evicted: ${protectionText(protection)}` : '',
  ]);
  const paint = (cell: string, row: number): string => (row === -1 || ranked[row]?.protection ? style('dim', cell) : cell);
  const lines = [
    ...(rows.length > 0 ? [...table(COLUMNS, rows, paint), ''] : []),
    conclusion(report),
    ...unreadable.map(({ name, reason }) => `left out: ${name}: ${reason}`),
    ...problemLines(problems, style),
  ];
  return `${lines.join('\n')}\n`;
}

export function problemLines(problems: readonly SourceProblem[], style: Style): string[] {
  return problems.map(({ code, message, hint }) => `${message}${hint === undefined ? '' : ` (${hint})`} ${style('dim', `[${code}]`)}`);
}

/** The sentence that answers the question. */
function conclusion({ signal, evictable, configured, ranked, vacant }: RankReport): string {
  if (!evictable)
    return `${signal}: no workload is known to give ${SIGNAL_FACTS[signal].resource} back; a threshold sets the condition and evicts nobody`;
  if (!configured) return 'nothing is evictable: no workload source is configured (workloads: in the configuration, or --workload-cgroup)';
  const first = ranked.find(({ protection }) => protection === undefined);
  if (first) return `${signal}: ${first.workload.name} would be evicted first: it ${describeRanked(first, SIGNAL_FACTS[signal].resource)}`;
  if (ranked.length > 0) return 'nothing is evictable: every workload is protected';
  const empty = vacant === 1 ? '1 cgroup has no process' : `${String(vacant)} cgroups have no process`;
  return `nothing is evictable: there is no workload${vacant > 0 ? ` (${empty})` : ''}`;
}

export function rankJson(report: RankReport): string {
  const { signal, node, evictable, ranked, unreadable, problems } = report;
  return `${JSON.stringify(
    {
      signal,
      node: { name: node.name, cgroup: node.cgroup ?? null, cgroupVersion: node.cgroupVersion },
      evictable,
      conclusion: conclusion(report),
      workloads: ranked.map((item) => ({
        place: item.place,
        name: item.workload.name,
        path: item.workload.path,
        exceedsRequest: item.exceedsRequest,
        priority: item.priority,
        // Only memory is evictable here; null: not known.
        aboveRequestBytes: jsonOfNano(item.aboveRequestNano),
        workingSetBytes: item.usage === undefined ? null : jsonInteger(item.usage),
        usageBytes: item.stats?.usageBytes === undefined ? null : jsonInteger(item.stats.usageBytes),
        requestBytes: jsonOfNano(item.requestNano),
        protection: item.protection ? protectionText(item.protection) : null,
        reasons: describeRanked(item, SIGNAL_FACTS[signal].resource),
      })),
      unreadable: unreadable.map(({ name, path, reason }) => ({ name, path, reason })),
      problems: problems.map(({ code, message, hint }) => ({ code, message, ...(hint === undefined ? {} : { hint }) })),
    },
    undefined,
    2,
  )}\n`;
}
