import { execFileSync } from 'node:child_process';
import { mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { TestCgroup } from '../support/cgroup.js';
import { loopWorks } from '../support/loop-filesystem.js';
import { alive, available, disk, holder } from './disk-holder.js';
import { Evictd, evictd } from './evictd.js';
import { MIB, ON, testNode } from './node.js';
import { aWhile } from './wait.js';

// A real filesystem, filled to its last byte by real processes.

describe.runIf(loopWorks())(`a disk that is full (${ON}; where loop devices are)`, () => {
  const config = (node: TestCgroup, nodefs: string): Record<string, unknown> => ({
    evictionHard: { 'nodefs.available': '8Mi' },
    node: { cgroup: node.path },
    workloads: [{ cgroup: node.path }],
    filesystems: { nodefs },
    rules: [
      { match: { name: 'keeps' }, priority: -10 },
      { match: { name: 'db' }, directories: [{ path: `${nodefs}/of-db` }, { path: `${nodefs}/not-there` }] },
    ],
    monitoringInterval: '1s',
  });

  test('to the last byte: only the workload that holds most in deleted files is evicted', async () => {
    const node = testNode();
    const directory = disk(64);
    const some = await holder(node.child('some'), `${directory}/some`, 4);
    const most = await holder(node.child('most'), `${directory}/most`, 20);
    const keeps = await holder(node.child('keeps'), `${directory}/keeps`, Infinity, 'kept');
    expect(available(directory)).toBe(0);
    const guard = await new Evictd({ config: config(node, directory) }).guarding();

    const outcome = await guard.recorded('outcome');
    expect(await most.ended).toBe('SIGKILL');
    expect(outcome).toMatchObject({ result: 'killed', victim: { name: 'most' }, signal: 'nodefs.available' });
    expect(outcome.expectedBytes).toBeGreaterThanOrEqual(20 * MIB);
    expect(outcome.freedBytes).toBeGreaterThan(19 * MIB);
    await aWhile(); // a second victim would be a defect
    expect([alive(some), alive(keeps)]).toEqual([true, true]);
    expect(available(directory)).toBeGreaterThan(19 * MIB);
    const [decision] = guard.journal().filter(({ type }) => type === 'decision');
    expect(
      (decision?.ranking as { name: string; protected?: string; freesBytes: number }[]).map((row) => [row.name, row.protected]),
    ).toEqual([
      ['most', undefined],
      ['some', undefined],
      ['keeps', 'frees-nothing'],
    ]);
    expect(guard.journal().filter(({ type }) => type === 'decision' || type === 'alert')).toHaveLength(1);
  });

  test('by a deleted file that a loop device still holds: the eviction frees nothing, and no other workload is evicted', async () => {
    const node = testNode();
    const directory = disk(64);
    const file = `${directory}/most`;
    const some = await holder(node.child('some'), `${directory}/some`, 4);
    const most = await holder(node.child('most'), file, 20, 'kept');
    const device = execFileSync('losetup', ['--find', '--show', file], { encoding: 'utf8' }).trim();
    onTestFinished(() => void execFileSync('losetup', ['--detach', device]));
    unlinkSync(file);
    await holder(node.child('keeps'), `${directory}/keeps`, Infinity, 'kept');
    const guard = await new Evictd({ config: config(node, directory) }).guarding();
    expect(await guard.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'most' }, freedBytes: 0 });
    expect(await most.ended).toBe('SIGKILL');
    expect(await guard.recorded('alert')).toMatchObject({ alert: 'no-yield', signal: 'nodefs.available' });
    await aWhile();
    expect(alive(some)).toBe(true);
    expect(guard.journal().filter(({ type }) => type === 'decision')).toHaveLength(1);
  });

  test('by files that have names: no workload is evicted, and an alert is recorded', async () => {
    const node = testNode();
    const directory = disk(16);
    mkdirSync(`${directory}/logs`);
    const keeps = await holder(node.child('keeps'), `${directory}/logs/keeps`, Infinity, 'kept');
    const guard = await new Evictd({ config: config(node, directory) }).guarding();
    const alert = await guard.recorded('alert');
    expect(alert).toMatchObject({ alert: 'nothing-evictable', signal: 'nodefs.available' });
    expect(await guard.recorded('holders')).toMatchObject({
      signal: 'nodefs.available',
      holders: [{ kind: 'directory', path: `${directory}/logs`, partial: false }],
    });
    await aWhile();
    expect(alive(keeps)).toBe(true);
    expect(guard.journal().some(({ type }) => type === 'decision')).toBe(false);
  });

  test('is shown by rank with the workload that would be evicted and the bytes that it would free', async () => {
    const node = testNode();
    const directory = disk(16);
    await holder(node.child('web'), `${directory}/web`, 2);
    mkdirSync(`${directory}/of-db`);
    await holder(node.child('db'), `${directory}/of-db/file`, 2, 'kept');
    await holder(node.child('one'), `${directory}/shared`, 4, 'deleted', node.child('other'));
    const file = join(directory, 'config.yaml');
    writeFileSync(file, JSON.stringify({ apiVersion: 'evictd.dev/v1', kind: 'EvictdConfiguration', ...config(node, directory) }), {
      mode: 0o600,
    });
    const run = await evictd('rank', '--signal', 'nodefs.available', '-o', 'json', '--config', file);
    expect(run.stderr).toBe('');
    const report = JSON.parse(run.stdout) as {
      victim: string;
      workloads: Record<string, unknown>[];
      holders: { kind: string; processes: object[]; bytes: number }[];
    };
    expect(report.victim).toBe('web');
    expect(report.holders).toContainEqual(expect.objectContaining({ kind: 'directory', path: `${directory}/of-db` }));
    const deleted = report.holders.filter(({ kind }) => kind === 'deleted-files');
    expect(deleted[0]).toMatchObject({
      processCount: 2,
      processes: [{ name: 'perl', cgroup: `${node.path}/one` }, { cgroup: `${node.path}/other` }],
    });
    expect(deleted[0]?.bytes).toBeGreaterThanOrEqual(4 * MIB);
    expect(deleted[1]).toMatchObject({ processes: [{ cgroup: `${node.path}/web` }] });
    const web = report.workloads.find(({ name }) => name === 'web');
    expect(web?.place).toBe(1);
    expect(web?.freesBytes).toBeGreaterThanOrEqual(2 * MIB);
    const db = report.workloads.find(({ name }) => name === 'db');
    expect(db?.usesBytes).toBeGreaterThanOrEqual(2 * MIB);
    expect(db).toMatchObject({ usesInodes: 2, protection: expect.stringMatching(/would free nothing/) as string });
    for (const nothing of ['db', 'one', 'other']) {
      expect(report.workloads.find(({ name }) => name === nothing)).toMatchObject({ freesBytes: 0, freesInodes: 0 });
    }
  });
});
