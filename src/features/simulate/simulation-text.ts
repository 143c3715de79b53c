import { firstOf } from '../../core/name/name-list.js';
import { table } from '../../cli/output/table.js';
import { wrapped } from '../../cli/output/wrapped.js';
import { taintText } from '../../core/disruption/taint.js';
import { amountOfBytes } from '../../core/quantity/amount.js';
import { formatDuration } from '../../core/quantity/duration.js';
import type { NodeUse, Use } from '../../core/simulation/outcome.js';
import type { ScoredNode, SimulatedAction, TimelineEvent } from '../../core/simulation/timeline-event.js';
import type { SimulationReport } from './simulation-report.js';

const WIDTH = 80;
const TIME_WIDTH = 8;
const VERB_WIDTH = 10;
/** The number of listed names of pods with the same fate. */
const LISTED_PODS = 6;
const LISTED_NODES = 20;

/** The timeline, the nodes that changed, and what it comes to. */
export function simulationText(report: SimulationReport): string {
  const { events, options } = report;
  const withScores = options.scores === true;
  const timeline = groupsOf(events, withScores).flatMap((group) => groupLines(group, withScores));
  return `${[...wrapped(headText(report), WIDTH), ...timeline, '', ...nodeLines(report), '', ...wrapped(outcomeText(report), WIDTH), ...explainedLines(report)].join('\n')}\n`;
}

/** '3 nodes, 12 pods, 2 budgets. Assumed: …'. */
export function headText({ cluster: { content }, options }: SimulationReport): string {
  const { nodes, pods, budgets } = content;
  const counts = [countText(nodes.length, 'node'), countText(pods.length, 'pod'), countText(budgets.length, 'budget')].join(', ');
  const assumed = `new pods are ready ${options.startTime} after their start; a pod that ends takes its whole grace period`;
  return `${counts}. Assumed: ${assumed}.`;
}

function countText(count: number, what: string): string {
  return `${String(count)} ${what}${count === 1 ? '' : 's'}`;
}

/** Neighbours that differ only in their pod. */
type Group = readonly [TimelineEvent, ...TimelineEvent[]];

function groupsOf(events: readonly TimelineEvent[], withScores: boolean): readonly Group[] {
  const groups: [TimelineEvent, ...TimelineEvent[]][] = [];
  for (const event of events) {
    const last = groups.at(-1);
    if (last !== undefined && keyOf(last[0], withScores) === keyOf(event, withScores)) last.push(event);
    else groups.push([event]);
  }
  return groups;
}

function keyOf(event: TimelineEvent, withScores: boolean): string {
  const what = ((): string => {
    switch (event.kind) {
      case 'action':
        return '';
      case 'scheduled':
        return event.replaces === undefined && !withScores ? '' : event.pod;
      case 'node':
        return `${event.node} ${event.what}`;
      case 'evicted':
        return `${event.node} ${event.reason} ${String(event.graceNs)} ${String(event.rank ?? '')}`;
      case 'refused':
      case 'stays':
        return `${event.node} ${event.reason} ${String(event.untilNs ?? '')}`;
      case 'pending':
        return `${event.message} ${String(event.nominated === undefined)}`;
      case 'ready':
        return '';
      case 'lost':
        return event.reason;
    }
  })();
  return `${String(event.atNs)} ${event.kind} ${what}`;
}

/** What happened, neighbours as one. The verb of an action is ''. */
export function timelineRows(
  events: readonly TimelineEvent[],
): readonly { readonly time: string; readonly verb: string; readonly text: string }[] {
  return groupsOf(events, false).map((group) => {
    const [verb, text] = sentence(group[0], podsText(group), group);
    return { time: timeText(group[0].atNs), verb, text };
  });
}

function groupLines(group: Group, withScores: boolean): readonly string[] {
  const [event] = group;
  const [verb, text] = sentence(event, podsText(group), group);
  if (event.kind === 'action') return ['', `${timeText(event.atNs).padStart(TIME_WIDTH)}  ${text}`];
  const lines = wrapped(text, WIDTH - TIME_WIDTH - 2 - VERB_WIDTH);
  const indent = ' '.repeat(TIME_WIDTH + 2 + VERB_WIDTH);
  const scores =
    withScores && event.kind === 'scheduled' && event.best.length > 0 ? scoreLines(event.best).map((line) => `    ${line}`) : [];
  const head = `${timeText(event.atNs).padStart(TIME_WIDTH)}  ${verb.padEnd(VERB_WIDTH)}`;
  return [...lines.map((line, index) => (index === 0 ? head : indent) + line), ...scores];
}

