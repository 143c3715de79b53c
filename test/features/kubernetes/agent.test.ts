import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { EndedPod } from '../../../src/core/kubernetes/pending-deletion.js';
import { openPodsFile } from '../../../src/features/kubernetes/pods-file.js';
import { Agent, type AgentParts } from '../../../src/features/kubernetes/agent.js';
import { ClusterReports } from '../../../src/features/kubernetes/reports/cluster-reports.js';
import { Kubernetes } from '../../../src/features/kubernetes/open.js';
import { aPod } from '../../support/kubernetes/a-pod.js';
import { FakeApiServer, NODE } from '../../support/kubernetes/api-server.js';
import { request, softEviction } from './pod.js';

let server: FakeApiServer;
let directory: string;
let opened: { close(): void }[];
let logged: string[];

beforeEach(async () => {
  server = await FakeApiServer.start();
  directory = mkdtempSync(join(tmpdir(), 'evictd-agent-'));
  opened = [];
  logged = [];
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const one of opened) one.close();
  await server.away();
  rmSync(directory, { recursive: true });
});

const parts = (more: Partial<AgentParts> = {}): AgentParts => ({
  config: {
    ...{ kubeconfig: server.kubeconfig(join(directory, 'kubeconfig')), nodeName: NODE, budgets: 'respect' },
    ...{ taint: undefined, conditions: 'own', kubelet: 'present' },
  },
  ...{
    nodeName: NODE,
    env: {},
    podsFile: openPodsFile(join(directory, 'pods.json'), 'boot'),
    dryRun: false,
    bootNs: () => process.hrtime.bigint(),
  },
  log: { info: (message) => logged.push(message), warn: (message) => logged.push(message) },
  ...more,
});

function agentOf(more?: Partial<AgentParts>): Agent {
  const agent = new Agent(parts(more), 50);
  opened.push(agent);
  return agent;
}

const WAIT = { timeout: 20_000, interval: 5 };
const names = (agent: { pods: Agent['pods'] }): string[] => agent.pods().map(({ name }) => name);
const named = (agent: { pods: Agent['pods'] }, ...expected: string[]) =>
  vi.waitFor(() => {
    expect(names(agent)).toEqual(expected);
  }, WAIT);
const watched = () =>
  vi.waitFor(() => {
    expect(server.watches).toBe(1);
  }, WAIT);

test('the pods of this node are listed, then watched, and changes that evictd does not read have no effect', async () => {
  server.store.put('pods', aPod('a'));
  server.store.put('pods', aPod('elsewhere', { spec: { nodeName: 'node-2' } }));
  const agent = agentOf();
  expect([agent.hasReported, agent.ageNs()]).toEqual([false, undefined]);
  await named(agent, 'a');
  expect(agent.hasReported).toBe(true);
  await watched();
  server.store.put('pods', aPod('b'));
  await named(agent, 'a', 'b');
  const before = agent.pods();
  server.store.put('pods', aPod('a', { status: { containerStatuses: [{ name: 'main', ready: false }] } }));
  server.store.put('pods', aPod('b', { metadata: { labels: { app: 'c' } } }));
  await vi.waitFor(() => {
    expect(agent.pods()[1]?.labels).toEqual({ app: 'c' });
  }, WAIT);
  expect(agent.pods()[0]).toBe(before[0]);
  server.store.remove('pods', aPod('a'));
  await named(agent, 'b');
  expect(agent.status()).toMatchObject({ answers: true, pods: 1, lists: 1, server: server.url, problem: undefined });
});

test('a watch that has ended continues, and one whose version has expired begins with a list', async () => {
  server.store.put('pods', aPod('a'));
  const agent = agentOf();
  await watched();
  server.instead = ({ query }) => (query.get('watch') === 'true' ? { code: 503, body: 'later' } : undefined);
  server.endWatches();
  await vi.waitFor(() => {
    expect(agent.status()).toMatchObject({ answers: false });
  }, WAIT);
  server.store.put('pods', aPod('b'));
  server.store.remove('pods', aPod('a'));
  server.instead = () => undefined;
  await named(agent, 'b');
  expect(agent.status().lists).toBe(1);
  server.instead = ({ query }) => (query.get('watch') === 'true' ? { code: 503, body: 'later' } : undefined);
  server.endWatches();
  await vi.waitFor(() => {
    expect(server.watches).toBe(0);
  }, WAIT);
  server.store.put('pods', aPod('c'));
  server.store.compact();
  server.instead = () => undefined;
  await named(agent, 'b', 'c');
  expect(agent.status().lists).toBe(2);
  // The newest, not any version, which is the answer to a watch that fails again and again.
  expect(server.received.findLast(({ query }) => !query.has('watch'))?.query.get('resourceVersion')).toBeNull();
});

