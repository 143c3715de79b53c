import { expect, test } from 'vitest';
import { SLOWNESS } from '../support/slowness.js';
import { Evictd } from './evictd.js';
import { guarding, isV1, MIB, ON, testNode, workload } from './node.js';

test(`metrics, liveness and readiness are right before, during and after an eviction (${ON})`, async () => {
  const node = testNode();
  const batch = await workload(node.child('batch'), { growsMib: 140, onTerm: 'ignore' });
  const config = {
    ...guarding(node),
    evictionHard: { 'memory.available': '64Mi' },
    evictionSoft: { 'memory.available': '384Mi' },
    evictionSoftGracePeriod: { 'memory.available': '100ms' },
    evictionMaxPodGracePeriod: 4 * SLOWNESS, // read between decision and outcome
    evictionPressureTransitionPeriod: '1s',
    monitoringInterval: '200ms',
  };
  const evictd = await new Evictd({ config }).guarding();
  const evictions = 'evictd_evictions_total{eviction_signal="memory.available"}';
  const condition = 'evictd_node_condition{condition="MemoryPressure"}';
  const available = 'evictd_signal_available_bytes{eviction_signal="memory.available"}';

  expect(await evictd.get('/healthz')).toMatchObject({
    status: 200,
    body: expect.stringMatching(/^ok\nthe last tick or pass was /) as string,
  });
  expect(await evictd.get('/readyz')).toMatchObject({ status: 200, body: expect.stringMatching(/^ok\n/) as string });
  expect(await evictd.metric('evictd_signal_capacity_bytes{eviction_signal="memory.available"}')).toBe(512 * MIB);
  expect(await evictd.metric('evictd_signal_threshold_bytes{eviction_signal="memory.available",kind="hard"}')).toBe(64 * MIB);
  expect(await evictd.metric('evictd_signal_threshold_bytes{eviction_signal="memory.available",kind="soft"}')).toBe(384 * MIB);
  expect(await evictd.metric(`evictd_notifier_live{mechanism="${isV1 ? 'memcg_threshold' : 'sampler'}"}`)).toBe(1);
  expect([await evictd.metric(evictions), await evictd.metric(condition), await evictd.metric('evictd_dry_run')]).toEqual([0, 0, 0]);
  expect(await evictd.metric('process_resident_memory_bytes')).toBeGreaterThan(10 * MIB);
  const before = (await evictd.metric(available)) ?? 0;
  expect(before).toBeGreaterThan(384 * MIB);

  batch.grow();
  await evictd.recorded('decision');
  await evictd.until('the metrics show the pressure', async () => (await evictd.metric(condition)) === 1);
  expect(await evictd.metric(available)).toBeLessThan(384 * MIB);
  expect(await evictd.metric('evictd_thresholds_met_total{eviction_signal="memory.available",kind="soft"}')).toBe(1);
  expect(await evictd.metric(evictions)).toBe(0); // the victim has SIGTERM and runs
  expect(await evictd.get('/readyz')).toMatchObject({ status: 200 }); // pressure does not make evictd unready

  await evictd.recorded('outcome');
  await evictd.until('the metrics show the eviction', async () => (await evictd.metric(evictions)) === 1);
  expect(await evictd.metric('evictd_evictions_failed_total{eviction_signal="memory.available"}')).toBe(0);
  expect(await evictd.metric('evictd_wake_to_signal_seconds_count')).toBe(1);
  await evictd.until('the condition ends after the transition period', async () => (await evictd.metric(condition)) === 0);
  expect(await evictd.metric(available)).toBeGreaterThan(384 * MIB);
  expect(await evictd.metric('evictd_journal_errors_total')).toBe(0);
});

test(`evictd is not ready if a signal cannot be read, because the node cgroup was removed (${ON})`, async () => {
  const node = testNode();
  const evictd = await new Evictd({ config: { ...guarding(node), monitoringInterval: '100ms' } }).guarding();
  expect(await evictd.get('/readyz')).toMatchObject({ status: 200 });
  await node.cleanup();
  await evictd.until('evictd is not ready', async () => (await evictd.get('/readyz'))?.status === 503);
  expect((await evictd.get('/readyz'))?.body).toMatch(/memory\.available cannot be read: /);
  expect(await evictd.get('/healthz')).toMatchObject({ status: 200 });
  expect((await evictd.logged(/^memory\.available cannot be read/)).level).toBe('warn');
});
