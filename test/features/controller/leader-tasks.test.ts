import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_RATES } from '../../../src/core/cluster/zone-disruption.js';
import type { PartMode } from '../../../src/core/cluster/controller.js';
import { ControllerMetrics } from '../../../src/features/controller/controller-metrics.js';
import { LeaderTasks } from '../../../src/features/controller/leader-tasks.js';
import { clusterPodOf } from '../../../src/kubernetes/cluster-document.js';
import { eventually } from '../../support/eventually.js';
import { cluster } from '../kubernetes/cluster.js';

test.each<[mode: PartMode, deletes: number]>([
  ['on', 1],
  ['off', 0],
])('a deletion that has waited is sent if its controller is %s: %i', async (mode, deletes) => {
  const { server, client, pod } = await cluster();
  const none = (): void => undefined;
  const log = { debug: none, info: none, warn: none, error: none, dropped: 0, flush: () => Promise.resolve() };
  const parts = { identity: 'a', lifecycle: { ...DEFAULT_RATES, graceNs: 3_600_000_000_000n }, log, nowNs: () => process.hrtime.bigint() };
  const modes = { 'taint-eviction-controller': mode, 'node-lifecycle-controller': mode, 'pod-garbage-collector-controller': mode } as const;
  const lead = new LeaderTasks({ ...parts, modes }, client, new ControllerMetrics(() => expect.fail('not scraped')), () => 60_000);
  onTestFinished(() => {
    lead.close();
  });
  await eventually('the parts are judged', () => lead.manager.size === 3);
  lead.actions.add([{ kind: 'evict', pod: clusterPodOf(pod()) }]);
  await eventually('it is done', () => lead.actions.length === 0);
  expect(server.received.filter(({ method }) => method === 'DELETE')).toHaveLength(deletes);
});
