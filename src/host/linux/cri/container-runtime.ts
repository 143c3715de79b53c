import { runtimeWorkloads, type PodSandbox, type RuntimePart, type RuntimeWorkload } from '../../../core/workload/pod-sandbox.js';
import type { RuntimeImage } from '../../../core/disk/container-garbage.js';
import type { Collection } from '../../../core/signal/layout.js';
import type { ContainerFiles, ContainerRuntime, SourceProblem } from '../../../monitor/ports/ports.js';
import {
  CONTAINER_RUNNING,
  CONTAINER_STATUS,
  IMAGE_FS_INFO,
  LIST_CONTAINERS,
  LIST_PODS,
  LIST_STATS,
  REMOVE_CONTAINER,
  REMOVE_POD,
  SANDBOX_READY,
  STOP_CONTAINER,
  STOP_POD,
  VERSION,
  type Call,
  type ListedContainer,
  isRemoved,
  runtimeMessage,
  unlessRemoved,
} from './runtime-calls.js';
import type { Encodable, Table } from './protobuf.js';
import { Kubelet } from '../process/kubelet.js';
import type { CriClient } from './client.js';
import { containerFiles, containerPaths, type ContainerPaths, deleteRemovedLayers } from './container-files.js';
import { GarbageCollection, type Garbage } from './garbage.js';
import { asError } from '../../../errors.js';

/** A runtime that takes longer hangs. */
const ANSWERED_WITHIN_MS = 5_000;
/** A pod is removed with its network, and layers of many files take long; so does CRI-O when it measures them. */
const LAYERS_WITHIN_MS = 60_000;
const APART_NS = 1_000_000_000n;
/** Between two listings of images and of their filesystems. After a failure the filesystems are asked for with the next list. */
const IMAGES_APART_NS = 60_000_000_000n;
/** Status calls at a time: all at once would keep the runtime busy. */
const AT_A_TIME = 8;

/**
 * Asks for pods and containers in the background, and keeps the last answer.
 *
 * @param apartNs the shortest interval between two lists
 */
export function openContainerRuntime(endpoint: string, apartNs = APART_NS, kubelet = new Kubelet()): ContainerRuntime {
  return new CriRuntime(endpoint, apartNs, kubelet);
}

class CriRuntime implements ContainerRuntime {
  #client: Promise<CriClient> | undefined;
  #workloads: readonly RuntimeWorkload[] = [];
  #hasReported = false;
  #failure: Error | undefined;
  #asking: Promise<void> | undefined;
  #requestedAtNs: bigint | undefined;
  /** The paths of running containers, by id. */
  #paths: ReadonlyMap<string, ContainerPaths> = new Map();
  readonly #garbage: GarbageCollection;
  #imagesAtNs: bigint | undefined;
  #filesystems: ReturnType<ContainerRuntime['filesystems']>;
  /** The latest question for them, unless it failed. Never rejects. */
  #placing: Promise<void> | undefined;
  #closed = false;

  constructor(
    readonly endpoint: string,
    private readonly apartNs: bigint,
    private readonly kubelet: Kubelet,
  ) {
    this.#garbage = new GarbageCollection(kubelet);
  }

  get hasReported(): boolean {
    return this.#hasReported;
  }

  workloads(): readonly RuntimeWorkload[] {
    return this.#workloads;
  }

  follow(): void {
    const nowNs = process.hrtime.bigint();
    if (this.#closed || this.#asking || (this.#requestedAtNs !== undefined && nowNs - this.#requestedAtNs < this.apartNs)) return;
    this.#requestedAtNs = nowNs;
    this.#asking = this.#ask().then(
      (workloads) => {
        this.#failure = undefined;
        this.#tell(workloads);
        this.#asking = undefined;
      },
      (error: unknown) => {
        this.#failure = asError(error);
        this.#asking = undefined;
      },
    );
  }

