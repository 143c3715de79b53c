import type { ControllersFacts } from '../../core/cluster/controller.js';
import type { AccessAttributes } from '../../core/kubernetes/needed-access.js';
import type { KubernetesStatus } from '../../core/kubernetes/kubernetes-status.js';
import type { NodePod } from '../../core/kubernetes/node-pod.js';
import type { NodePods } from '../../monitor/ports/node-pods.js';
import type { SourceProblem } from '../../monitor/ports/ports.js';
import * as deferred from './agent.js';
import type { Agent, AgentParts } from './agent.js';
import type { ClusterReports } from './reports/cluster-reports.js';
import type { FormerApiServer, LeavingParts } from './former-api-server.js';
import { nodeNameOf } from './node-name.js';

export { openPodsFile } from './pods-file.js';

/**
 * Removes the conditions and taints that a previous evictd set at an API server that is not configured any more.
 *
 * @returns undefined: it has set nothing, or the client cannot be loaded
 */
export function leaveCluster({ acting, log, ...parts }: Omit<LeavingParts, 'node'>): FormerApiServer | undefined {
  const [node] = acting.nodeSection.before;
  if (node === undefined) return undefined;
  try {
    return new deferred.FormerApiServer({ ...parts, acting, log, node });
  } catch (error) {
    log.warn(`the client of the API server cannot be loaded: ${String(error)}`, { code: 'EVICTD_KUBERNETES_UNREACHABLE' });
    return undefined;
  }
}

const NO_PODS: readonly NodePod[] = [];

/**
 * The part that is loaded with the program. The agent is a bundle of its own, which the constructor loads: deletions must be saved
 * in the step of the eviction.
 */
export class Kubernetes implements NodePods {
  readonly #nodeName: string;
  readonly #isLogged: boolean;
  /** undefined: the bundle cannot be loaded. */
  readonly #agent: Agent | undefined;
  #failure: string | undefined;

  constructor(parts: Omit<AgentParts, 'nodeName'>) {
    const nodeName = nodeNameOf(parts.config, parts.env);
    this.#nodeName = nodeName;
    this.#isLogged = parts.log !== undefined;
    try {
      this.#agent = new deferred.Agent({ ...parts, nodeName });
    } catch (error) {
      this.#failure = `the client of the API server cannot be loaded: ${String(error)}`;
      parts.log?.warn(this.#failure, { code: 'EVICTD_KUBERNETES_UNREACHABLE' });
    }
  }

  /** undefined: evictd only reads from the API server. */
  get reports(): ClusterReports | undefined {
    return this.#agent?.reports;
  }

  pods(): readonly NodePod[] {
    return this.#agent?.pods() ?? NO_PODS;
  }

  get hasReported(): boolean {
    return this.#agent?.hasReported ?? false;
  }

  ageNs(): bigint | undefined {
    return this.#agent?.ageNs();
  }

  /** undefined where the log and `status` say it: a problem of a source would make every tick a pass. */
  problem(): SourceProblem | undefined {
    if (this.#isLogged) return undefined;
    return this.#failure === undefined ? this.#agent?.problem() : { code: 'EVICTD_KUBERNETES_UNREACHABLE', message: this.#failure };
  }

  /** Resolves when the API server has listed the pods, or the first attempt has failed: see `problem`. Never rejects. */
  async reported(): Promise<void> {
    await this.#agent?.reported;
  }

  /** Whether the credential may do it. Rejects without an answer. */
  async mayDo(attributes: AccessAttributes): Promise<boolean> {
    return (await this.#agent?.mayDo(attributes)) ?? false;
  }

  /** What `evictd controller` does in the cluster; undefined: it cannot be seen. Rejects without an answer. */
  async controllers(): Promise<ControllersFacts | undefined> {
    return this.#agent?.controllers();
  }

  readonly status = (): KubernetesStatus =>
    this.#agent?.status() ?? {
      ...{ nodeName: this.#nodeName, server: undefined, answers: false, problem: this.#failure },
      ...{ pods: 0, pendingDeletions: 0, podsAgeNs: undefined, lists: 0, requests: [] },
    };

  close(): void {
    this.#agent?.close();
  }
}
