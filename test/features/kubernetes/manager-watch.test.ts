import { afterEach, expect, test, vi } from 'vitest';
import type { ApiClient } from '../../../src/features/kubernetes/client/api-client.js';
import { ManagerWatch } from '../../../src/features/kubernetes/manager-watch.js';

const SECOND = 1_000_000_000n;
const NODES = 'node-lifecycle-controller';
const WALL_MS = Date.parse('2026-01-01T00:00:00Z');

/** A kube-controller-manager whose Lease changes at each look, without pods that show its flags. */
function manager() {
  vi.useFakeTimers({ now: WALL_MS, toFake: ['Date'] });
  let nowNs = 0n;
  let renewed = 0;
  const answers = { lease: 200, pods: 200, renews: true };
  const lease = () => ({
    metadata: { name: 'kube-controller-manager' },
    spec: { holderIdentity: 'm', leaseDurationSeconds: 15, renewTime: new Date(WALL_MS + renewed).toISOString().replace('Z', '000Z') },
  });
  const ask: ApiClient['ask'] = ({ path }) => {
    if (path.endsWith('/pods')) return Promise.resolve({ status: answers.pods, body: { items: [] } });
    if (answers.renews) renewed += 1_000;
    return Promise.resolve({ status: answers.lease, body: lease() });
  };
  const watch = new ManagerWatch(ask, () => nowNs);
  const at = async (seconds: number, taintedMs = 0) => {
    nowNs = BigInt(seconds) * SECOND;
    await watch.poll().catch(() => undefined);
    return watch.parts(taintedMs).get(NODES)?.runs;
  };
  return { answers, at };
}

afterEach(() => {
  vi.useRealTimers();
});

test('without answers the state of the controller manager is unknown, however old its Lease is', async () => {
  const { answers, at } = manager();
  expect(await at(0)).toBe(true);
  answers.pods = 500;
  expect(await at(30)).toBe(true);
  expect(await at(31)).toBe('unknown');
  expect(await at(600)).toBe('unknown');
  answers.pods = 200;
  expect(await at(601)).toBe(true);
});

test('a Lease counts as held for a minute without a change, whatever the wall clock shows', async () => {
  const { answers, at } = manager();
  answers.renews = false;
  vi.setSystemTime(WALL_MS + 3_600_000);
  for (const seconds of [0, 20, 40, 60]) expect(await at(seconds)).toBe(true);
  expect(await at(61)).toBe(false);
});

test('without a Lease it is not known whether a controller manager runs, also where it had one before', async () => {
  const { answers, at } = manager();
  answers.lease = 404;
  expect(await at(0)).toBe('unknown');
  answers.lease = 200;
  expect(await at(10)).toBe(true);
  answers.lease = 404;
  expect(await at(20)).toBe('unknown');
});

test('the minute begins again after a time without answers', async () => {
  const { answers, at } = manager();
  answers.renews = false;
  for (const seconds of [0, 30, 61, 91, 121]) expect(await at(seconds)).toBe(true);
  expect(await at(122)).toBe(false);
});

test('taints that change show that the controller manager acts, whatever the wall clock shows', async () => {
  const { answers, at } = manager();
  answers.renews = false;
  vi.setSystemTime(WALL_MS + 3_600_000);
  for (const seconds of [0, 30, 60]) await at(seconds, WALL_MS);
  expect(await at(61, WALL_MS)).toBe(false);
  expect(await at(70, WALL_MS + 1)).toBe(true);
  expect(await at(100, WALL_MS + 1)).toBe(true);
  expect(await at(129, WALL_MS + 1)).toBe(true);
  expect(await at(130, WALL_MS + 1)).toBe(false);
});

test('an earlier time of its newest taint shows nothing, and a later one than that shows that it acts', async () => {
  const { answers, at } = manager();
  answers.renews = false;
  vi.setSystemTime(WALL_MS + 3_600_000);
  for (const seconds of [0, 30, 60]) await at(seconds, WALL_MS);
  expect(await at(61, WALL_MS - 60_000)).toBe(false);
  expect(await at(62, WALL_MS - 30_000)).toBe(true);
});
