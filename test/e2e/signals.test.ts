import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loopFilesystem, loopWorks } from '../support/loop-filesystem.js';
import { Evictd } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { aWhile } from './wait.js';

describe(`signals that set a condition and evict no workload (${ON})`, () => {
  test.each([
    ['nodefs.available', '99.9%', 'DiskPressure'],
    ['nodefs.inodesFree', '99.9999%', 'DiskPressure'],
  ])('%s', async (signal, threshold, condition) => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { holdsMib: 20 });
    const config = { ...guarding(node), evictionHard: { [signal]: threshold, 'memory.available': '0%' }, monitoringInterval: '100ms' };
    const evictd = await new Evictd({ config }).guarding();
    expect(await evictd.recorded('condition')).toMatchObject({ condition, status: true });
    expect(await evictd.recorded('alert')).toMatchObject({ alert: 'nothing-evictable', signal, kind: 'hard' });
    expect((await evictd.logged(/: no evictable workload would free anything there/)).level).toBe('error');
    await aWhile();
    expect(batch.alive).toBe(true);
    expect(evictd.journal().map(({ type }) => type)).not.toContain('decision');
    expect(await evictd.metric(`evictd_node_condition{condition="${condition}"}`)).toBe(1);
    expect(await evictd.metric(`evictd_thresholds_met_total{eviction_signal="${signal}",kind="hard"}`)).toBe(1);
    expect(await evictd.metric(`evictd_evictions_total{eviction_signal="${signal}"}`)).toBe(0);
  });
});

test(`without an answer of the container runtime imagefs is unknown, and no other filesystem replaces it (${ON})`, async () => {
  const evictionHard = { 'imagefs.available': '99.9%', 'imagefs.inodesFree': '0%', 'memory.available': '0%' };
  const workloads = [{ cri: { endpoint: 'unix:///run/evictd-test-none.sock' } }];
  const evictd = await new Evictd({ config: { ...guarding(testNode()), workloads, evictionHard, monitoringInterval: '100ms' } }).guarding();
  await evictd.logged(/imagefs.available cannot be read: no container runtime has reported/);
  await aWhile();
  expect(evictd.journal().filter(({ type }) => ['threshold', 'condition', 'alert', 'reclaim'].includes(type))).toEqual([]);
  expect(await evictd.metric('evictd_signal_available_bytes{eviction_signal="imagefs.available"}')).toBeUndefined();
});

describe.runIf(loopWorks())(`a separate image filesystem (${ON}, where loop devices can be mounted)`, () => {
  test('sets the condition as it fills, without waiting for a tick', async () => {
    const images = loopFilesystem();
    onTestFinished(() => {
      images.remove();
    });
    images.mount();
    const evictionHard = { 'imagefs.available': '4Mi', 'imagefs.inodesFree': '0%', 'memory.available': '0%' };
    const config = { ...guarding(testNode()), evictionHard, filesystems: { imagefs: images.directory }, monitoringInterval: '1h' };
    const evictd = await new Evictd({ config }).guarding();
    const available = 'evictd_signal_available_bytes{eviction_signal="imagefs.available"}';
    await evictd.until('the filesystem is read', async () => (await evictd.metric(available)) !== undefined);
    writeFileSync(join(images.directory, 'layer'), Buffer.alloc(5 << 20));
    expect(await evictd.recorded('condition')).toMatchObject({ condition: 'DiskPressure', status: true });
    expect(await evictd.metric('evictd_thresholds_met_total{eviction_signal="imagefs.available",kind="hard"}')).toBe(1);
    expect(await evictd.stop()).toBe(0);
  });
});
