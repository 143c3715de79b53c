import { CONTROLLERS, LEASE_NAME, PARTS_ANNOTATION } from '../../core/cluster/controller.js';
import type { ElectionTimings } from '../../core/cluster/leader-election.js';
import type { ListenAddress } from '../../http/listen-address.js';
import { ApiClient } from '../kubernetes/client/api-client.js';
import { inClusterAccess } from '../kubernetes/client/in-cluster.js';
import { kubeconfigAccess } from '../kubernetes/client/kubeconfig.js';
import { ControllerMetrics } from './controller-metrics.js';
import { Election } from './election.js';
import { LeaderTasks, type LeadParts } from './leader-tasks.js';
import { probeServer } from './probe-server.js';

export interface ControllerParts extends LeadParts {
  /** undefined: the service account of the pod. */
  readonly kubeconfig: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The namespace of the Lease. */
  readonly namespace: string;
  readonly timings: ElectionTimings;
  readonly listen: ListenAddress | undefined;
}

/** The rate of kube-controller-manager's client (--kube-api-qps, --kube-api-burst). */
const RATE = { perSecond: 20, burst: 30 };
/** Each attempt ends in a few seconds: after so long the process does nothing any more. */
const STUCK_NS = 60_000_000_000n;

/** The cluster part of evictd. It is a bundle of its own, loaded by `evictd controller`. */
export class ClusterController {
  readonly #metrics: ControllerMetrics;
  readonly #election: Election;
  readonly #client: ApiClient;
  readonly #probes: ReturnType<typeof probeServer> | undefined;
  #lead: LeaderTasks | undefined;

  constructor(parts: ControllerParts) {
    const { kubeconfig, env, namespace, identity, timings, nowNs, log, listen } = parts;
    this.#metrics = new ControllerMetrics(() => this.#values());
    const read = kubeconfig === undefined ? inClusterAccess(env) : kubeconfigAccess(kubeconfig);
    this.#client = new ApiClient(read, this.#metrics.requested);
    this.#election = new Election({
      ...{ client: this.#client, namespace, name: LEASE_NAME, identity, timings, nowNs, log },
      annotations: () => ({ [PARTS_ANNOTATION]: [...(this.#lead?.active ?? [])].join(',') }),
      onLead: () => {
        const client = new ApiClient(read, this.#metrics.requested, RATE);
        this.#lead = new LeaderTasks(parts, client, this.#metrics, () => this.#election.remainingMs());
      },
      onLoss: () => {
        this.#lead?.close();
        this.#lead = undefined;
      },
    });
    const { contentType } = this.#metrics;
    this.#probes =
      listen &&
      probeServer({
        ...{ address: listen, log, contentType, metrics: () => this.#metrics.text() },
        liveness: () => (this.#election.sinceAttemptNs() > STUCK_NS ? ['the Lease has not been read or renewed for a minute'] : []),
        readiness: () => this.#unready(),
      });
    this.#probes?.start();
  }

  /** Gives the lead up. */
  async close(): Promise<void> {
    await this.#election.close();
    this.#client.close();
    this.#probes?.close();
  }

  /** A process that waits for the lead is ready. */
  #unready(): readonly string[] {
    const { problem } = this.#election;
    const lead = this.#lead;
    const notSynced =
      lead === undefined || lead.watch.isSynced ? [] : ['the pods, nodes and leases of the cluster have not been listed yet'];
    return [...(problem === undefined ? [] : [problem]), ...notSynced, ...(lead?.watch.problems ?? [])];
  }

  #values() {
    const lead = this.#lead;
    const { cluster, isSynced: synced = false, lists = 0 } = lead?.watch ?? {};
    return {
      ...{ leads: this.#election.remainingMs() > 0, synced, lists, zones: cluster?.zones ?? [], isHalted: cluster?.isHalted ?? false },
      ...{ nodes: cluster?.size.nodes ?? 0, pods: cluster?.size.pods ?? 0 },
      ...{ queued: lead?.actions.length ?? 0, failedActions: lead?.actions.failed ?? 0 },
      parts: CONTROLLERS.map((controller) => ({
        ...{ controller, isActive: lead?.active.has(controller) ?? false },
        managerRuns: lead?.manager.get(controller)?.runs ?? ('unknown' as const),
      })),
    };
  }
}
