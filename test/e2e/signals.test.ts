import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Evictd } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { aWhile } from './wait.js';
import { memoryController } from '../support/cgroup.js';

describe(`signals that set a condition and evict nobody (${ON})`, () => {
  test.each([
    ['nodefs.available', '99.9%', 'DiskPressure'],
    ['nodefs.inodesFree', '99.9999%', 'DiskPressure'],
    ['pid.available', '1001', 'PIDPressure'], // the node may have 1000,
  ])('%s', async (signal, threshold, condition) => {
    const node = testNode();
    pidsCgroup(node.path);
    const batch = await workload(node.child('batch'), { holdsMib: 20 });
    const config = { ...guarding(node), evictionHard: { [signal]: threshold, 'memory.available': '0%' }, monitoringInterval: '100ms' };
    const evictd = await new Evictd({ config }).guarding();
    expect(await evictd.recorded('condition')).toMatchObject({ condition, status: true });
    expect(await evictd.recorded('alert')).toMatchObject({ alert: 'signal-not-evictable', signal, kind: 'hard' });
    expect((await evictd.logged(/no workload is known to give/)).level).toBe('error');
    await aWhile();
    expect(batch.alive).toBe(true);
    expect(evictd.journal().map(({ type }) => type)).not.toContain('decision');
    expect(await evictd.metric(`evictd_node_condition{condition="${condition}"}`)).toBe(1);
    expect(await evictd.metric(`evictd_thresholds_met_total{eviction_signal="${signal}",kind="hard"}`)).toBe(1);
    expect(await evictd.metric(`evictd_evictions_total{eviction_signal="${signal}"}`)).toBe(0);
  });
});

/** On v1 the pids controller has a hierarchy of its own: the node's cgroup is made there, too, with a limit and this process's child in it. */
function pidsCgroup(path: string): void {
  if (memoryController()?.version !== 1) {
    writeFileSync(`/sys/fs/cgroup${path}/pids.max`, '1000');
    return;
  }
  const directory = `/sys/fs/cgroup/pids${path}`;
  mkdirSync(directory);
  onTestFinished(() => rmdirSync(directory));
  writeFileSync(`${directory}/pids.max`, '1000');
}