function podsText(group: Group): string {
  const pods = group.flatMap((event) => ('pod' in event ? [event.pod] : []));
  if (pods.length <= 1) return pods[0] ?? '';
  return `${String(pods.length)} pods: ${firstOf(pods, LISTED_PODS)}`;
}

/** The verb, and the rest. */
function sentence(event: TimelineEvent, pods: string, group: Group): readonly [verb: string, text: string] {
  switch (event.kind) {
    case 'action':
      return ['', actionText(event.action)];
    case 'node':
      return ['node', `${event.node}: ${event.what}`];
    case 'evicted': {
      const rank = event.rank === undefined ? '' : `, number ${String(event.rank)},`;
      const verb = event.cause === 'preemption' ? 'preempted' : 'evicted';
      return [verb, `${pods}${rank} from ${event.node}, grace ${formatDuration(event.graceNs)}: ${event.reason}`];
    }
    case 'refused': {
      const until = event.untilNs === undefined ? 'for good' : `until ${timeText(event.untilNs)}`;
      return ['refused', `${pods} on ${event.node} ${until}: ${event.reason}`];
    }
    case 'stays': {
      const until = event.untilNs === undefined ? '' : `, until ${timeText(event.untilNs)}`;
      return ['stays', `${pods} on ${event.node}: ${event.reason}${until}`];
    }
    case 'scheduled':
      return event.replaces === undefined
        ? ['scheduled', group.length === 1 ? `${pods} on ${event.node}${choiceText(event)}` : `${pods} on ${nodesText(group)}`]
        : ['moved', `${event.replaces} to ${event.node}${newName(event.replaces, event.pod)}${choiceText(event)}`];
    case 'pending': {
      const nodes = event.nominated === undefined ? '' : ` Nominated to ${group.length === 1 ? event.nominated : nodesText(group)}.`;
      return ['pending', `${pods}: ${event.message}${nodes}`];
    }
    case 'ready':
      return ['ready', pods];
    case 'lost':
      return ['ended', `${pods}: ${event.reason}`];
  }
}

