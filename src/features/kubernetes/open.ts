import { hostname } from 'node:os';
import type { KubernetesStatus } from '../../core/kubernetes/kubernetes-status.js';
import type { NodePod } from '../../core/kubernetes/node-pod.js';
import type { NodePods } from '../../monitor/ports/node-pods.js';
import type { SourceProblem } from '../../monitor/ports/ports.js';
import type { Agent, AgentParts } from './agent.js';

const NO_PODS: readonly NodePod[] = [];

/** The part that is loaded with the program; the rest is a bundle of its own. */
export class Kubernetes implements NodePods {
  readonly #nodeName: string;
  readonly #loading: Promise<void>;
  #agent: Agent | undefined;
  #failure: string | undefined;
  #closed = false;

  constructor(parts: Omit<AgentParts, 'nodeName'>) {
    // As the kubelet names a node (nodeutil.GetHostname).
    const nodeName = [parts.config.nodeName, parts.env.NODE_NAME].find((name) => name) ?? hostname().trim().toLowerCase();
    this.#nodeName = nodeName;
    this.#loading = import('./agent.js').then(
      ({ Agent }) => {
        if (!this.#closed) this.#agent = new Agent({ ...parts, nodeName });
      },
      (error: unknown) => {
        this.#failure = `the client of the API server cannot be loaded: ${String(error)}`;
      },
    );
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

  problem(): SourceProblem | undefined {
    return this.#failure === undefined ? this.#agent?.problem() : { code: 'EVICTD_KUBERNETES_UNREACHABLE', message: this.#failure };
  }

  /** Resolves when the API server has listed the pods, or has not: see `problem`. Never rejects. */
  async reported(): Promise<void> {
    await this.#loading;
    await this.#agent?.reported;
  }

  readonly status = (): KubernetesStatus =>
    this.#agent?.status() ?? {
      ...{ nodeName: this.#nodeName, server: undefined, answers: false, problem: this.#failure },
      ...{ pods: 0, podsAgeNs: undefined, lists: 0, requests: [] },
    };

  close(): void {
    this.#closed = true;
    this.#agent?.close();
  }
}
