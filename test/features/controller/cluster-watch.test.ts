import { expect, test } from 'vitest';
import { DEFAULT_RATES } from '../../../src/core/cluster/zone-disruption.js';
import type { ApiClient } from '../../../src/features/kubernetes/client/api-client.js';
import { ClusterWatch } from '../../../src/features/controller/cluster-watch.js';

const SECOND = 1_000_000_000n;

test('after an interruption a node is not silent before its whole grace period', async () => {
  let nowNs = 0n;
  const open = new Map<string, { readonly onOpen: () => void; readonly cut: (why: Error) => void }>();
  const node = { metadata: { name: 'a' }, status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: 't' }] } };
  const ask: ApiClient['ask'] = ({ path }) =>
    Promise.resolve({ status: 200, body: { metadata: { resourceVersion: '1' }, items: path.endsWith('/nodes') ? [node] : [] } });
  const watch: ApiClient['watch'] = ({ path, onOpen }) =>
    new Promise((_resolve, reject) => {
      open.set(path, { onOpen, cut: reject });
      onOpen();
    });
  const none = (): void => undefined;
  const parts = { client: { ask, watch }, config: { ...DEFAULT_RATES, graceNs: 50n * SECOND }, log: { info: none, warn: none } };
  const followed = new ClusterWatch({ ...parts, nowNs: () => nowNs, onEffects: none, onNodes: none });
  await expect.poll(() => open.size).toBe(3);
  followed.cluster.setParts(new Set(['node-lifecycle-controller']), nowNs);
  const silent = () => followed.cluster.isSilent({ name: 'a', heartbeat: 't' }, followed.seenNs);
  const [, leases] = [...open].find(([path]) => path.endsWith('/leases')) ?? [];
  nowNs = 54n * SECOND;
  open.clear();
  leases?.cut(new Error('cut off'));
  await expect.poll(() => open.size, { timeout: 10_000 }).toBe(1); // open again, and what was missed is not read yet
  for (const { onOpen } of open.values()) onOpen();
  expect(silent()).toBe(false);
  followed.close();
});
