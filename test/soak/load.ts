import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { TestCgroup } from '../support/cgroup.js';
import { holdMemory } from '../support/hold-memory.js';
import { makeDeep, makeWide } from '../support/many-cgroups.js';

export const NODE_BYTES = 512n << 20n;
const WORKLOADS = 100;
const HOG_MIB = 160;
const TIMEOUT_MS = 60_000;
const LOOK_MS = 50;
/** Cgroups made at a time: beside each other, and in each other. */
const [WIDE, DEEP] = [15, 10];

/** The activity of a node, each part at its own rate until it is stopped. */
export class Load {
  readonly #node: TestCgroup;
  readonly #abort = new AbortController();
  readonly #activities: Promise<void>[] = [];
  readonly counts = { workloads: 0, hogs: 0, hogsEvicted: 0, bursts: 0, cgroups: 0 };

  constructor(node: TestCgroup) {
    this.#node = node;
  }

  /** Resolves when all workloads run; `failed` gets later errors. */
  async start(failed: (error: unknown) => void): Promise<void> {
    const workloads: TestCgroup[] = [];
    while (workloads.length < WORKLOADS) workloads.push(await this.#arrive());
    const every = (ms: number, activity: () => Promise<void>): void => {
      this.#activities.push(this.#repeat(ms, activity).catch(failed));
    };
    // Three are replaced each second: all workloads within half a minute.
    every(300, async () => {
      await workloads.shift()?.cleanup();
      workloads.push(await this.#arrive());
    });
    every(3000, () => this.#hog());
    every(1000, () => this.#fillPageCache());
    every(15_000, () => this.#burst());
    // 100,000 in less than ten minutes.
    const scope = this.#node.child('churning.scope');
    await scope.spawn('sleep', ['3600']);
    every(100, () => this.#churn(scope.dir));
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await Promise.all(this.#activities);
  }

  async #repeat(ms: number, activity: () => Promise<void>): Promise<void> {
    while (!this.#abort.signal.aborted) {
      await activity();
      await pause(ms, undefined, { signal: this.#abort.signal }).catch(() => undefined);
    }
  }

  async #arrive(): Promise<TestCgroup> {
    const workload = this.#node.child(`w${String(++this.counts.workloads)}`);
    await workload.spawn('sleep', ['3600']);
    return workload;
  }

  /** Takes more memory than there is, until evictd evicts it. */
  async #hog(): Promise<void> {
    const cgroup = this.#node.child(`hog${String(++this.counts.hogs)}`);
    const { child } = await holdMemory(cgroup, HOG_MIB);
    const over = (): boolean => child.exitCode !== null || child.signalCode !== null;
    for (let left = TIMEOUT_MS; left > 0 && !over() && !this.#abort.signal.aborted; left -= LOOK_MS) await pause(LOOK_MS);
    const evicted = over();
    await cgroup.cleanup();
    if (!evicted && !this.#abort.signal.aborted)
      throw new Error(`${cgroup.path} holds ${String(HOG_MIB)} MiB, and evictd has not evicted it for a minute`);
    if (evicted) this.counts.hogsEvicted++;
  }

  /** Pages that can be dropped are no working set: evictd has to move its threshold on usage. */
  async #fillPageCache(): Promise<void> {
    const cgroup = this.#node.child('cache');
    const file = join(tmpdir(), `evictd-test-soak-${String(process.pid)}`);
    try {
      await (
        await cgroup.spawn('dd', ['if=/dev/zero', `of=${file}`, 'bs=1M', 'count=16', 'status=none'])
      ).ended;
    } finally {
      rmSync(file, { force: true });
      await cgroup.cleanup();
    }
  }

  /** Cgroups inside a workload, which evictd does not watch, and a slice beside it, which it does. */
  async #churn(workload: string): Promise<void> {
    const slice = `${this.#node.dir}/${this.#node.path.slice(1, -'.slice'.length)}-s${String(this.counts.cgroups)}.slice`;
    const wide = makeWide(workload, WIDE);
    let deepest = makeDeep(workload, DEEP);
    mkdirSync(slice);
    await pause(1);
    rmdirSync(slice);
    for (const cgroup of wide) rmdirSync(cgroup);
    for (let level = 0; level < DEEP; level++, deepest = dirname(deepest)) rmdirSync(deepest);
    this.counts.cgroups += WIDE + DEEP + 1;
  }

  /** Tasks wait for the processor, for a second. */
  async #burst(): Promise<void> {
    this.counts.bursts++;
    const cgroup = this.#node.child('busy');
    for (let loops = 0; loops < 4; loops++) await cgroup.spawn('timeout', ['1', '/bin/sh', '-c', 'while :; do :; done']);
    await pause(1500);
    await cgroup.cleanup();
  }
}
