import type { ControllersFacts } from '../../core/cluster/controller.js';
import type { KubernetesConfig } from '../../core/kubernetes/kubernetes-config.js';
import type { AccessAttributes } from '../../core/kubernetes/needed-access.js';
import type { KubernetesStatus } from '../../core/kubernetes/kubernetes-status.js';
import type { NodePod } from '../../core/kubernetes/node-pod.js';
import { formatDuration, NS_PER_SECOND } from '../../core/quantity/duration.js';
import { EvictdError, messageOf } from '../../errors.js';
import type { Json } from '../../kubernetes/json.js';
import type { Log } from '../../log/log.js';
import type { NodePods } from '../../monitor/ports/node-pods.js';
import type { SourceProblem } from '../../monitor/ports/ports.js';
import { isPermitted } from './access-review.js';
import type { ApiClient } from './client/api-client.js';
import { ApiClients } from './client/api-clients.js';
import { ownNamespace } from './client/in-cluster.js';
import { ClusterReports, type ClusterReportsParts } from './reports/cluster-reports.js';
import { readControllers } from './read-controllers.js';
import { PodStore } from './pod-store.js';
import type { PodsFile } from './pods-file.js';
import { ListWatch, type ObjectsSeen } from './list-watch.js';

export { FormerApiServer } from './former-api-server.js';

export interface AgentParts {
  readonly config: KubernetesConfig;
  readonly nodeName: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file with the last known pods. */
  readonly podsFile: PodsFile;
  readonly dryRun: boolean;
  /** CLOCK_BOOTTIME. */
  readonly bootNs: () => bigint;
  /** undefined: the agent of a single reading, which calls `problem` instead. */
  readonly log: Pick<Log, 'info' | 'warn'> | undefined;
  /** Left out: a dry run, or a command: the agent only reads. */
  readonly acting?: ClusterReportsParts;
}

/** Changes within this time are saved together. */
const SAVED_AFTER_MS = 1_000;
/** The interval of saves without a change, by which the saved age of the pods may be wrong. */
const SAVED_EVERY_NS = 300n * NS_PER_SECOND;
/** A single failure is not logged: an API server that restarts ends every watch. */
const LOGGED_FAILURE = 2;

const HINTS: Readonly<Record<string, string>> = {
  EVICTD_KUBERNETES_UNREACHABLE: 'evictions go on; check the network and the API server: kubectl get --raw /readyz',
  EVICTD_KUBERNETES_REFUSED: 'evictions go on; the credential needs list and watch of pods: kubectl auth can-i --list',
};

/** What evictd reads from the API server and writes there. It is a bundle of its own, loaded where it is configured. */
export class Agent implements NodePods {
  readonly #parts: AgentParts;
  readonly reports: ClusterReports | undefined;
  readonly #store = new PodStore();
  readonly #clients: ApiClients;
  readonly #client: ApiClient;
  readonly #watch: ListWatch<Json>;
  readonly #requests = new Map<string, number>();
  /** Resolves when the API server has listed the pods, or the first attempt has failed. */
  readonly reported: Promise<void>;
  #confirmedBootNs: bigint | undefined;
  /** The last one that was saved. */
  #savedBootNs = 0n;
  #failure: { readonly code: string; readonly message: string; readonly hint: string | undefined } | undefined;
  /** Failed attempts in a row. */
  #failures = 0;
  #unreadable = '';
  #timer: NodeJS.Timeout | undefined;
  #saveFails = false;