  async reported(): Promise<void> {
    const before = this.#asking; // a request from before the call does not have a container that has just started
    await before;
    if (before && this.#failure) return;
    this.#requestedAtNs = undefined;
    this.follow();
    await this.#asking;
    await this.#placing;
  }

  async filesystemsReported(): Promise<void> {
    await this.#answered((client) => this.#lookAtFilesystems(client)).catch(() => undefined);
  }

  stop({ podId, containers, isPod }: RuntimePart, graceNs: bigint): () => 'requested' | 'alive' | 'refused' {
    let known: 'requested' | 'alive' | 'refused' = 'requested';
    const graceMs = Number(graceNs / 1_000_000n);
    const timeout = Math.ceil(graceMs / 1000); // 0 would be SIGKILL
    const stopAll = async (client: CriClient): Promise<void> => {
      client.ask(VERSION, {}, graceMs).then(
        () => {
          if (known === 'requested') known = 'alive';
        },
        () => undefined,
      );
      await Promise.all(
        containers.map((containerId) => unlessRemoved(client.ask(STOP_CONTAINER, { containerId, timeout }, graceMs + ANSWERED_WITHIN_MS))),
      );
      if (isPod) await unlessRemoved(client.ask(STOP_POD, { podSandboxId: podId }, LAYERS_WITHIN_MS));
    };
    this.#connected()
      .then(stopAll)
      .catch(() => {
        known = 'refused';
      });
    return () => known;
  }

  async remove({ podId, containers, isPod }: RuntimePart): Promise<string | undefined> {
    try {
      const client = await this.#connected();
      const ask = <I extends Table, O extends Table>(call: Call<I, O>, request: Encodable<I>): Promise<void> =>
        unlessRemoved(client.ask(call, request, LAYERS_WITHIN_MS));
      if (!isPod) {
        for (const containerId of containers) await ask(REMOVE_CONTAINER, { containerId });
        await deleteRemovedLayers(client);
        const { containers: left } = await client.ask(LIST_CONTAINERS, {}, ANSWERED_WITHIN_MS);
        if (left.some(({ podSandboxId }) => podSandboxId === podId)) return undefined;
      }
      await ask(STOP_POD, { podSandboxId: podId });
      await ask(REMOVE_POD, { podSandboxId: podId });
      await deleteRemovedLayers(client);
      return undefined;
    } catch (error) {
      return runtimeMessage(error);
    }
  }

  async collect(collection: Collection): Promise<readonly string[]> {
    try {
      return await this.#garbage.collect(await this.#connected(), collection);
    } catch (error) {
      return [runtimeMessage(error)];
    }
  }

  garbage(): Promise<Garbage> {
    return this.#answered((client) => this.#garbage.find(client));
  }

  usedImages(): Promise<readonly RuntimeImage[]> {
    return this.#answered((client) => this.#garbage.used(client));
  }

  filesystems(): ReturnType<ContainerRuntime['filesystems']> {
    return this.#filesystems;
  }

  files(): Promise<readonly ContainerFiles[]> {
    return this.#answered(async (client) => {
      const { stats } = await client.ask(LIST_STATS, {}, LAYERS_WITHIN_MS);
      const logPaths = new Map([...this.#paths].map(([id, { logPath }]) => [id, logPath]));
      return containerFiles(stats, logPaths, { monotonicNs: process.hrtime.bigint(), unixMs: Date.now() });
    });
  }

  problem(): SourceProblem | undefined {
    if (this.#failure === undefined) return undefined;
    const known = this.#workloads.length;
    const meanwhile = known === 0 ? 'none of its pods is a candidate until then' : `its ${String(known)} known workloads stay candidates`;
    return {
      code: 'EVICTD_CRI_UNREACHABLE',
      message: `cannot query workload source cri ${this.endpoint}: ${runtimeMessage(this.#failure)}; ${meanwhile}`,
      hint: 'check that the container runtime runs with its CRI plugin, and that this is its socket: crictl -r ENDPOINT pods',
    };
  }

  close(): void {
    this.#closed = true;
    this.#client?.then(
      (client) => {
        client.close();
      },
      () => undefined,
    );
    this.#client = undefined;
  }

  async #answered<T>(ask: (client: CriClient) => Promise<T>): Promise<T> {
    try {
      return await ask(await this.#connected());
    } catch (error) {
      throw new Error(runtimeMessage(error), { cause: error });
    }
  }

  #connected(): Promise<CriClient> {
    if (this.#closed) return Promise.reject(new Error('the connection is closed'));
    this.#client ??= import('./client.js')
      .then(({ CriClient }) => new CriClient(this.endpoint))
      .catch((error: unknown) => {
        this.#client = undefined;
        throw error;
      });
    return this.#client;
  }

  /** Keeps the same value for the same list, so that readers need not compare. */
  #tell(workloads: readonly RuntimeWorkload[]): void {
    this.#hasReported = true;
    if (!this.#closed && JSON.stringify(workloads, plain) !== JSON.stringify(this.#workloads, plain)) this.#workloads = workloads;
  }

  async #ask(): Promise<RuntimeWorkload[]> {
    const client = await this.#connected();
    this.#lookAtImages(client);
    const [{ items }, { containers }] = await Promise.all([
      client.ask(LIST_PODS, {}, ANSWERED_WITHIN_MS),
      client.ask(LIST_CONTAINERS, {}, ANSWERED_WITHIN_MS),
    ]);
    const running = containers.filter(({ state }) => state === CONTAINER_RUNNING);
    this.#paths = await this.#pathsOf(running, client);
    const pods = items.flatMap(({ id, metadata, state, labels, annotations }): PodSandbox[] => {
      if (state !== SANDBOX_READY) return [];
      const own = running.flatMap((container) => {
        const cgroupsPath = container.podSandboxId === id ? this.#paths.get(container.id)?.cgroupsPath : undefined;
        if (cgroupsPath === undefined) return [];
        return [
          { id: container.id, name: container.metadata.name, labels: container.labels, annotations: container.annotations, cgroupsPath },
        ];
      });
      return own.length === 0 ? [] : [{ id, ...metadata, labels, annotations, containers: own }];
    });
    return runtimeWorkloads(this.endpoint, pods, await this.kubelet.manages([...items, ...containers]));
  }

