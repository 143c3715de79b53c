import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Containerd, hasContainerd, type Pod, type PodOptions } from '../support/cri/containerd.js';
import { aPod } from '../support/kubernetes/a-pod.js';
import { FakeApiServer } from '../support/kubernetes/api-server.js';
import { SLOWNESS } from '../support/slowness.js';
import { Evictd, scratchDirectory, victimOf } from './evictd.js';
import { ABOVE_128_MIB, guarding, ON, testNode } from './node.js';
import { until } from './wait.js';

// Real pods of a real containerd. No package has a kubelet: the test plays it, as far as it starts and ends pods.

/** Holds this much, and ends at SIGTERM. */
const holding = (mib: number): string => {
  const bytes = String(mib << 20);
  return `trap 'echo term; exit 0' TERM; head -c ${bytes} /dev/zero | tail -c ${bytes} | sleep 1000 & wait`;
};
const CALM = holding(1);
const LEAKS = holding(150);

/** A pod of the played kubelet. */
interface KeptPod {
  readonly options: PodOptions;
  pod: Pod;
  restarts: number;
  isDeleted: boolean;
  /** Where a start takes longer than a round, it is not started again after that. */
  isStarting: boolean;
  /** What is done to it, one after the other. */
  busy: Promise<void>;
}

/** Ends pods that are being deleted, and starts others again whose containers have ended, in a new sandbox. */
class PlayedKubelet {
  rounds = 0;
  readonly #runtime: Containerd;
  readonly #server: FakeApiServer;
  readonly #pods = new Map<string, KeptPod>();
  #timer: NodeJS.Timeout | undefined;

  constructor(runtime: Containerd, server: FakeApiServer) {
    this.#runtime = runtime;
    this.#server = server;
    server.store.watch(({ resource, object }) => {
      const { uid = '', deletionGracePeriodSeconds: grace } = object.metadata;
      const kept = this.#pods.get(uid);
      if (resource !== 'pods' || typeof grace !== 'number' || kept === undefined || kept.isDeleted) return;
      kept.isDeleted = true;
      kept.busy = kept.busy.then(() => this.#end(kept, grace));
    });
    this.#look();
  }

  async run(name: string, cgroup: string, script: string): Promise<KeptPod> {
    const uid = randomUUID();
    const options = { name, uid, cgroup, below: '/kubepods', ownCgroup: true, containers: { app: script } };
    const kept = {
      options,
      pod: await this.#runtime.pod(options),
      restarts: 0,
      isDeleted: false,
      isStarting: false,
      busy: Promise.resolve(),
    };
    this.#pods.set(uid, kept);
    this.#server.store.put('pods', aPod(name, { metadata: { uid } }));
    return kept;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.all([...this.#pods.values()].map(({ busy }) => busy));
  }

  async #end({ pod, options }: KeptPod, graceSeconds: number): Promise<void> {
    const stop = (): Promise<unknown> => this.#runtime.stopContainer(pod.containers.app ?? '', graceSeconds);
    await stop().catch(stop); // as a kubelet tries again: the container may end by itself during the first call
    await this.#runtime.removePod(pod.id);
    const left = this.#server.store.list('pods').find(({ metadata }) => metadata.uid === options.uid);
    if (left) this.#server.store.remove('pods', left);
  }

  /** Every second. Where one look takes seconds, most of the time is left to the rest of the test. */
  #look(): void {
    const began = performance.now();
    this.#restartEnded();
    const took = performance.now() - began;
    this.#timer = setTimeout(
      () => {
        this.#look();
      },
      Math.max(1_000, 3 * took),
    );
  }

  #restartEnded(): void {
    this.rounds += 1;
    const running = this.#runtime.running();
    for (const kept of this.#pods.values()) {
      if (kept.isDeleted || kept.isStarting || running.includes(kept.pod.containers.app ?? '')) continue;
      kept.restarts += 1;
      kept.isStarting = true;
      const restarted = async (): Promise<void> => {
        await this.#runtime.removePod(kept.pod.id);
        kept.pod = await this.#runtime.pod(kept.options);
        kept.isStarting = false;
      };
      kept.busy = kept.busy.then(restarted);
    }
  }
}

/** Of one test: each pod is a container of its own, and calls wait for each other. */
const LIMIT_MS = 240_000 * SLOWNESS;

