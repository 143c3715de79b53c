import type { Log } from '../../log/log.js';
import type { StepListener, StepReport } from '../../monitor/ports/ports.js';
import { ApiClients } from './client/api-clients.js';
import { ClusterReports, type ClusterReportsParts } from './reports/cluster-reports.js';
import type { ReportedNode } from './reports/reported-node.js';

export interface LeavingParts {
  readonly node: ReportedNode;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly acting: ClusterReportsParts;
}

/** Takes back what evictd has set at an API server that is not configured any more, and deletes the evicted pods there. */
export class FormerApiServer implements StepListener {
  readonly #clients: ApiClients;
  readonly #reports: ClusterReports;

  constructor({ node: { kubeconfig, nodeName }, env, log, acting }: LeavingParts) {
    this.#clients = new ApiClients(env);
    const config = { kubeconfig, nodeName, budgets: 'respect', taint: undefined, conditions: 'none', kubelet: 'present' } as const;
    this.#reports = new ClusterReports(this.#clients, { nodeName, config, isLeaving: true, log }, acting);
  }

  stepped(report: StepReport): void {
    this.#reports.stepped(report);
  }

  skipped(nowNs: bigint): boolean {
    return this.#reports.skipped(nowNs);
  }

  close(): void {
    this.#reports.close();
    this.#clients.close();
  }
}
