import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { aPod } from '../support/kubernetes/a-pod.js';
import { FakeApiServer } from '../support/kubernetes/api-server.js';
import { evictd as command, Evictd, scratchDirectory } from './evictd.js';
import { dyingAt, type Moment } from './mortal.js';
import { ABOVE_128_MIB, ANOTHER_BOOT, guarding, ON, testNode, workload, type WorkloadPlan } from './node.js';

const UID = '6c1a7b1e-0d53-4a5b-9d0e-4f7f4a2f3b11';

/** A pod with a cgroup as a kubelet makes it, on a node that knows an API server. */
async function setting(plan: Partial<WorkloadPlan> = {}, more: object = {}) {
  const directory = scratchDirectory();
  const server = await FakeApiServer.start();
  onTestFinished(async () => {
    await server.away();
    rmSync(directory, { recursive: true, force: true });
  });
  server.store.put('pods', aPod('batch', { metadata: { uid: UID, namespace: 'shop' } }));
  /** What was done to the pod, in order. */
  const changes: string[] = [];
  server.store.watch(({ resource, object, before }) => {
    if (resource !== 'pods') return;
    const { deletionGracePeriodSeconds: now } = object.metadata;
    if (now !== before?.metadata.deletionGracePeriodSeconds) changes.push(`deleted ${String(now)}`);
    else changes.push('condition');
  });
  const node = testNode();
  const batch = await workload(node.child('kubepods').child(`pod${UID}`), { growsMib: 140, ...plan });
  const kubernetes = { kubeconfig: server.kubeconfig(join(directory, 'kubeconfig')), nodeName: 'node-1', taint: false, conditions: 'none' };
  const config = { ...guarding(node), workloads: [], kubernetes, ...more };
  const open = async (through: readonly string[] = []): Promise<Evictd> => {
    const evictd = await new Evictd({ config, directory, through }).guarding();
    await evictd.until('it knows the pod', async () => ((await evictd.metric('evictd_kubernetes_pods')) ?? 0) > 0);
    return evictd;
  };
  return { server, directory, config, kubernetes, batch, changes, open };
}

const SOFTLY = {
  evictionHard: { 'memory.available': '64Mi' },
  evictionSoft: ABOVE_128_MIB,
  evictionSoftGracePeriod: { 'memory.available': '1ns' },
  evictionMaxPodGracePeriod: 30,
};

/** SIGKILL when a call arrives: before or after its effect. The call is not answered. */
function killedBy(server: FakeApiServer, changes: readonly string[], method: string, when: 'before' | 'after', evictd: Evictd): void {
  server.instead = (received) => {
    if (received.method !== method || !received.path.includes('/pods/')) return undefined;
    if (when === 'before') {
      server.instead = () => undefined;
      evictd.child.kill('SIGKILL');
      return { code: 503, body: '' };
    }
    const before = changes.length;
    const unwatch = server.store.watch(() => {
      if (changes.length === before) return;
      unwatch();
      server.instead = () => undefined;
      evictd.child.kill('SIGKILL');
    });
    return undefined;
  };
}

