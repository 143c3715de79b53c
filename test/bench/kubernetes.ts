import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { testCgroup, type TestCgroup } from '../support/cgroup.js';
import { eventually } from '../support/eventually.js';
import { aPod } from '../support/kubernetes/a-pod.js';
import { FakeApiServer, NODE } from '../support/kubernetes/api-server.js';
import { atMost, type Bench, type Benchmark, type Result } from './benchmark.js';
import { Distribution, ratios } from './distribution.js';
import { evicted, wokenBy } from './eviction.js';
import { RunningEvictd, type JournalLine } from './evictd.js';
import { residentMiB } from './idle.js';
import { SCRATCH, usageOf } from './tree.js';

/** The limit of a kubelet. */
const PODS = 110;
const ROUNDS = 18;
const MARGIN = 64n << 20n;
const CAPACITY = 1n << 30n;
/** V8 frees the memory of the start once, after some 17 s. */
const SETTLE_MS = 26_000;

type ApiServer = 'none' | 'answers' | 'hangs';
const WHAT: Readonly<Record<ApiServer, string>> = {
  none: 'workloads',
  answers: 'pods, API server answers',
  hangs: 'pods, API server hangs',
};

/** One evictd with a node of its own. */
interface Contestant {
  readonly apiServer: ApiServer;
  readonly evictd: RunningEvictd;
  readonly node: TestCgroup;
  readonly workloads: readonly TestCgroup[];
  readonly workingSetAt: bigint;
  readonly outcomes: JournalLine[];
}

/** Evictions of pods beside evictions of workloads without Kubernetes. */
export const kubernetes: Benchmark = {
  name: 'kubernetes',
  what: `crossing of a memory threshold → signal sent, ${String(PODS)} pods, with an API server and without`,
  run: async (bench: Bench): Promise<Result> => {
    const directory = mkdtempSync(join(SCRATCH, 'evictd-bench-'));
    bench.cleanup(() => {
      rmSync(directory, { recursive: true, force: true });
    });
    const contestants: Contestant[] = [];
    for (const apiServer of ['none', 'answers', 'hangs'] as const) contestants.push(await contestant(bench, apiServer, directory));
    await pause(SETTLE_MS);
    const resident = contestants.map(({ evictd }) => residentMiB(evictd.pid));
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const { evictd, node, workloads, workingSetAt, outcomes, apiServer } of contestants) {
        const workload = workloads[(round * 37) % PODS];
        if (workload === undefined) throw new Error('no such workload');
        const times = join(directory, `${apiServer}-${String(round)}`);
        outcomes.push(await evicted(evictd, { node, workload, workingSetAt, round, times }));
      }
    }
    const [without = [], ...others] = contestants.map(({ outcomes }) =>
      outcomes.map(({ spansMs }) => spansMs?.crossingToSignal ?? Number.NaN),
    );
    return {
      figures: [
        ...[without, ...others].map((values, at) => ({ what: whatOf(contestants[at]), unit: 'ms', measured: new Distribution(values) })),
        ...others.map((values, at) => ({
          what: `${whatOf(contestants[at + 1])} / workloads, pairs`,
          unit: '×',
          measured: ratios(values, without).medianOfPairs,
          ...atMost(1.2),
        })),
        ...resident.map((measured, at) => ({ what: `resident: ${whatOf(contestants[at])}`, unit: 'MiB', measured, ...atMost(66) })),
      ],
      notes: [
        'waiter awake → signal sent, by the spans in the journal; each evictd guards a node of 1 GiB, and they take turns',
        contestants.map((one) => `${whatOf(one)}: ${wokenBy(one.evictd)}`).join('; '),
      ],
    };
  },
};

function whatOf(one: Contestant | undefined): string {
  return one === undefined ? '' : WHAT[one.apiServer];
}

async function contestant(bench: Bench, apiServer: ApiServer, directory: string): Promise<Contestant> {
  const node = testCgroup();
  bench.cleanup(() => node.cleanup());
  node.limit(CAPACITY);
  const parent = node.child(apiServer === 'none' ? 'apps' : 'kubepods');
  const uids = Array.from({ length: PODS }, () => randomUUID());
  const workloads = uids.map((uid) => parent.child(apiServer === 'none' ? uid : `pod${uid}`));
  for (const workload of workloads) await workload.spawn('sleep', ['3600']);
  const workingSetAt = usageOf(node) + MARGIN;
  const config = {
    node: { cgroup: node.path },
    workloads: apiServer === 'none' ? [{ cgroup: parent.path }] : [],
    evictionHard: { 'memory.available': String(CAPACITY - workingSetAt), 'nodefs.available': '0%', 'nodefs.inodesFree': '0%' },
  };
  const common = { apiServer, node, workloads, workingSetAt, outcomes: [] };
  if (apiServer === 'none') return { ...common, evictd: await RunningEvictd.start(bench, config) };
  const server = await FakeApiServer.start();
  bench.cleanup(() => server.away());
  for (const [index, uid] of uids.entries()) server.store.put('pods', aPod(`pod-${String(index)}`, { metadata: { uid } }));
  server.store.put('nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE }, spec: {}, status: {} });
  const kubeconfig = server.kubeconfig(join(directory, `kubeconfig-${apiServer}`));
  const evictd = await RunningEvictd.start(bench, { ...config, kubernetes: { kubeconfig, nodeName: NODE } });
  await eventually('it knows the pods', async () => (await evictd.scrape()).includes(`evictd_kubernetes_pods ${String(PODS)}`));
  if (apiServer === 'hangs') server.answers = 'hang';
  return { ...common, evictd };
}
