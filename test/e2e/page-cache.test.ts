import { execFileSync } from 'node:child_process';
import { readdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TestCgroup } from '../support/cgroup.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { Evictd, victimOf } from './evictd.js';
import { guarding, isV1, MIB, ON, testNode, workload } from './node.js';
import { aWhile, until } from './wait.js';

// A node of 320 MiB that needs 128 MiB available: evictd acts when 192 MiB are in use.

const LIMIT = { evictionHard: { 'memory.available': '128Mi' }, monitoringInterval: '1h' };

/** A file on a disk, of which nothing is cached: dirty pages, and those of another cgroup, would not count here. */
function fileOf(mebibytes: number): string {
  const directory = temporaryDirectory('/var/tmp');
  expect(statfsSync(directory).type, '/var/tmp is a disk, not a tmpfs').not.toBe(0x01021994);
  const file = join(directory, 'cache');
  execFileSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=1M', `count=${String(mebibytes)}`, 'conv=fsync', 'status=none']);
  execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none']);
  return file;
}

function statistic(cgroup: TestCgroup, name: string): number {
  return Number(new RegExp(`^${isV1 ? 'total_' : ''}${name} (\\d+)$`, 'm').exec(cgroup.read('memory.stat'))?.[1]);
}

/** v1 counts a kill only in the victim's cgroup. */
function oomKills(node: TestCgroup): number {
  const below = isV1 ? readdirSync(node.dir, { withFileTypes: true }).filter((entry) => entry.isDirectory()) : [];
  const files = ['', ...below.map(({ name }) => `${name}/`)].map((child) => `${child}${isV1 ? 'memory.oom_control' : 'memory.events'}`);
  return files.reduce((sum, file) => sum + Number(/^oom_kill (\d+)/m.exec(node.read(file))?.[1]), 0);
}

/**
 * Reads a mapped file until the kernel has its pages in the list of active ones, and stays. Resolves also if it is killed. (Pages
 * that are read without a mapping never become active where the kernel sorts them by generations.)
 */
async function reader(cgroup: TestCgroup, file: string): Promise<{ readonly alive: boolean }> {
  const program = `
    $| = 1;
    for (1 .. 3) { open my $in, '<:mmap', '${file}' or die; 1 while read $in, my $block, 1 << 20 }
    print "ready\\n";
    sleep while 1;`;
  const started = await cgroup.spawn('perl', ['-e', program]);
  let said = '';
  started.child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const running = (): boolean => started.child.exitCode === null && started.child.signalCode === null;
  await until('the file has been read', () => said.includes('ready') || !running());
  return {
    get alive() {
      return running();
    },
  };
}

interface RankingRow {
  readonly name: string;
  readonly workingSetBytes: number;
}

describe(`page cache that is in use (${ON})`, () => {
  test('of a workload that reads much causes no eviction of it, but of the workload that allocates memory', async () => {
    const node = testNode(320n << 20n);
    const file = fileOf(170);
    const hog = await workload(node.child('hog'), { holdsMib: 40, growsMib: 175 });
    const evictd = await new Evictd({ config: { ...guarding(node), ...LIMIT } }).guarding();
    const reading = await reader(node.child('reading'), file);
    expect(statistic(node, 'active_file')).toBeGreaterThan(150 * MIB);
    await aWhile();
    expect(evictd.journal()).toEqual([expect.objectContaining({ type: 'start' })]);

    hog.grow();
    expect(await hog.ended).toBe('SIGKILL');
    const decision = await evictd.recorded('decision');
    const ranking = decision.ranking as RankingRow[];
    expect(ranking.map(({ name }) => name)).toEqual(['hog', 'reading']);
    expect(ranking[1]?.workingSetBytes).toBeLessThan(40 * MIB);
    expect(decision.source).toContain('− reclaimable memory of ');
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
    await aWhile();
    expect(reading.alive).toBe(true);
    expect(evictd.journal().filter(({ type }) => type === 'decision')).toHaveLength(1);
    expect(oomKills(node)).toBe(0);
  });

  test('counts after a reload as before, for the node and for its workloads', async () => {
    const node = testNode(320n << 20n);
    const file = fileOf(100);
    const hog = await workload(node.child('hog'), { holdsMib: 40, growsMib: 100 });
    // All of it fits: under reclaim the kernel would move the pages to the inactive list.
    const config = { ...guarding(node), ...LIMIT, evictionHard: { 'memory.available': '200Mi' } };
    const evictd = await new Evictd({ config }).guarding();
    await evictd.reloaded({ ...config, departures: { 'reclaimable-cache': false } });
    await evictd.logged(/only after a restart: reclaimable-cache$/);
    const reading = await reader(node.child('reading'), file);
    hog.grow();
    expect(await hog.ended).toBe('SIGKILL');
    const ranking = (await evictd.recorded('decision')).ranking as RankingRow[];
    expect(ranking.find(({ name }) => name === 'reading')?.workingSetBytes).toBeLessThan(40 * MIB);
    expect(reading.alive).toBe(true);
  });

  test('with reclaimable-cache switched off causes an eviction, which frees nothing', async () => {
    const node = testNode(320n << 20n);
    const file = fileOf(170);
    await workload(node.child('other'), { holdsMib: 40 });
    const config = { ...guarding(node), ...LIMIT, departures: { 'reclaimable-cache': false } };
    const evictd = await new Evictd({ config }).guarding();
    await reader(node.child('reading'), file);
    expect(victimOf(await evictd.recorded('decision'))).toBe('reading');
    expect((await evictd.recorded('outcome')).freedBytes).toBeLessThan(40 * MIB);
  });

  test('of a workload that writes much causes no eviction either, because the kernel writes and drops its pages', async () => {
    const node = testNode(320n << 20n);
    const file = fileOf(1);
    const other = await workload(node.child('other'), { holdsMib: 40 });
    const evictd = await new Evictd({ config: { ...guarding(node), ...LIMIT } }).guarding();
    const writing = await node.child('writing').spawn('dd', ['if=/dev/zero', `of=${file}`, 'bs=1M', 'count=400', 'status=none']);
    expect(await writing.ended).toBeNull();
    expect(writing.child.exitCode).toBe(0);
    await aWhile();
    expect(evictd.journal()).toEqual([expect.objectContaining({ type: 'start' })]);
    expect(other.alive).toBe(true);
  });

  test('that is dirty does not delay the eviction of the workload that allocates memory, before the kernel kills', async () => {
    const node = testNode(320n << 20n);
    const file = fileOf(1);
    const hog = await workload(node.child('hog'), { holdsMib: 20, growsMib: 200 });
    const other = await workload(node.child('other'), { holdsMib: 20 });
    const evictd = await new Evictd({ config: { ...guarding(node), ...LIMIT } }).guarding();
    await node.child('writing').spawn('dd', ['if=/dev/zero', `of=${file}`, 'bs=1M', 'count=1000', 'status=none']);
    hog.grow();
    expect(await hog.ended).toBe('SIGKILL');
    expect(victimOf(await evictd.recorded('decision'))).toBe('hog');
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
    await aWhile();
    expect([other.alive, oomKills(node)]).toEqual([true, 0]);
  });
});