  /** @param mostWaitMs  between two attempts. Tests wait less */
  constructor(parts: AgentParts, mostWaitMs?: number) {
    this.#parts = parts;
    const { config, env, nodeName } = parts;
    this.#restore();
    this.#clients = new ApiClients(env, (method, code) => {
      const key = `${method} ${code}`;
      this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
    });
    this.#client = this.#clients.of(config.kubeconfig);
    let answered = (): void => undefined;
    this.reported = new Promise((resolve) => {
      answered = resolve;
    });
    const seen: ObjectsSeen<Json> = {
      listed: (pods) => {
        answered();
        this.#confirmed();
        this.#changed(this.#store.replace(pods));
        this.reports?.endedPods.listed(pods);
      },
      changed: (pod) => {
        this.#changed(this.#store.put(pod));
        this.reports?.endedPods.seen(pod);
      },
      removed: (pod) => {
        this.#changed(this.#store.remove(pod));
        this.reports?.endedPods.removed(pod);
      },
      confirmed: this.#confirmed.bind(this),
      failed: (why) => {
        this.#failed(why);
        answered();
      },
    };
    const { acting, log } = parts;
    const isAway = (): boolean => this.#failures >= LOGGED_FAILURE && this.#failure?.code === 'EVICTD_KUBERNETES_UNREACHABLE';
    this.reports = acting && log && new ClusterReports(this.#clients, { nodeName, config, isLeaving: false, isAway, log }, acting);
    const pods = { path: '/api/v1/pods', fieldSelector: `spec.nodeName=${nodeName}`, read: (pod: Json): Json => pod };
    this.#watch = new ListWatch(this.#client, pods, seen, mostWaitMs);
  }

  pods(): readonly NodePod[] {
    return this.#store.pods;
  }

  get hasReported(): boolean {
    return this.#confirmedBootNs !== undefined;
  }

  ageNs(): bigint | undefined {
    return this.#confirmedBootNs === undefined ? undefined : this.#parts.bootNs() - this.#confirmedBootNs;
  }

  problem(): SourceProblem | undefined {
    const { problems } = this.#store;
    if (this.#failure === undefined) {
      const [first] = problems;
      if (first === undefined) return undefined;
      const message = `pods of the API server that cannot be read, and are not candidates: ${String(problems.length)}; ${first}`;
      return { code: 'EVICTD_KUBERNETES_DOCUMENT', message };
    }
    const { code, message, hint } = this.#failure;
    const server = this.#client.server ?? 'the API server';
    const count = this.#store.pods.length;
    const age = this.ageNs();
    const meanwhile =
      age === undefined
        ? 'no pod is known'
        : `the last reported pods stay known (${String(count)}, ${formatDuration((age / NS_PER_SECOND) * NS_PER_SECOND)} old)`;
    return { code, message: `${server}: ${message}; ${meanwhile}`, ...(hint !== undefined && { hint }) };
  }

  mayDo(attributes: AccessAttributes): Promise<boolean> {
    return isPermitted(this.#client, attributes);
  }

  async controllers(): Promise<ControllersFacts | undefined> {
    const namespace = this.#parts.config.kubeconfig === undefined ? await ownNamespace() : undefined;
    return readControllers(this.#client.ask.bind(this.#client), namespace);
  }

  status(): KubernetesStatus {
    return {
      nodeName: this.#parts.nodeName,
      server: this.#client.server,
      answers: this.#failure === undefined && this.#requests.size > 0,
      problem: this.problem()?.message,
      pods: this.#store.pods.length,
      pendingDeletions: this.reports?.pendingDeletions ?? 0,
      podsAgeNs: this.ageNs(),
      lists: this.#watch.lists,
      requests: [...this.#requests].map(([key, count]) => [count, ...(key.split(' ') as [string, string])]),
    };
  }

  close(): void {
    this.reports?.close();
    this.#watch.close();
    this.#clients.close();
    if (this.#timer !== undefined) this.#save();
  }

  #confirmed(): void {
    if (this.#failures >= LOGGED_FAILURE) this.#parts.log?.info(`${this.#client.server ?? 'the API server'} answers again`);
    const isBack = this.#failures > 0;
    this.#failures = 0;
    this.#failure = undefined;
    this.#confirmedBootNs = this.#parts.bootNs();
    if (this.#confirmedBootNs - this.#savedBootNs >= SAVED_EVERY_NS) this.#saveSoon();
    if (isBack) this.reports?.serverIsBack();
  }

  #changed(hasChanged: boolean): void {
    if (!hasChanged) return;
    this.#saveSoon();
    const unreadable = this.#store.problems.join();
    if (unreadable !== this.#unreadable && unreadable !== '') this.#warn();
    this.#unreadable = unreadable;
  }

  #warn(): void {
    const problem = this.problem();
    if (problem === undefined) return;
    const { code, message, hint } = problem;
    this.#parts.log?.warn(hint === undefined ? message : `${message} (${hint})`, { code });
  }

  #failed(why: unknown): void {
    this.#failures += 1;
    const message = messageOf(why);
    const code = why instanceof EvictdError ? why.code : 'EVICTD_KUBERNETES_REFUSED';
    this.#failure = { code, message, hint: why instanceof EvictdError && why.hint !== undefined ? why.hint : HINTS[code] };
    if (this.#failures === LOGGED_FAILURE) this.#warn();
    if (this.#failures === 1 && this.hasReported) this.#saveSoon(); // with the time until which the pods were up to date
  }

  #restore(): void {
    const { log, nodeName } = this.#parts;
    try {
      const saved = this.#parts.podsFile.load();
      if (saved === undefined || saved === 'of another boot' || saved.node !== nodeName) return;
      this.#store.restore(saved.pods);
      this.#confirmedBootNs = saved.confirmedBootNs;
      log?.info(`pods that are known from the run before: ${String(this.#store.pods.length)}`);
    } catch (error) {
      this.#store.replace([]);
      log?.warn(`the last known pods cannot be read: ${String(error)}`, { code: 'EVICTD_KUBERNETES_SAVED' });
    }
  }

  #saveSoon(): void {
    if (this.#parts.dryRun) return;
    this.#timer ??= setTimeout(() => {
      this.#save();
    }, SAVED_AFTER_MS).unref();
  }

  #save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { nodeName, podsFile, log } = this.#parts;
    try {
      podsFile.save({ node: nodeName, confirmedBootNs: String(this.#confirmedBootNs ?? 0n), pods: this.#store.texts });
      this.#savedBootNs = this.#confirmedBootNs ?? 0n;
      this.#saveFails = false;
    } catch (error) {
      if (!this.#saveFails) log?.warn(`the known pods cannot be saved: ${String(error)}`, { code: 'EVICTD_KUBERNETES_SAVED' });
      this.#saveFails = true;
    }
  }
}