  /** Lists the images once a minute, beside the other calls, to know their age. */
  #lookAtImages(client: CriClient): void {
    const nowNs = process.hrtime.bigint();
    if (this.#imagesAtNs === undefined || nowNs - this.#imagesAtNs >= IMAGES_APART_NS) {
      this.#imagesAtNs = nowNs;
      this.#garbage.look(client).catch(() => undefined);
      this.#placing = undefined;
    }
    this.#placing ??= this.#lookAtFilesystems(client).catch(() => {
      this.#placing = undefined;
    });
  }

  async #lookAtFilesystems(client: CriClient): Promise<void> {
    const { imageFilesystems, containerFilesystems } = await client.ask(IMAGE_FS_INFO, {}, ANSWERED_WITHIN_MS);
    const imagefs = imageFilesystems[0]?.fsId.mountpoint ?? '';
    const containerfs = containerFilesystems[0]?.fsId.mountpoint ?? '';
    if (imagefs.startsWith('/')) this.#filesystems = { imagefs, containerfs: containerfs.startsWith('/') ? containerfs : undefined };
  }

  /** Asks for containers that are not known yet. A container that has ended meanwhile is left out. */
  async #pathsOf(containers: readonly ListedContainer[], client: CriClient): Promise<ReadonlyMap<string, ContainerPaths>> {
    const found = new Map<string, ContainerPaths>();
    const unknown: string[] = [];
    for (const { id } of containers) {
      const known = this.#paths.get(id);
      if (known === undefined) unknown.push(id);
      else found.set(id, known);
    }
    for (let first = 0; first < unknown.length; first += AT_A_TIME) {
      const some = unknown.slice(first, first + AT_A_TIME).map(async (containerId) => {
        const paths = containerPaths(await client.ask(CONTAINER_STATUS, { containerId, verbose: true }, ANSWERED_WITHIN_MS));
        if (paths !== undefined) found.set(containerId, paths);
      });
      const answers = await Promise.allSettled(some);
      for (const answer of answers) if (answer.status === 'rejected' && !isRemoved(answer.reason)) throw answer.reason;
    }
    return found;
  }
}

const plain = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