/** 'node-3 (17), node-1 (3)'. */
function nodesText(group: Group): string {
  const counts = new Map<string, number>();
  for (const event of group) {
    const node = event.kind === 'scheduled' ? event.node : event.kind === 'pending' ? event.nominated : undefined;
    if (node !== undefined) counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  const most = [...counts].sort((one, other) => other[1] - one[1]);
  const more = most.length - LISTED_PODS;
  const listed = most.slice(0, LISTED_PODS).map(([node, count]) => `${node} (${String(count)})`);
  return `${listed.join(', ')}${more > 0 ? ` and ${String(more)} more nodes` : ''}`;
}

/** ' as web-new1'; '': it keeps its name. */
function newName(before: string, after: string): string {
  return before === after ? '' : ` as ${after.slice(after.indexOf('/') + 1)}`;
}

/** ' (12 of 100 nodes fit; 664, node-2 658)'. */
function choiceText({ feasible, lookedAt, nodes, best: [first, second] }: Extract<TimelineEvent, { kind: 'scheduled' }>): string {
  if (feasible === 0) return ' (its nodeName)';
  const of = lookedAt < nodes && feasible > 1 ? `the first ${String(lookedAt)}` : String(nodes);
  const fit = `${String(feasible)} of ${of} nodes fit`;
  if (first === undefined) return ` (${fit})`;
  return ` (${fit}; score ${String(first.total)}${second === undefined ? '' : `, ${second.node} ${String(second.total)}`})`;
}

export function actionText(action: SimulatedAction): string {
  switch (action.kind) {
    case 'pressure': {
      const { node, availableBytes, isChange } = action;
      return isChange
        ? `${node} loses ${amountOfBytes(-availableBytes)} of memory`
        : `${node} has ${amountOfBytes(availableBytes)} of memory available`;
    }
    case 'drain':
      return `drain ${action.node}`;
    case 'fail':
      return `${action.node} fails`;
    case 'taint':
      return `taint ${action.node} ${taintText(action.taint)}`;
    case 'add':
      return `add ${countText(action.pods.length, 'pod')} of ${action.what}`;
  }
}

/** '+1m5s'. */
export function timeText(ns: bigint): string {
  return `+${formatDuration(ns)}`;
}

/** A table of scores: a node a line, a plugin a column. */
export function scoreLines(nodes: readonly ScoredNode[]): readonly string[] {
  const plugins = [...new Set(nodes.flatMap(({ scores }) => [...scores.keys()]))];
  const columns = ['NODE', ...plugins.map((plugin) => `>${plugin.replace('NodeResources', '')}`), '>TOTAL'];
  return table(
    columns,
    nodes.map(({ node, total, scores }) => [node, ...plugins.map((plugin) => String(scores.get(plugin) ?? '-')), String(total)]),
  );
}

const NODE_COLUMNS = ['NODE', '>CPU BEFORE', '>AFTER', '>MEMORY BEFORE', '>AFTER', '>PODS BEFORE', '>AFTER'];

/** Nodes whose pods have changed, before and after; all of them if no action was given. */
export function changedNodes({ before, after, events }: SimulationReport): readonly (readonly [before: NodeUse, after: NodeUse])[] {
  const isChanged = (use: NodeUse, index: number): boolean =>
    events.length === 0 || after[index]?.pods.used !== use.pods.used || cpuOf(after[index]) !== cpuOf(use);
  return before.flatMap((use, index) => (isChanged(use, index) ? [[use, after[index] ?? use] as const] : []));
}

function nodeLines(report: SimulationReport): readonly string[] {
  const changed = changedNodes(report);
  if (changed.length === 0) return ['No node has more or fewer pods than before.'];
  const rows = changed
    .slice(0, LISTED_NODES)
    .map(([one, other]) => [
      one.node,
      ...[share(one.cpu), share(other.cpu), share(one.memory), share(other.memory), String(one.pods.used), String(other.pods.used)],
    ]);
  const more = changed.length - rows.length;
  return [...table(NODE_COLUMNS, rows), ...(more > 0 ? [`and ${String(more)} more nodes`] : [])];
}

function cpuOf(use: NodeUse | undefined): bigint | undefined {
  return use?.cpu.used;
}

export function share({ used, allocatable }: Use): string {
  return allocatable === 0n ? '-' : `${String((used * 100n) / allocatable)}%`;
}

export function outcomeText({ outcome }: SimulationReport): string {
  const { evicted, moved, pending, lost, refused } = outcome;
  const counts = [
    `${countText(evicted, 'pod')} evicted, ${String(moved)} moved`,
    ...(pending.length === 0 ? [] : [`${String(pending.length)} pending`]),
    ...(lost.length === 0 ? [] : [`${String(lost.length)} ended for good`]),
    ...(refused.length === 0 ? [] : [`${String(refused.length)} refused for good`]),
  ];
  return `${counts.join(', ')}.`;
}

/** Every filter that rejects a node, every score of the others. */
function explainedLines({ explained }: SimulationReport): readonly string[] {
  if (explained === undefined) return [];
  const feasible = explained.nodes.flatMap((node) => ('scores' in node ? [node] : []));
  const rejected = explained.nodes.flatMap((node) => ('rejections' in node ? [node] : []));
  const reasons = rejected.map(({ node, rejections }) => [
    node,
    rejections.map(({ plugin, reasons: own }) => `${plugin}: ${own.join(', ')}`).join('; ') || 'the pod permits only other nodes',
  ]);
  return [
    ...['', `${explained.pod}: ${String(feasible.length)} of ${String(explained.nodes.length)} nodes fit`],
    ...(feasible.length === 0 ? [] : ['', ...scoreLines(feasible)]),
    ...(rejected.length === 0 ? [] : ['', ...table(REJECTED_COLUMNS, reasons)]),
  ];
}

const REJECTED_COLUMNS = ['NODE', 'REJECTED BY'];