test('a proxy that cuts each idle watch causes no failure, and the next watch goes on', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  server.store.put('pods', aPod('a'));
  const agent = agentOf();
  for (let cuts = 1; cuts <= 6; cuts += 1) {
    await watched();
    vi.advanceTimersByTime(35_000);
    server.cutWatches();
    await vi.waitFor(() => {
      expect(server.received).toHaveLength(2 + cuts);
    }, WAIT);
  }
  server.store.put('pods', aPod('b'));
  await named(agent, 'a', 'b');
  expect(agent.status()).toMatchObject({ answers: true, lists: 1, problem: undefined });
});

test('a watch that the server has not ended in time is stale and has failed', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const agent = agentOf();
  await watched();
  server.store.put('pods', aPod('a'));
  await named(agent, 'a');
  server.watchesAreStale = true;
  server.answers = 'hang';
  vi.advanceTimersByTime(54_000);
  await vi.waitFor(() => {
    expect(agent.status().problem).toContain('the watch is stale');
  }, WAIT);
});

test('while the server is away the pods stay known with their age and the reason, and the watch continues when it is back', async () => {
  server.store.put('pods', aPod('a'));
  const agent = agentOf();
  await watched();
  await server.away();
  await vi.waitFor(() => {
    expect(agent.problem()).toMatchObject({ code: 'EVICTD_KUBERNETES_UNREACHABLE' });
  }, WAIT);
  expect(agent.problem()?.message).toMatch(/the last reported pods stay known \(1, 0s old\)/);
  expect([names(agent), agent.status().answers]).toEqual([['a'], false]);
  await vi.waitFor(() => {
    expect(logged).toEqual([expect.stringContaining('127.0.0.1') as string]);
  }, WAIT);
  server.store.put('pods', aPod('b'));
  await server.back();
  await named(agent, 'a', 'b');
  expect(agent.problem()).toBeUndefined();
  expect(logged.slice(1)).toEqual([`${server.url} answers again`]);
});

test('the pods of the run before are known at once with their age, but not those of another boot or node', async () => {
  server.store.put('pods', aPod('a'));
  const agent = agentOf();
  await vi.waitFor(() => {
    expect(statSync(join(directory, 'pods.json')).mode & 0o777).toBe(0o600);
  }, WAIT);
  agent.close();
  expect(readFileSync(join(directory, 'pods.json'), 'utf8')).not.toContain('managedFields');
  server.answers = 'hang';
  const next = agentOf({ bootNs: () => process.hrtime.bigint() + 3_600_000_000_000n });
  expect([names(next), next.hasReported]).toEqual([['a'], true]);
  expect(next.ageNs()).toBeGreaterThanOrEqual(3_600_000_000_000n);
  expect(names(agentOf({ podsFile: openPodsFile(join(directory, 'pods.json'), 'another') }))).toEqual([]);
  expect(names(agentOf({ nodeName: 'node-2' }))).toEqual([]);
  writeFileSync(join(directory, 'pods.json'), '{"version":1,"bootId":"boot","node":"node-1","confirmedBootNs":"1","pods":["{"]}');
  expect(names(agentOf())).toEqual([]);
  writeFileSync(join(directory, 'pods.json'), '{"version":1,"bootId":"boot","node":"node-1","confirmedBootNs":true,"pods":[]}');
  expect(agentOf().hasReported).toBe(false);
  const unread = expect.stringContaining('cannot be read') as string;
  expect(logged).toEqual(['pods that are known from the run before: 1', unread, unread]);
});

test('without a change the saved age of the pods is at most some minutes too old', async () => {
  server.store.put('pods', aPod('a'));
  let bootNs = 1n;
  agentOf({ bootNs: () => bootNs });
  const saved = (): string => readFileSync(join(directory, 'pods.json'), 'utf8');
  await vi.waitFor(() => {
    expect(saved()).toContain('"confirmedBootNs":"1"');
  }, WAIT);
  await watched();
  bootNs = 400_000_000_000n;
  server.endWatches();
  await vi.waitFor(() => {
    expect(saved()).toContain('"confirmedBootNs":"400000000000"');
  }, WAIT);
});

