import type { KubernetesConfig } from '../../../core/kubernetes/kubernetes-config.js';
import type { Log } from '../../../log/log.js';
import type { Metrics } from '../../../monitor/ports/metrics.js';
import type { PodEvictionAnswer, PodEvictions } from '../../../monitor/ports/node-pods.js';
import type { StepListener, StepReport } from '../../../monitor/ports/ports.js';
import { NodeReport } from './node-report.js';
import { DeletionQueue, type DeletionQueueParts } from './deletion-queue.js';
import type { EndedPods } from './ended-pods.js';
import { followingRetryAfter, type Ask, type SavedSection } from './report-ports.js';
import { PodEvents } from './pod-events.js';
import type { PendingDeletions } from '../../../core/kubernetes/pending-deletion.js';
import { nodeSections, type ReportedNodes } from './reported-node.js';
import { ApiPodEvictions, type RestoredEvictions } from './pod-evictions.js';

/** The parts that an evictd without --dry-run has. */
export interface ClusterReportsParts {
  readonly restored: RestoredEvictions;
  /** The boot ID of this machine. */
  readonly bootId: string;
  /** The section of the saved state with the pending deletions. */
  readonly section: SavedSection<PendingDeletions>;
  /** The section with what is set at nodes. */
  readonly nodeSection: SavedSection<ReportedNodes>;
  readonly metrics: Pick<Metrics, 'budgetViolated' | 'podEvictionRefused'>;
  readonly onRestart: DeletionQueueParts['onRestart'];
}

export interface ClusterReportsOf {
  readonly nodeName: string;
  readonly config: KubernetesConfig;
  /** As in NodeReportParts. */
  readonly isLeaving: boolean;
  /** The API server is known not to answer. Left out: it never is. */
  readonly isAway?: () => boolean;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** What evictd writes at the API server: calls for evicted pods, the state of the node, events. */
export class ClusterReports implements StepListener, PodEvictions {
  readonly #queue: DeletionQueue;
  readonly #evictions: ApiPodEvictions;
  readonly #node: NodeReport;
  /** Reports to nodes of earlier configurations, until nothing of evictd is left there. */
  readonly #formerNodes: readonly NodeReport[];
  readonly #events: PodEvents | undefined;

  constructor(
    clients: { readonly ask: (kubeconfig: string | undefined) => Ask },
    { nodeName, config, isLeaving, isAway = () => false, log }: ClusterReportsOf,
    { restored, bootId, section, nodeSection, metrics, onRestart }: ClusterReportsParts,
  ) {
    const ask = clients.ask(config.kubeconfig);
    const inFlight = new Set(restored.state.evictions.map(({ decision }) => decision.serial));
    this.#queue = new DeletionQueue({ ...followingRetryAfter(ask), section, log, onRestart }, inFlight);
    const { own, former } = nodeSections(nodeSection, nodeName);
    this.#node = new NodeReport({ ...followingRetryAfter(ask), nodeName, config, section: own, isLeaving, bootId, log });
    this.#formerNodes = former.map(({ node: { nodeName, kubeconfig }, ...section }) => {
      const nothing = { kubeconfig, taint: undefined, conditions: 'none' } as const;
      return new NodeReport({
        ...followingRetryAfter(clients.ask(kubeconfig)),
        nodeName,
        config: nothing,
        section,
        isLeaving: true,
        bootId,
        log,
      });
    });
    this.#events = isLeaving ? undefined : new PodEvents({ ...followingRetryAfter(ask), nodeName, log }, restored);
    const published = (): Promise<void> => this.#node.published();
    this.#evictions = new ApiPodEvictions({ ask, queue: this.#queue, budgets: config.budgets, isAway, published, metrics }, restored);
  }

  /** How many evicted pods are not deleted at the API server yet. */
  get pendingDeletions(): number {
    return this.#queue.size;
  }

  /** Is told of the pods of this node. */
  get endedPods(): EndedPods {
    return this.#queue.ended;
  }

  /** The API server answers after a failure. */
  serverIsBack(): void {
    this.#evictions.serverIsBack();
  }

  request(...asked: Parameters<PodEvictions['request']>): () => PodEvictionAnswer {
    return this.#evictions.request(...asked);
  }

  endItself(...of: Parameters<PodEvictions['endItself']>): void {
    this.#evictions.endItself(...of);
  }

  stepped(report: StepReport): void {
    for (const node of [this.#node, ...this.#formerNodes]) node.stepped(report);
    this.#evictions.stepped(report);
    this.#events?.stepped(report);
  }

  skipped(nowNs: bigint): boolean {
    for (const former of this.#formerNodes) former.skipped(nowNs);
    return this.#node.skipped(nowNs);
  }

  close(): void {
    for (const part of [this.#node, ...this.#formerNodes, this.#evictions, this.#events]) part?.close();
  }
}
