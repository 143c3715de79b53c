import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testCgroup } from '../support/cgroup.js';
import { forkBomb, limitPids } from '../support/fork-bomb.js';
import { Evictd } from './evictd.js';
import { guarding, isV1, ON, processesIn, testNode, workload } from './node.js';
import { until } from './wait.js';

const threadsOf = (pid: number): string[] =>
  readdirSync(`/proc/${String(pid)}/task`).map((task) => readFileSync(`/proc/${String(pid)}/task/${task}/comm`, 'utf8').trim());

describe(`no process id left (${ON})`, () => {
  test('a fork bomb is evicted, by an evictd that can start neither a thread nor a process; nothing of it survives', async () => {
    // evictd and the bomb under one limit: what the bomb takes, evictd does not get.
    const outer = testCgroup();
    onTestFinished(() => outer.cleanup());
    const limit = limitPids(outer, 150);
    onTestFinished(() => limit.cleanup());
    const node = outer.child('node');
    node.limit(512n << 20n);
    const db = await workload(node.child('db'), { holdsMib: 20 });
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const join = isV1 ? limit.join : `echo $$ > ${outer.child('evictd').dir}/cgroup.procs`;
    const config = guarding(node, [{ match: { name: 'db' }, critical: true }]);
    const evictd = await new Evictd({ config, through: ['/bin/sh', '-c', `${join}; exec "$@"`, 'sh'] }).guarding();
    if (isV1) expect(limit.processes()).toEqual([evictd.pid]);
    const before = threadsOf(evictd.pid).sort();

    const bomb = spawn('/bin/sh', ['-c', `echo $$ > ${node.dir}/batch/cgroup.procs; ${forkBomb(limit)}`], { stdio: 'ignore' });
    onTestFinished(() => void bomb.kill('SIGKILL'));
    await until('forks to be refused', () => limit.refusals() > 100);
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    const outcome = await evictd.recorded('outcome');

    expect(outcome).toMatchObject({ result: 'killed', victim: { name: 'batch' } });
    expect(readFileSync(`${node.dir}/batch/cgroup.procs`, 'utf8')).toBe('');
    if (isV1) expect(limit.processes()).toEqual([evictd.pid]);
    expect(db.alive).toBe(true);
    expect(threadsOf(evictd.pid).sort()).toEqual(before);
    expect(await evictd.stop()).toBe(0);
  });

  test('no thread is made after the start: not for a reload, a scrape or an eviction', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const evictd = await new Evictd({ config: guarding(node) }).guarding();
    const before = threadsOf(evictd.pid).sort();
    expect(before).toContain('evictd-reaper');
    evictd.child.kill('SIGHUP');
    await evictd.logged(/^the configuration was read again/);
    await evictd.metrics();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.recorded('outcome');
    expect(threadsOf(evictd.pid).sort()).toEqual(before);
    expect(processesIn(node)).toEqual([]);
  });
});
