import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testCgroup } from '../support/cgroup.js';
import { forkBomb, limitPids } from '../support/fork-bomb.js';
import { Evictd } from './evictd.js';
import { guarding, ON, processesIn, testNode, workload } from './node.js';
import { until } from './wait.js';

const threadsOf = (pid: number): string[] =>
  readdirSync(`/proc/${String(pid)}/task`).map((task) => readFileSync(`/proc/${String(pid)}/task/${task}/comm`, 'utf8').trim());

describe(`no process id left (${ON})`, () => {
  test('a fork bomb is evicted, by an evictd that can start neither a thread nor a process; nothing of it survives', async () => {
    const node = testNode();
    const outer = testCgroup();
    onTestFinished(() => outer.cleanup());
    const db = await workload(node.child('db'), { holdsMib: 20 });
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    // evictd and the bomb under one limit: what the bomb takes, evictd does not get.
    const limit = limitPids(outer, 120);
    onTestFinished(() => limit.cleanup());
    const join = `echo $$ > ${limit.dir}/cgroup.procs; exec "$@"`;
    const rules = [{ match: { name: 'db' }, critical: true }];
    const evictd = await new Evictd({ config: guarding(node, rules), through: ['/bin/sh', '-c', join, 'sh'] }).guarding();
    expect(limit.processes()).toContain(evictd.pid);
    const before = threadsOf(evictd.pid);
    expect(before.filter((name) => name === 'evictd-reaper')).toHaveLength(1);

    await bombIn(`${node.dir}/batch`, forkBomb(limit));
    await until('forks to be refused', () => limit.refusals() > 100);
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    const outcome = await evictd.recorded('outcome');

    expect(outcome).toMatchObject({ result: 'killed', victim: { name: 'batch' } });
    expect(readFileSync(`${node.dir}/batch/cgroup.procs`, 'utf8')).toBe('');
    expect(limit.processes()).toEqual([evictd.pid]);
    expect([db.alive, processesIn(node.child('later'))]).toEqual([true, []]);
    expect(threadsOf(evictd.pid).sort()).toEqual(before.sort());
    expect(await evictd.stop()).toBe(0);
  });

  test('no thread is made after the start: not for a reload, a scrape or an eviction', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const evictd = await new Evictd({ config: guarding(node) }).guarding();
    const before = threadsOf(evictd.pid);
    evictd.child.kill('SIGHUP');
    await evictd.logged(/^the configuration was read again/);
    await evictd.metrics();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.recorded('outcome');
    expect(threadsOf(evictd.pid).sort()).toEqual(before.sort());
  });
});

/** A bomb as a member of a cgroup that has a process already: on v2 the limit is where it goes. */
async function bombIn(cgroup: string, command: string): Promise<void> {
  const { spawn } = await import('node:child_process');
  const child = spawn('/bin/sh', ['-c', `echo $$ > "$0/cgroup.procs"; ${command}`, cgroup], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
}
