import type { KubernetesConfig } from '../../core/kubernetes/kubernetes-config.js';
import type { Log } from '../../log/log.js';
import type { Metrics } from '../../monitor/ports/metrics.js';
import type { PodEvictionAnswer, PodEvictions } from '../../monitor/ports/node-pods.js';
import type { StepListener, StepReport } from '../../monitor/ports/ports.js';
import { NodeReport } from './node-report.js';
import { DeletionQueue, type Ask, type SavedSection } from './deletion-queue.js';
import { PodEvents } from './pod-events.js';
import { ApiPodEvictions, type RestoredEvictions } from './pod-evictions.js';

/** The parts that an evictd without --dry-run has. */
export interface ClusterReportsParts {
  readonly restored: RestoredEvictions;
  /** The section of the saved state with the pending deletions. */
  readonly section: SavedSection;
  /** The section with what is set at the node. */
  readonly nodeSection: SavedSection;
  readonly metrics: Pick<Metrics, 'budgetViolated'>;
}

export interface ClusterReportsOf {
  readonly nodeName: string;
  readonly config: KubernetesConfig;
  /** As in NodeReportParts. */
  readonly isLeaving: boolean;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** What evictd writes at the API server: calls for evicted pods, the state of the node, events. */
export class ClusterReports implements StepListener, PodEvictions {
  readonly #queue: DeletionQueue;
  readonly #evictions: ApiPodEvictions;
  readonly #node: NodeReport;
  readonly #events: PodEvents | undefined;

  constructor(
    ask: Ask,
    { nodeName, config, isLeaving, log }: ClusterReportsOf,
    { restored, section, nodeSection, metrics }: ClusterReportsParts,
  ) {
    const inFlight = new Set(restored.state.evictions.map(({ decision }) => decision.serial));
    this.#queue = new DeletionQueue({ ask, section, log }, inFlight);
    this.#node = new NodeReport({ ask, nodeName, config, section: nodeSection, isLeaving, log });
    this.#events = isLeaving ? undefined : new PodEvents({ ask, nodeName });
    const published = (): Promise<void> => this.#node.published();
    this.#evictions = new ApiPodEvictions({ ask, queue: this.#queue, budgets: config.budgets, published, metrics }, restored);
  }

  /** How many evicted pods are not deleted at the API server yet. */
  get pendingDeletions(): number {
    return this.#queue.size;
  }

  request(...asked: Parameters<PodEvictions['request']>): () => PodEvictionAnswer {
    return this.#evictions.request(...asked);
  }

  signalled(...of: Parameters<PodEvictions['signalled']>): void {
    this.#evictions.signalled(...of);
  }

  stepped(report: StepReport): void {
    this.#node.stepped(report);
    this.#evictions.stepped(report);
    this.#events?.stepped(report);
  }

  skipped(nowNs: bigint): boolean {
    return this.#node.skipped(nowNs);
  }

  close(): void {
    for (const part of [this.#node, this.#evictions, this.#events]) part?.close();
  }
}