describe(`a pod of an API server (${ON})`, () => {
  test('is killed, gets its condition and is deleted, and no call comes before the signal', async () => {
    const { server, batch, changes, open } = await setting();
    const evictd = await open();
    server.answers = 'hang';
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'shop/batch' } });
    expect(await evictd.metric('evictd_kubernetes_pending_deletions')).toBe(1);
    const running = { startedAt: new Date(Date.now() + 9_000).toISOString() };
    const container = { name: 'main', ready: true, restartCount: 1, image: '', imageID: '', state: { running } };
    const status = { containerStatuses: [container] };
    server.store.put('pods', aPod('batch', { metadata: { uid: UID, namespace: 'shop' }, status })); // as its kubelet reports it
    changes.length = 0;
    server.answers = 'now';
    expect(await evictd.recorded('restart')).toMatchObject({ decision: 1, victim: { name: 'shop/batch', id: UID } });
    expect(await evictd.metric('evictd_kubernetes_pod_restarts_total')).toBe(1);
    await evictd.until('it is deleted', () => changes.length === 2);
    expect(changes).toEqual(['condition', 'deleted 1']);
    await evictd.until('no deletion is pending', async () => (await evictd.metric('evictd_kubernetes_pending_deletions')) === 0);
    expect(await evictd.stop()).toBe(0);
  });

  test('is untouched in a dry run, which logs where it could run', async () => {
    const { server, directory, config, batch, changes } = await setting({ onTerm: 'exit' });
    const status = { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } };
    for (const name of ['node-1', 'node-2'])
      server.store.put('nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { unschedulable: name === 'node-1' }, status });
    const evictd = await new Evictd({ config, directory, args: ['--dry-run'] }).guarding();
    await evictd.until('it knows the pod', async () => ((await evictd.metric('evictd_kubernetes_pods')) ?? 0) > 0);
    expect(server.received.filter(({ path }) => path === '/api/v1/nodes')).toEqual([]);
    batch.grow();
    expect(await evictd.recorded('decision')).toMatchObject({ dryRun: true, victim: { name: 'shop/batch' } });
    await evictd.until('it says where', () => evictd.log.some(({ msg }) => msg.includes('could run now')));
    const said = evictd.log.find(({ msg }) => msg.includes('shop/batch could run now'))?.msg;
    expect(said).toMatch(/^dry run: shop\/batch could run now: node-2 \(score \d+\); 1 of 2 nodes fit; no controller recreates it$/);
    expect(changes).toEqual([]);
    expect(batch.alive).toBe(true);
    expect(await evictd.stop()).toBe(0);
  });

  test.each<[Moment['at'], Moment['when']]>([
    ['ring:decision', 'after'],
    ['state:decided', 'in the middle of'],
    ['state:decided', 'after'],
    ['KILL', 'before'],
    ['KILL', 'after'],
    ['state:dying', 'after'],
    ['ring:outcome', 'after'],
    ['state:over', 'after'],
  ])('after kill -9 at %s, %s gets its condition and is deleted once', async (at, when) => {
    const { directory, batch, changes, open } = await setting();
    const mortal = await open(dyingAt(directory, { at, when }));
    batch.grow();
    expect(await mortal.exited()).toBe('SIGKILL');
    const evictd = await open();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.until('it is deleted', () => changes.length >= 2);
    await evictd.until('no deletion is pending', async () => (await evictd.metric('evictd_kubernetes_pending_deletions')) === 0);
    expect(await evictd.stop()).toBe(0);
    expect(changes).toEqual(['condition', 'deleted 1']);
  });

  test.each([
    ['PATCH', 'before'],
    ['PATCH', 'after'],
    ['DELETE', 'before'],
    ['DELETE', 'after'],
  ] as const)('after kill -9 at the call %s, %s its effect, gets its condition and is deleted once', async (method, when) => {
    const { server, batch, changes, open } = await setting();
    const first = await open();
    killedBy(server, changes, method, when, first);
    batch.grow();
    expect(await first.exited()).toBe('SIGKILL');
    const evictd = await open();
    await evictd.until('it is deleted', () => changes.length >= 2);
    await evictd.until('no deletion is pending', async () => (await evictd.metric('evictd_kubernetes_pending_deletions')) === 0);
    expect(await evictd.stop()).toBe(0);
    expect(changes).toEqual(['condition', 'deleted 1']);
  });

  test.each<['before' | 'after', asked: number]>([
    ['before', 2],
    ['after', 1],
  ])('kill -9 at the call of the Eviction API, %s its effect: the pod is evicted once, and killed after its grace', async (when, asked) => {
    const { server, batch, changes, open } = await setting({}, { ...SOFTLY, evictionMaxPodGracePeriod: 5 });
    const first = await open();
    killedBy(server, changes, 'POST', when, first);
    batch.grow();
    expect(await first.exited()).toBe('SIGKILL');
    const evictd = await open();
    expect(await batch.ended).toBe('SIGKILL'); // no kubelet ends it
    await evictd.until('its deletion is shortened', () => changes.length >= 2);
    await evictd.until('no deletion is pending', async () => (await evictd.metric('evictd_kubernetes_pending_deletions')) === 0);
    expect(await evictd.stop()).toBe(0);
    expect(changes).toEqual(['deleted 5', 'deleted 1']);
    expect(server.received.filter(({ path }) => path.endsWith('/eviction'))).toHaveLength(asked);
  });

  test('with a grace period is evicted by the Eviction API; without an answer evictd sends SIGTERM, and then deletes the pod', async () => {
    const { server, batch, changes, open } = await setting({ onTerm: 'exit' }, SOFTLY);
    const evictd = await open();
    server.answers = 'hang';
    batch.grow();
    expect(await batch.ended).toBeNull(); // exited by itself
    expect(batch.said()).toContain('bye');
    server.answers = 'now';
    await evictd.until('it is deleted', () => changes.length === 2);
    expect(changes).toEqual(['condition', 'deleted 30']);
    expect(await evictd.stop()).toBe(0);
  });

  test.each(['before', 'after'] as const)('after kill -9 %s its own SIGTERM gets one SIGTERM, and is deleted', async (when) => {
    const { server, directory, batch, changes, open } = await setting({ onTerm: 'exit' }, SOFTLY);
    const mortal = await open(dyingAt(directory, { at: 'TERM', when }));
    server.answers = 'hang';
    batch.grow();
    expect(await mortal.exited()).toBe('SIGKILL');
    const evictd = await open();
    expect(await batch.ended).toBeNull();
    expect(batch.said().match(/bye/g)).toHaveLength(1);
    expect(changes).toEqual([]);
    server.answers = 'now';
    await evictd.until('it is deleted', () => changes.length >= 2);
    await evictd.until('no deletion is pending', async () => (await evictd.metric('evictd_kubernetes_pending_deletions')) === 0);
    expect(await evictd.stop()).toBe(0);
    expect(changes).toEqual(['condition', 'deleted 30']);
  });

  test('whose node loses the marks of evictd when the key kubernetes is removed', async () => {
    const { server, directory, config, kubernetes } = await setting();
    const conditions = () => (server.store.get('nodes', undefined, 'node-1')?.status?.conditions as unknown[]).length;
    const first = await new Evictd({ config: { ...config, kubernetes: { ...kubernetes, conditions: 'own' } }, directory }).guarding();
    await first.until('its conditions are published', () => conditions() === 3);
    expect(await first.stop()).toBe(0);
    const { kubernetes: _, ...without } = config;
    const evictd = await new Evictd({ config: without, directory }).guarding();
    await evictd.until('they are removed', () => conditions() === 0);
    expect(await evictd.stop()).toBe(0);
  });

  test('whose node is cordoned stays cordoned with damaged or removed state, and is uncordoned after a reboot', async () => {
    const { server, directory, config } = await setting();
    const isCordoned = () => server.store.get('nodes', undefined, 'node-1')?.spec?.unschedulable;
    const state = (): string => join(directory, 'run', readdirSync(join(directory, 'run')).find((name) => name.endsWith('.state')) ?? '');
    const first = await new Evictd({ config, directory }).guarding();
    expect((await command('cordon', '--config', first.configFile)).code).toBe(0);
    await first.until('the node is cordoned', () => isCordoned() === true);
    await first.stop('SIGKILL');
    writeFileSync(state(), 'x'.repeat(4_096));
    for (const start of ['damaged', 'restart', 'removed']) {
      if (start === 'removed') rmSync(state());
      const evictd = await new Evictd({ config, directory }).guarding();
      if (start === 'damaged') await evictd.logged(/EVICTD_STATE_DISCARDED/);
      await evictd.logged(/EVICTD_KUBERNETES_CORDON/);
      expect(isCordoned()).toBe(true);
      await evictd.stop('SIGKILL');
    }
    const rebooted = await new Evictd({ config, directory, through: ANOTHER_BOOT }).guarding();
    await rebooted.until('it is uncordoned', () => isCordoned() === undefined);
    expect(await rebooted.stop()).toBe(0);
  });

  test('continues to run under a budget that permits no eviction, and the outcome has the reason', async () => {
    const { server, batch, changes, open } = await setting({}, SOFTLY);
    const status = { disruptionsAllowed: 0, observedGeneration: 1 };
    const spec = { selector: { matchLabels: { app: 'batch' } } };
    server.store.put('poddisruptionbudgets', { metadata: { name: 'strict', namespace: 'shop', generation: 1 }, spec, status });
    const evictd = await open();
    batch.grow();
    expect(await evictd.recorded('outcome')).toMatchObject({
      result: 'failed',
      error: expect.stringContaining('disruption budget') as string,
    });
    expect(batch.alive).toBe(true);
    expect(changes).toEqual([]);
    expect(await evictd.stop()).toBe(0);
  });
});
