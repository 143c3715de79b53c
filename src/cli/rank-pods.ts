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

/** The kubelet leaves ties unordered; a total order gives the same answer twice. */
const DEPARTURES = departuresOf('kubelet', { 'total-order': true });

/** Options that go with --pods; every other one is about this machine. */
const WITH_PODS = ['signal', 'output'];

/** Call it last: it makes --pods conflict with the options added before. */
export function addPodOptions(command: Command): Command {
  const ofTheMachine = command.options.map((option) => option.attributeName()).filter((name) => !WITH_PODS.includes(name));
  return command
    .optionsGroup('Pods of a kubelet instead of this machine:')
    .addOption(
      new Option('--pods <file>', 'rank the pods in this JSON as a kubelet would; "-" reads standard input').conflicts(ofTheMachine),
    )
    .option('--summary <file>', 'with --pods: JSON of /stats/summary of the node')
    .addOption(new Option('--layout <layout>', 'with --pods: filesystem layout of the node (single)').choices(LAYOUTS));
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

/** `evictd rank --pods`: the order in which a kubelet v1.36 would evict, from documents of the API. Reads nothing of this machine. */
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
    leftOut: found,
  };
}

/** A summary may lack any part but the node: a file without it is no summary. */
function checkSummary(document: unknown): void {
  const node = member(documentOf(document), 'node');
  if (isAbsent(node)) throw wrong(node, 'an object');
}
