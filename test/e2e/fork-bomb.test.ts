import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testCgroup, type TestCgroup } from '../support/cgroup.js';
import { limitPids, limitPidsOf, startForkBomb, type PidsLimit } from '../support/fork-bomb.js';
import { Evictd } from './evictd.js';
import { guarding, isV1, ON, processesIn, testNode, workload } from './node.js';
import { aWhile, until } from './wait.js';

const threadsOf = (pid: number): string[] =>
  readdirSync(`/proc/${String(pid)}/task`).map((task) => readFileSync(`/proc/${String(pid)}/task/${task}/comm`, 'utf8').trim());

describe(`with no process id left (${ON})`, () => {
  test('evictd evicts a fork bomb to its last process without starting a thread or a process', async () => {
    // evictd and the bomb share one limit.
    const outer = testCgroup();
    onTestFinished(() => outer.cleanup());
    const limit = limitPids(outer, 150);
    onTestFinished(() => limit.cleanup());
    const node = outer.child('node');
    node.limit(512n << 20n);
    const db = await workload(node.child('db'), { holdsMib: 20 });
    const ofBatch = node.child('batch');
    const batch = await workload(ofBatch, { growsMib: 140 });
    const join = isV1 ? limit.join : `echo $$ > ${outer.child('evictd').dir}/cgroup.procs`;
    const config = guarding(node, [{ match: { name: 'db' }, critical: true }]);
    const evictd = await new Evictd({ config, through: ['/bin/sh', '-c', `${join}; exec "$@"`, 'sh'] }).guarding();
    if (isV1) expect(limit.processes()).toEqual([evictd.pid]);
    const before = threadsOf(evictd.pid).sort();

    startForkBomb(ofBatch, limit);
    await until('forks are refused', () => limit.refusals() > 100);
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    const outcome = await evictd.recorded('outcome');

    expect(outcome).toMatchObject({ result: 'killed', victim: { name: 'batch' } });
    expect(ofBatch.read('cgroup.procs')).toBe('');
    if (isV1) expect(limit.processes()).toEqual([evictd.pid]);
    expect(db.alive).toBe(true);
    expect(threadsOf(evictd.pid).sort()).toEqual(before);
    expect(await evictd.stop()).toBe(0);
  });

  test('when process ids run short in the node, only the workload that has most of them is evicted', async () => {
    const node = testNode();
    const limit = limitPidsOf(node, 150);
    const names = ['web', 'batch', 'hog'] as const;
    const [web, batch, hog] = names.map((name) => node.child(name)) as [TestCgroup, TestCgroup, TestCgroup];
    const [ofWeb, ofBatch, ofHog] = [web, batch, hog].map((child) => limitPidsOf(child, 140)) as [PidsLimit, PidsLimit, PidsLimit];
    onTestFinished(async () => {
      await node.cleanup();
      for (const each of [ofWeb, ofBatch, ofHog, limit]) await each.cleanup();
    });
    const crowd = await web.spawn('/bin/sh', ['-c', `${ofWeb.join}; for i in $(seq 30); do sleep 600 & done; echo; wait`]);
    await once(crowd.child.stdout ?? crowd.child, 'data');
    const holder = await workload(hog, { holdsMib: 60 });
    const evictionHard = { 'pid.available': '50', 'memory.available': '0%' };
    const evictd = await new Evictd({ config: { ...guarding(node), evictionHard } }).guarding();

    startForkBomb(batch, ofBatch);
    const decision = await evictd.recorded('decision');
    expect(decision).toMatchObject({ signal: 'pid.available', kind: 'hard', victim: { name: 'batch' } });
    const ranking = decision.ranking as { name: string; processes: number }[];
    expect(ranking.map(({ name }) => name)).toEqual(['batch', 'web', 'hog']);
    expect(ranking[1]?.processes).toBe(31);
    expect(ranking[0]?.processes).toBeGreaterThan(31);
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'batch' } });
    await until(
      'the ids are free again',
      async () => ((await evictd.metric('evictd_signal_available_processes{eviction_signal="pid.available"}')) ?? 0) > 50,
    );
    await aWhile();
    expect(evictd.journal().filter(({ type }) => type === 'decision')).toHaveLength(1);
    expect(processesIn(web)).toHaveLength(31);
    expect(holder.alive).toBe(true);
    expect(processesIn(batch)).toEqual([]);
    expect(await evictd.metric('evictd_evictions_total{eviction_signal="pid.available"}')).toBe(1);
  });

  test('evictd starts no thread after its start: not for a reload, a scrape or an eviction', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const evictd = await new Evictd({ config: guarding(node) }).guarding();
    const before = threadsOf(evictd.pid).sort();
    expect(before).toContain('evictd-reaper');
    evictd.child.kill('SIGHUP');
    await evictd.logged(/^evictd reloaded its configuration/);
    await evictd.metrics();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.recorded('outcome');
    expect(threadsOf(evictd.pid).sort()).toEqual(before);
    expect(processesIn(node)).toEqual([]);
  });
});
