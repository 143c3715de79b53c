import { closeSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { aPod } from '../support/kubernetes/a-pod.js';
import { FakeApiServer, NODE } from '../support/kubernetes/api-server.js';
import { OrderFile } from '../../src/journal/order-file.js';
import { fromJson, toJson } from '../../src/storage/tagged-json.js';
import { Evictd, scratchDirectory } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { StalledEvictd } from './stalled.js';

const UID = '6c1a7b1e-0d53-4a5b-9d0e-4f7f4a2f3b11';

/** A pod that a standing order has killed, because the main thread is stalled: what the API server hears of it is due. */
async function killed() {
  const home = scratchDirectory();
  const server = await FakeApiServer.start();
  onTestFinished(async () => {
    await server.away();
    rmSync(home, { recursive: true, force: true });
  });
  server.store.put('pods', aPod('batch', { metadata: { uid: UID, namespace: 'shop' } }));
  const changes: string[] = [];
  server.store.watch(({ resource, object, before }) => {
    if (resource !== 'pods') return;
    const { deletionGracePeriodSeconds: grace } = object.metadata;
    changes.push(grace === before?.metadata.deletionGracePeriodSeconds ? 'condition' : `deleted ${String(grace)}`);
  });
  const node = testNode();
  const pod = node.child('kubepods').child(`pod${UID}`);
  const batch = await workload(pod, { holdsMib: 20, growsMib: 200 });
  const kubernetes = { kubeconfig: server.kubeconfig(join(home, 'kubeconfig')), nodeName: NODE };
  const config = { ...guarding(node), workloads: [], kubernetes, standingOrder: { after: '5ms' } };
  const stalled = new StalledEvictd('a busy loop', config);
  const evictd = await stalled.evictd.guarding();
  await stalled.ordered();
  await stalled.begin();
  batch.grow();
  expect(await batch.ended).toBe('SIGKILL');
  expect([stalled.isOver, changes]).toEqual([false, []]);
  return { server, changes, config, stalled, evictd, pod };
}

/** The order that was carried out is so much older. */
function age(file: string, ns: bigint): void {
  const order = new OrderFile(file);
  if (order.found === undefined) throw new Error('no order was carried out');
  const { line, state, atLeast, limit } = order.found;
  const { clocks, ...rest } = JSON.parse(state) as { readonly clocks: unknown };
  const { monotonicNs, bootNs } = fromJson(clocks) as { readonly monotonicNs: bigint; readonly bootNs: bigint };
  const before = JSON.stringify({ ...rest, clocks: toJson({ monotonicNs: monotonicNs - ns, bootNs: bootNs - ns }) });
  const record = order.bytesOf({ line, state: before, atLeast, limit });
  order.close();
  const fd = openSync(file, 'r+');
  writeSync(fd, record ?? Buffer.alloc(0), 0, record?.length ?? 0, 64);
  closeSync(fd);
}

describe(`a standing order kills a pod (${ON})`, () => {
  test('the pod is marked and deleted, and the node reports pressure although the memory is free again', async () => {
    const { server, changes, stalled, evictd } = await killed();
    stalled.end();
    await evictd.recorded('outcome');
    await evictd.until('it is deleted', () => changes.length === 2);
    expect(changes).toEqual(['condition', 'deleted 1']);
    const reported = () => {
      const { spec, status } = server.store.get('nodes', undefined, NODE) as unknown as {
        spec: { taints?: { key: string }[] };
        status: { conditions?: { type: string; status: string }[] };
      };
      const condition = status.conditions?.find(({ type }) => type === 'EvictdMemoryPressure')?.status;
      return condition === 'True' && (spec.taints ?? []).some(({ key }) => key === 'evictd.dev/memory-pressure');
    };
    await evictd.until('the node has the condition and the taint', reported);
    const reasons = () => server.store.list('events').map((event) => (event as unknown as { reason: string }).reason);
    await evictd.until('both events', () => ['EvictionThresholdMet', 'Evicted'].every((reason) => reasons().includes(reason)));
    expect(evictd.journal().find(({ type }) => type === 'decision')).toMatchObject({ wake: 'standing_order' });
    expect(await evictd.stop()).toBe(0);
  });

  test('after a kill of evictd in between the next evictd marks and deletes the pod, once', async () => {
    const { changes, config, stalled, evictd } = await killed();
    await evictd.stop('SIGKILL');
    const next = await new Evictd({ config, directory: stalled.directory }).guarding();
    await next.until('it is deleted', () => changes.length === 2);
    await next.until('nothing is owed', async () => (await next.metric('evictd_kubernetes_pending_deletions')) === 0);
    await next.recorded('outcome');
    expect(await next.stop()).toBe(0);
    expect(changes).toEqual(['condition', 'deleted 1']);
    expect(next.journal().filter(({ type }) => type === 'outcome')).toMatchObject([{ result: 'killed' }]);
  });

  test('an evictd that starts minutes later deletes the pod once, and sends no signal to the pod that the kubelet has restarted', async () => {
    const { changes, config, stalled, evictd, pod } = await killed();
    await evictd.stop('SIGKILL');
    const [order = ''] = readdirSync(join(stalled.directory, 'run')).filter((name) => name.startsWith('order-'));
    age(join(stalled.directory, 'run', order), 300_000_000_000n);
    const again = await workload(pod, { holdsMib: 1 });
    const restarted = () => new Evictd({ config, directory: stalled.directory }).guarding();
    const next = await restarted();
    await next.until('it is deleted', () => changes.length === 2);
    await next.until('nothing is owed', async () => (await next.metric('evictd_kubernetes_pending_deletions')) === 0);
    await next.stop('SIGKILL');
    const third = await restarted();
    expect(await third.stop()).toBe(0);
    expect([changes, again.alive]).toEqual([['condition', 'deleted 1'], true]);
    const seen = third.journal().filter(({ type }) => type === 'decision' || type === 'outcome');
    expect(seen).toMatchObject([
      { type: 'decision', decision: 1, wake: 'standing_order' },
      { type: 'outcome', decision: 1, result: 'abandoned', abandoned: expect.stringMatching(/^no evictd ran for 3\d\d s$/) as string },
    ]);
  });
});
