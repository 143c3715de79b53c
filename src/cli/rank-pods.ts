import { Option, type Command } from 'commander';
import { departuresOf } from '../core/departure.js';
import type { Layout } from '../core/layout.js';
import { rank } from '../core/rank.js';
import type { ResourceSignal } from '../core/signal.js';
import { UsageError } from '../errors.js';
import { documentOf, isAbsent, member, wrong } from '../kubernetes/document.js';
import { nodeNameOf, podsOnNode } from '../kubernetes/pod-list.js';
import { usagesIn } from '../kubernetes/stats.js';
import { makeSignalObservations, osOf } from '../kubernetes/summary.js';
import { readDocument } from './document-file.js';
import type { Io } from './io.js';
import { podRankJson, podRankText, type PodRankReport } from './output/pod-ranking.js';
import { styleFor } from './output/style.js';

export interface RankPodsOptions {
  readonly pods?: string;
  readonly summary?: string;
  readonly layout?: Layout;
  readonly signal: ResourceSignal;
  readonly output: 'text' | 'json';
}

const LAYOUTS: readonly Layout[] = ['single', 'imagefs', 'split'];

/** The kubelet breaks no ties; whoever asks twice is to get the same answer. */
const DEPARTURES = departuresOf('kubelet', { 'total-order': true });

/** What else is said about the ranking of pods; every other option is about this machine. */
const ALSO_FOR_PODS = ['signal', 'output'];

/** Comes last: none of the options that are there already goes with --pods. */
export function addPodOptions(command: Command): Command {
  const ofTheMachine = command.options.map((option) => option.attributeName()).filter((name) => !ALSO_FOR_PODS.includes(name));
  return command
    .optionsGroup('Pods of a kubelet, instead of this machine and its configuration:')
    .addOption(new Option('--pods <file>', 'whom a kubelet would evict: its pods as JSON, "-" for standard input').conflicts(ofTheMachine))
    .option('--summary <file>', 'with --pods: what the node answers at /stats/summary, as JSON')
    .addOption(new Option('--layout <layout>', 'with --pods: the filesystems of the node (single)').choices(LAYOUTS));
}

/** All pods of a large cluster are some 100 MiB. */
const MAX_BYTES = 256 * 1024 * 1024;
const SUMMARY_COMMAND = 'kubectl get --raw /api/v1/nodes/NODE/proxy/stats/summary';
const SUMMARY_FILE = { maxBytes: MAX_BYTES, hint: `${SUMMARY_COMMAND} writes what is needed` };
const PODS_FILE = { maxBytes: MAX_BYTES, hint: 'kubectl get pods -A -o json writes what is needed' };

/** Whether the pods of documents are asked for rather than this machine. */
export function asksForPods({ pods, summary, layout }: RankPodsOptions): boolean {
  if (pods !== undefined) return true;
  const alone = summary !== undefined ? '--summary' : layout !== undefined ? '--layout' : undefined;
  if (alone !== undefined) throw new UsageError('EVICTD_USAGE', `${alone} goes with --pods`, { hint: 'evictd rank --help' });
  return false;
}

/** `evictd rank --pods`: the order in which a kubelet v1.36 would evict, from the API's own documents. Nothing of this machine is read. */
export function rankPods(options: RankPodsOptions, io: Io): void {
  const report = podRanking(options);
  io.stdout(options.output === 'json' ? podRankJson(report) : podRankText(report, styleFor(io)));
}

function podRanking({ pods, summary, layout = 'single', signal }: RankPodsOptions): PodRankReport {
  if (pods === undefined || summary === undefined || (pods === '-' && summary === '-'))
    throw new UsageError('EVICTD_USAGE', '--pods needs --summary <file>: how much each pod uses stands there', {
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
    observation: observations.observed.get(signal) ?? observations.missing.get(signal) ?? 'not known',
    ranked: rank(signal, layout, usagesFor(found.pods), DEPARTURES),
    leftOut: found,
  };
}

/** A summary without a part says nothing about it; a file without the node is something else. */
function checkSummary(document: unknown): void {
  const node = member(documentOf(document), 'node');
  if (isAbsent(node)) throw wrong(node, 'an object');
}