test('a soft eviction does not wait for a server that is known to be away, and uses it at once when it is back', async () => {
  server.store.put('pods', aPod('a'));
  const section = { before: [], keep: () => undefined };
  const restored = { state: { evictions: [] }, signals: new Map(), abandoned: new Map() };
  const metrics = { budgetViolated: () => undefined, podEvictionRefused: () => undefined };
  const acting = { restored, bootId: 'boot', section, nodeSection: section, metrics, onRestart: () => undefined };
  const agent = agentOf({ acting });
  await watched();
  const isBack = vi.spyOn(ClusterReports.prototype, 'serverIsBack');
  await server.away();
  await vi.waitFor(() => {
    expect(logged).toHaveLength(1);
  }, WAIT);
  expect(agent.reports?.request(request(softEviction()))()).toBe('unanswered');
  expect(isBack).not.toHaveBeenCalled();
  await server.back();
  await vi.waitFor(() => {
    expect(isBack).toHaveBeenCalled();
  }, WAIT);
  expect(agent.reports?.request(request(softEviction()))()).toBe('unsent');
  server.authorise = () => false;
  server.endWatches();
  await vi.waitFor(() => {
    expect(logged.at(-1)).toContain('it answers 403');
  }, WAIT);
  expect(agent.reports?.request(request(softEviction()))()).toBe('unsent'); // it answers
});

test.each(['in the watch', 'in a list after the server was away', 'by its last status'])(
  'an evicted pod that the kubelet has started again is detected %s',
  async (when) => {
    const pod = (more: object) => aPod('a', { status: { containerStatuses: [more] } });
    const put = (more: object): unknown => server.store.put('pods', pod(more));
    const startedAt = (ms: number): object => ({ state: { running: { startedAt: new Date(ms).toISOString() } } });
    put(startedAt(0));
    const section = { before: [], keep: () => undefined };
    const restored = { state: { evictions: [] }, signals: new Map(), abandoned: new Map() };
    const metrics = { budgetViolated: () => undefined, podEvictionRefused: () => undefined };
    const restarts: EndedPod[] = [];
    const onRestart = (pod: EndedPod): number => restarts.push(pod);
    const agent = agentOf({ acting: { restored, bootId: 'boot', section, nodeSection: section, metrics, onRestart } });
    await watched();
    const of = { uid: 'uid-a', namespace: 'default', name: 'a', decision: 7, endedMs: Date.now() };
    agent.reports?.endedPods.add(of);
    put({ ...startedAt(0), restartCount: 1 });
    const again = startedAt(of.endedMs + 5_000);
    if (when === 'in a list after the server was away') {
      await server.away();
      put(again);
      server.store.compact(); // the watch cannot go on
      await server.back();
    } else if (when === 'in the watch') put(again);
    else server.store.remove('pods', pod(again));
    await vi.waitFor(() => {
      expect(restarts).toEqual([of]);
    }, WAIT);
  },
);

test('a pod that cannot be read is a problem with its name, and the other pods are known', async () => {
  server.store.put('pods', aPod('bad', { spec: { priority: 'high' } }));
  server.store.put('pods', aPod('good'));
  const agent = agentOf();
  await named(agent, 'good');
  expect(agent.problem()).toMatchObject({ code: 'EVICTD_KUBERNETES_DOCUMENT' });
  expect(agent.problem()?.message).toContain('pod bad: spec.priority is "high"');
  expect(logged).toEqual([agent.problem()?.message]);
  server.store.put('pods', aPod('bad'));
  await named(agent, 'bad', 'good');
  expect(agent.problem()).toBeUndefined();
});

test('a credential that may not list pods is a problem with the reason of the server', async () => {
  server.authorise = () => false;
  const agent = agentOf();
  await vi.waitFor(() => {
    expect(agent.problem()).toMatchObject({ code: 'EVICTD_KUBERNETES_REFUSED' });
  }, WAIT);
  expect(agent.problem()?.message).toMatch(/it answers 403: pods is forbidden: User "admin" cannot list resource "pods"/);
});

test('the program opens the agent, which names the node and reports problems', async () => {
  server.store.put('pods', aPod('a'));
  const { nodeName: _, config, ...rest } = parts({ env: { NODE_NAME: NODE } });
  const kubernetes = new Kubernetes({ ...rest, config: { ...config, nodeName: undefined } });
  opened.push(kubernetes);
  expect(kubernetes.status()).toMatchObject({ nodeName: NODE, answers: false });
  await named(kubernetes, 'a');
  const silent = new Kubernetes({ ...rest, config: { ...config, nodeName: NODE }, log: undefined });
  opened.push(silent);
  server.authorise = () => false;
  server.endWatches();
  await silent.reported();
  await vi.waitFor(() => {
    expect([silent.problem()?.code, kubernetes.problem()]).toEqual(['EVICTD_KUBERNETES_REFUSED', undefined]);
    expect(kubernetes.status().problem).toContain('it answers 403');
  }, WAIT);
});
