import { expect, test } from 'vitest';
import { DEFAULT_RATES } from '../../../src/core/cluster/zone-disruption.js';
import type { ApiClient, WatchRequest } from '../../../src/features/kubernetes/client/api-client.js';
import { ClusterWatch } from '../../../src/features/controller/cluster-watch.js';

const SECOND = 1_000_000_000n;

/** A cluster with the silent node a. What the watches of nodes and leases report is sent by the test. */
async function followed() {
  let nowNs = 0n;
  const open = new Map<string, WatchRequest>();
  const node = { metadata: { name: 'a' }, status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: 't' }] } };
  const ask: ApiClient['ask'] = ({ path }) =>
    Promise.resolve({ status: 200, body: { metadata: { resourceVersion: '1' }, items: path.endsWith('/nodes') ? [node] : [] } });
  const watch: ApiClient['watch'] = (request) => {
    open.set(request.path, request);
    request.onOpen();
    return new Promise(() => undefined);
  };
  const none = (): void => undefined;
  const parts = { client: { ask, watch }, config: { ...DEFAULT_RATES, graceNs: 50n * SECOND }, log: { info: none, warn: none } };
  const clusterWatch = new ClusterWatch({ ...parts, nowNs: () => nowNs, onEffects: none, onNodes: none });
  await expect.poll(() => open.size).toBe(3);
  clusterWatch.cluster.setParts(new Set(['node-lifecycle-controller']), nowNs);
  const isSilentAt = (seconds: bigint, bookmarks: readonly string[]): boolean => {
    nowNs = seconds * SECOND;
    for (const [path, { onEvent }] of open)
      if (bookmarks.some((kind) => path.endsWith(`/${kind}`)))
        onEvent({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '2' } } });
    return clusterWatch.cluster.isSilent({ name: 'a', heartbeat: 't' }, clusterWatch.seenNs);
  };
  return { clusterWatch, isSilentAt };
}

test.each([['nodes', 'leases'] as const, ['leases', 'nodes'] as const])(
  'no node is silent before the lists of %s and %s are confirmed',
  async (first, last) => {
    const { clusterWatch, isSilentAt } = await followed();
    for (const seconds of [15n, 30n, 45n]) expect(isSilentAt(seconds, ['nodes', 'leases'])).toBe(false);
    expect(isSilentAt(60n, [first])).toBe(false);
    expect(isSilentAt(60n, [last])).toBe(true);
    clusterWatch.close();
  },
);

test('only the watch of leases can count as stalled, because nodes may not change for minutes', async () => {
  const { clusterWatch, isSilentAt } = await followed();
  for (const seconds of [15n, 30n, 45n, 60n]) expect(isSilentAt(seconds, ['leases'])).toBe(false);
  expect(isSilentAt(60n, ['nodes'])).toBe(true);
  clusterWatch.close();
});

test('a watch that may have stalled counts once it has caught up', async () => {
  const { clusterWatch, isSilentAt } = await followed();
  expect(isSilentAt(60n, ['nodes', 'leases'])).toBe(false);
  expect(isSilentAt(74n, ['nodes', 'leases'])).toBe(false);
  expect(isSilentAt(75n, [])).toBe(true);
  clusterWatch.close();
});
