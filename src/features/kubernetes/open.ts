import { hostname } from 'node:os';
import type { KubernetesStatus } from '../../core/kubernetes/kubernetes-status.js';
import type { NodePod } from '../../core/kubernetes/node-pod.js';
import type { NodePods } from '../../monitor/ports/node-pods.js';
import type { SourceProblem, WorkloadSource } from '../../monitor/ports/ports.js';
import type { Agent, AgentParts } from './agent.js';

const NO_PODS: readonly NodePod[] = [];

/** The part that is loaded with the program; the rest is a bundle of its own. */
export class Kubernetes implements NodePods {
  readonly #nodeName: string;
  #agent: Agent | undefined;
  #failure: string | undefined;
  #closed = false;

  constructor(parts: Omit<AgentParts, 'nodeName'>) {
    // As the kubelet names a node (nodeutil.GetHostname).
    const nodeName = [parts.config.nodeName, parts.env.NODE_NAME].find((name) => name) ?? hostname().trim().toLowerCase();
    this.#nodeName = nodeName;
    import('./agent.js').then(
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

  readonly status = (): KubernetesStatus =>
    this.#agent?.status() ?? {
      ...{ nodeName: this.#nodeName, server: undefined, answers: false, problem: this.#failure },
      ...{ pods: 0, podsAgeNs: undefined, lists: 0, requests: [] },
    };

  /** Adds the problem of the API server to those of a source. */
  on(source: WorkloadSource): WorkloadSource {
    return {
      candidates: (reading) => source.candidates(reading),
      refresh: () => {
        source.refresh();
      },
      holding: (cgroup) => source.holding(cgroup),
      close: () => {
        source.close();
      },
      problems: () => [...source.problems(), ...[this.problem() ?? []].flat()],
    };
  }

  close(): void {
    this.#closed = true;
    this.#agent?.close();
  }
}
