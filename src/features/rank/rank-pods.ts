import { Option, type Command } from 'commander';
import { departuresOf } from '../../core/decide/departures.js';
import type { Layout } from '../../core/signal/layout.js';
import { rank, describeRanked, protectionText, turnNumbers, type RankedWorkload } from '../../core/rank/rank.js';
import { type ResourceSignal, SIGNAL_FACTS } from '../../core/signal/signal.js';
import { UsageError } from '../../errors.js';
import { documentOf, isAbsent, member, wrong } from '../../kubernetes/document.js';
import { nodeNameOf, podsOnNode, type NodePods } from '../../kubernetes/pod-list.js';
import { usagesIn } from '../../kubernetes/stats.js';
import { makeSignalObservations, osOf } from '../../kubernetes/summary.js';
import { readDocument } from '../../kubernetes/document-file.js';
import { SHARED_GROUPS } from '../../cli/output/help.js';
import type { Io } from '../../cli/output/io.js';
import { styleFor, type Style } from '../../cli/output/style.js';
import { amountOf, amountOfResource } from '../../core/quantity/amount.js';
import { jsonInteger, jsonOfNano, NANO } from '../../core/quantity/integer.js';
import type { Observation } from '../../core/signal/observation.js';
import { table } from '../../cli/output/table.js';
import { jsonDocument } from '../../core/name/json-text.js';

export interface RankPodsOptions {
  readonly pods?: string;
  readonly summary?: string;
  readonly layout?: Layout;
  readonly signal: ResourceSignal;
  readonly output: 'text' | 'json';
}

const LAYOUTS: readonly Layout[] = ['single', 'imagefs', 'split'];

/** The kubelet leaves ties unordered; a total order gives the same answer twice. */
const DEPARTURES = departuresOf('kubelet', { 'total-order': true });

/** Options that go with --pods; every other one is about this machine. */
const WITH_PODS = ['signal', 'output'];

/** Call it last: it makes --pods conflict with the options added before. */
export function addPodOptions(command: Command): Command {
  const ofTheMachine = command.options.map((option) => option.attributeName()).filter((name) => !WITH_PODS.includes(name));
  return command
    .optionsGroup(SHARED_GROUPS.pods)
    .addOption(
      new Option('--pods <file>', 'rank the pods in this JSON as a kubelet would; "-" reads standard input').conflicts(ofTheMachine),
    )
    .option('--summary <file>', 'with --pods: JSON of /stats/summary of the node')
    .addOption(new Option('--layout <layout>', 'with --pods: filesystem layout of the node').choices(LAYOUTS).default(undefined, 'single'))
    .optionsGroup('Options:');
}

/** The pods of a large cluster are about 100 MiB. */
const MAX_BYTES = 256 * 1024 * 1024;
const SUMMARY_COMMAND = 'kubectl get --raw /api/v1/nodes/NODE/proxy/stats/summary';
const SUMMARY_FILE = { maxBytes: MAX_BYTES, hint: `use the output of ${SUMMARY_COMMAND}` };
const PODS_FILE = { maxBytes: MAX_BYTES, hint: 'use the output of kubectl get pods -A -o json' };

/** Whether to rank pods from files rather than this machine. */
export function ranksPods({ pods, summary, layout }: RankPodsOptions): boolean {
  if (pods !== undefined) return true;
  const alone = summary !== undefined ? '--summary' : layout !== undefined ? '--layout' : undefined;
  if (alone !== undefined) throw new UsageError('EVICTD_USAGE', `${alone} needs --pods`, { hint: 'evictd rank --help' });
  return false;
}

/**
 * `evictd rank --pods`: the order in which a kubelet v1.36 would evict, from documents of the API. Reads nothing of
 * this machine.
 */
export function rankPods(options: RankPodsOptions, io: Io): void {
  const report = podRanking(options);
  io.stdout(options.output === 'json' ? podRankJson(report) : podRankText(report, styleFor(io)));
}

function podRanking({ pods, summary, layout = 'single', signal }: RankPodsOptions): PodRankReport {
  if (pods === undefined || summary === undefined || (pods === '-' && summary === '-'))
    throw new UsageError('EVICTD_USAGE', '--pods needs --summary <file>, which has the usage of each pod', {
      hint: `${SUMMARY_COMMAND} > summary.json`,
    });
  const { nodeName, observations, usagesFor } = readDocument(summary, SUMMARY_FILE, (document) => {
    checkSummary(document);
    return {
      nodeName: nodeNameOf(document),
      observations: makeSignalObservations(document, osOf(document)),
      usagesFor: usagesIn(document),
    };
  });
  const found = readDocument(pods, PODS_FILE, (document) => podsOnNode(document, nodeName));
  return {
    signal,
    layout,
    nodeName,
    observation: observations.observed.get(signal) ?? observations.missing.get(signal) ?? 'unknown',
    ranked: rank(signal, layout, usagesFor(found.pods), DEPARTURES),
    omitted: found,
  };
}

/** A summary may lack any part but the node: a file without it is not a summary. */
function checkSummary(document: unknown): void {
  const node = member(documentOf(document), 'node');
  if (isAbsent(node)) throw wrong(node, 'an object');
}

export interface PodRankReport {
  readonly signal: ResourceSignal;
  readonly layout: Layout;
  /** '': not in the summary. */
  readonly nodeName: string;
  /** Value of the signal, or why it is unknown. */
  readonly observation: Observation | string;
  readonly ranked: readonly RankedWorkload[];
  readonly omitted: Omit<NodePods, 'pods'>;
}

const COLUMNS = ['>#', 'POD', '>PRIORITY', '>USAGE', '>REQUEST', '>OVER REQUEST', 'QOS', ''];

/** Pods in eviction order, the conclusion, and the pods that were left out. */
function podRankText(report: PodRankReport, style: Style): string {
  const { signal, ranked, omitted: leftOut } = report;
  const { resource } = SIGNAL_FACTS[signal];
  const amount = (nano: bigint): string => (nano > 0n ? amountOfResource(resource, nano / NANO) : '-');
  const placeOf = turnNumbers(ranked);
  const rows = ranked.map((item) => {
    const { workload, usage, requestNano, aboveRequestNano, priority, protection } = item;
    return [
      String(placeOf.get(item) ?? '-'),
      workload.path,
      String(priority),
      usage === undefined ? '?' : amountOfResource(resource, usage),
      amount(requestNano),
      amount(aboveRequestNano),
      workload.qosClass,
      protection ? `never evicted: ${protectionText(protection)}` : '',
    ];
  });
  const paint = (cell: string, row: number): string => (row === -1 || ranked[row]?.protection ? style('dim', cell) : cell);
  const others = omittedText(leftOut);
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

function omittedText({ onOtherNodes, ended, unscheduled, repeated }: PodRankReport['omitted']): string {
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

function podRankJson(report: PodRankReport): string {
  const { signal, layout, nodeName, observation, ranked, omitted: leftOut } = report;
  const { resource, unit } = SIGNAL_FACTS[signal];
  const seen = typeof observation === 'string' ? undefined : observation;
  const placeOf = turnNumbers(ranked);
  return jsonDocument({
    signal,
    layout,
    unit,
    node: nodeName === '' ? null : nodeName,
    available: seen === undefined ? null : jsonInteger(seen.available),
    capacity: seen === undefined ? null : jsonInteger(seen.capacity),
    conclusion: conclusion(report),
    pods: ranked.map((item) => ({
      place: placeOf.get(item) ?? null,
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
  });
}