const SOFTLY = {
  evictionHard: { 'memory.available': '64Mi' },
  evictionSoft: ABOVE_128_MIB,
  evictionSoftGracePeriod: { 'memory.available': '1ns' },
  evictionMaxPodGracePeriod: 30,
};

describe.runIf(hasContainerd)(`pods of an API server in containerd (${ON}; where containerd is)`, () => {
  const runtime = new Containerd();
  beforeAll(() => runtime.start());
  afterAll(() => runtime.remove());

  /** Evictd on a node with a pod that needs little. */
  const scene = async (more: object = {}) => {
    const directory = scratchDirectory();
    const server = await FakeApiServer.start();
    const node = testNode();
    const kubelet = new PlayedKubelet(runtime, server);
    onTestFinished(async () => {
      await server.away();
      await kubelet.close();
      await runtime.clear(); // before the cgroup is removed
      rmSync(directory, { recursive: true, force: true });
    });
    const calm = await kubelet.run('calm', node.path, CALM);
    const kubernetes = { kubeconfig: server.kubeconfig(join(directory, 'kubeconfig')), nodeName: 'node-1' };
    const evictd = await new Evictd({ config: { ...guarding(node), workloads: [], kubernetes, ...more }, directory }).guarding();
    await evictd.until('it knows the pod', async () => ((await evictd.metric('evictd_kubernetes_pods')) ?? 0) > 0);
    /** Gone at the API server and from the node, and nothing starts it again. */
    const isOnlyCalmLeft = async (): Promise<void> => {
      const names = (): readonly string[] => server.store.list('pods').map(({ metadata }) => metadata.name);
      // A call that the server has not answered takes 10 s, and the pause after it up to 30 s.
      await evictd.until('the other pods are gone', () => names().join() === 'calm', 120_000);
      const { rounds } = kubelet;
      await until('the kubelet has looked again', () => kubelet.rounds > rounds + 1);
      expect([names(), await runtime.pods()]).toEqual([['calm'], [calm.pod.id]]);
      const shims = (): string =>
        runtime
          .shims()
          .map((pid) => `${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8')}`)
          .join('\n');
      await until('no other shim is left', () => runtime.shims().length === 1, shims, 120_000);
      expect(calm.restarts).toBe(0);
    };
    const victims = (): readonly unknown[] =>
      evictd
        .journal()
        .filter(({ type }) => type === 'decision')
        .map(victimOf);
    const run = (name: string): Promise<KeptPod> => kubelet.run(name, node.path, LEAKS);
    return { server, run, evictd, isOnlyCalmLeft, victims };
  };

  test(
    'are killed if they leak, and do not come back',
    async () => {
      const { run, evictd, isOnlyCalmLeft, victims } = await scene();
      for (const name of ['one', 'two', 'three']) {
        await run(name);
        await evictd.recorded('outcome', `default/${name}`);
      }
      await isOnlyCalmLeft();
      expect(new Set(victims())).toEqual(new Set(['default/one', 'default/two', 'default/three']));
    },
    LIMIT_MS,
  );

  test(
    'get SIGTERM from the kubelet at a soft threshold, and no SIGKILL of evictd',
    async () => {
      const { run, evictd, isOnlyCalmLeft } = await scene(SOFTLY);
      const { pod } = await run('batch');
      expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'default/batch' } });
      expect(readFileSync(`${pod.logs}/app.log`, 'utf8')).toContain('term');
      await isOnlyCalmLeft();
      expect(evictd.journal().filter(({ type }) => type === 'escalation')).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'are evicted again if the kubelet restarts them while the API server is away, and are deleted when it is back',
    async () => {
      const { server, run, evictd, isOnlyCalmLeft, victims } = await scene();
      const stubborn = await run('stubborn');
      await evictd.until('it knows the pod', async () => (await evictd.metric('evictd_kubernetes_pods')) === 2 || victims().length > 0);
      server.answers = 'hang';
      await evictd.until('it was evicted again', () => victims().length > 1, 120_000);
      expect(stubborn.restarts).toBeGreaterThan(0);
      expect(new Set(victims())).toEqual(new Set(['default/stubborn']));
      server.answers = 'now';
      await isOnlyCalmLeft();
    },
    LIMIT_MS,
  );
});
