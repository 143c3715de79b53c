import { amountOf, amountOfResource } from '../../core/amount.js';
import { jsonInteger, jsonOfNano } from '../../core/integer.js';
import type { Layout } from '../../core/layout.js';
import type { Observation } from '../../core/observation.js';
import { describeRanked, protectionText, type RankedWorkload } from '../../core/rank.js';
import { SIGNAL_FACTS, type ResourceSignal } from '../../core/signal.js';
import type { NodePods } from '../../kubernetes/pod-list.js';
import type { Style } from './style.js';
import { table, type Column } from './table.js';

export interface PodRankReport {
  readonly signal: ResourceSignal;
  readonly layout: Layout;
  /** '': not in the summary. */
  readonly nodeName: string;
  /** Value of the signal, or why it is unknown. */
  readonly observation: Observation | string;
  readonly ranked: readonly RankedWorkload[];
  readonly leftOut: Omit<NodePods, 'pods'>;
}

const COLUMNS: readonly Column[] = [
  { heading: '#', align: 'right' },
  { heading: 'POD', align: 'left' },
  { heading: 'PRIORITY', align: 'right' },
  { heading: 'USAGE', align: 'right' },
  { heading: 'REQUEST', align: 'right' },
  { heading: 'OVER REQUEST', align: 'right' },
  { heading: 'QOS', align: 'left' },
  { heading: '', align: 'left' },
];

const NANO = 1_000_000_000n;

/** Pods in eviction order, the conclusion, and the pods that were left out. */
export function podRankText(report: PodRankReport, style: Style): string {
  const { signal, ranked, leftOut } = report;
  const { resource } = SIGNAL_FACTS[signal];
  const amount = (nano: bigint): string => (nano > 0n ? amountOfResource(resource, nano / NANO) : '-');
  const rows = ranked.map(({ place, workload, usage, requestNano, aboveRequestNano, priority, protection }) => [
    String(place),
    workload.path,
    String(priority),
    usage === undefined ? '?' : amountOfResource(resource, usage),
    amount(requestNano),
    amount(aboveRequestNano),
    workload.qosClass,
    protection ? `never evicted: ${protectionText(protection)}` : '',
  ]);
  const paint = (cell: string, row: number): string => (row === -1 || ranked[row]?.protection ? style('dim', cell) : cell);
  const others = leftOutText(leftOut);
  const lines = [...(rows.length > 0 ? [...table(COLUMNS, rows, paint), ''] : []), stateText(report), conclusion(report)];
  return `${[...lines, ...(others === '' ? [] : [`left out: ${others}`])].join('\n')}\n`;
}

function stateText({ signal, nodeName, observation }: PodRankReport): string {
  const node = nodeName === '' ? 'the node' : `node ${nodeName}`;
  if (typeof observation === 'string') return `${node}: ${signal} is unknown: ${observation}`;
  return `${node}: ${signal} is ${amountOf(signal, observation.available)} of ${amountOf(signal, observation.capacity)}`;
}

/** The first pod to be evicted, and why. */
function conclusion({ signal, ranked }: PodRankReport): string {
  const first = ranked.find(({ protection }) => protection === undefined);
  if (first) return `${first.workload.path} would be evicted first: it ${describeRanked(first, SIGNAL_FACTS[signal].resource)}`;
  return ranked.length > 0 ? 'nothing is evictable: every pod is protected' : 'nothing is evictable: there is no pod';
}

function leftOutText({ onOtherNodes, ended, unscheduled, repeated }: PodRankReport['leftOut']): string {
  const counts: readonly (readonly [count: number, what: string])[] = [
    [onOtherNodes, 'on other nodes'],
    [ended, 'ended'],
    [unscheduled, 'not scheduled'],
    [repeated, 'listed twice'],
  ];
  return counts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${String(count)} ${what}`)
    .join(', ');
}

export function podRankJson(report: PodRankReport): string {
  const { signal, layout, nodeName, observation, ranked, leftOut } = report;
  const { resource, unit } = SIGNAL_FACTS[signal];
  const seen = typeof observation === 'string' ? undefined : observation;
  return `${JSON.stringify(
    {
      signal,
      layout,
      unit,
      node: nodeName === '' ? null : nodeName,
      available: seen === undefined ? null : jsonInteger(seen.available),
      capacity: seen === undefined ? null : jsonInteger(seen.capacity),
      conclusion: conclusion(report),
      pods: ranked.map((item) => ({
        place: item.place,
        namespace: item.workload.pod?.namespace ?? null,
        name: item.workload.name,
        uid: item.workload.id,
        priority: item.priority,
        qosClass: item.workload.qosClass,
        usage: item.usage === undefined ? null : jsonInteger(item.usage),
        request: jsonOfNano(item.requestNano),
        exceedsRequest: item.exceedsRequest,
        aboveRequest: jsonOfNano(item.aboveRequestNano),
        protection: item.protection ? protectionText(item.protection) : null,
        reasons: describeRanked(item, resource),
      })),
      leftOut: {
        onOtherNodes: leftOut.onOtherNodes,
        ended: leftOut.ended,
        unscheduled: leftOut.unscheduled,
        repeated: leftOut.repeated,
      },
    },
    undefined,
    2,
  )}\n`;
}
