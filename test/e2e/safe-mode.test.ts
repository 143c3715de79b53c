import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { native } from '../../src/native/index.js';
import { readBootId } from '../../src/host/linux/process/own-process.js';
import { evictd as command, Evictd, scratchDirectory } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';

/** Without a core dump, and with a small heap. */
const SMALL_HEAP = ['sh', '-c', 'ulimit -c 0; exec "$@"', 'sh', 'env', 'NODE_OPTIONS=--max-old-space-size=24'];

describe(`an evictd that crashes (${ON})`, () => {
  test('repeatedly evicts nothing, reports that everywhere, and evicts after evictd resume', async () => {
    const node = testNode();
    const directory = scratchDirectory();
    const config = { ...guarding(node), safeMode: { crashes: 2, within: '1h' } };
    for (let crashes = 0; crashes < 2; crashes += 1) {
      const crashing = await new Evictd({ config, directory }).guarding();
      expect(await crashing.metric('evictd_safe_mode')).toBe(0);
      await crashing.stop('SIGKILL');
    }
    const safe = new Evictd({ config, directory });
    expect(await safe.logged(/^safe mode: evictd has crashed 2 times within 1h0m0s; /)).toMatchObject({
      level: 'error',
      code: 'EVICTD_SAFE_MODE',
    });
    await safe.guarding();
    expect(await safe.metric('evictd_safe_mode')).toBe(1);
    expect(await safe.get('/readyz')).toMatchObject({
      status: 503,
      body: expect.stringContaining('safe mode: evictd has crashed') as string,
    });
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    batch.grow();
    expect(await safe.recorded('alert')).toMatchObject({ alert: 'safe-mode', signal: 'memory.available' });
    expect(batch.alive).toBe(true);
    expect(
      safe
        .journal()
        .filter(({ type }) => type === 'start')
        .map(({ crashes }) => crashes),
    ).toEqual([undefined, 1, 2]);
    const resumed = await command('resume', '--config', safe.configFile);
    expect([resumed.code, resumed.stdout]).toEqual([0, expect.stringMatching(/; the safe mode is over\n$/)]);
    expect(await safe.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'batch' } });
    expect(await safe.metric('evictd_safe_mode')).toBe(0);
    expect(await safe.stop()).toBe(0);
  });

  test('evicts again after it has run for the configured time', async () => {
    const node = testNode();
    const directory = scratchDirectory();
    mkdirSync(join(directory, 'run'), { mode: 0o700 });
    const crashesMs = [Number(native.bootTimeNs() / 1_000_000n)];
    writeFileSync(join(directory, 'run', instanceFile(node.path)), JSON.stringify({ bootId: readBootId(), crashesMs }));
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    batch.grow();
    const evictd = new Evictd({ config: { ...guarding(node), safeMode: { crashes: 2, within: '10s' } }, directory });
    expect(await evictd.recorded('alert')).toMatchObject({ alert: 'safe-mode' });
    expect(batch.alive).toBe(true);
    await evictd.logged(/^safe mode is over: /);
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'batch' } });
    expect((await evictd.get('/readyz'))?.status).toBe(200);
    await evictd.stop();
  });

  test('with the machine soon after each eviction evicts nothing in the next boot, and a stop is not a crash', async () => {
    const node = testNode();
    const config = { ...guarding(node), safeMode: { crashes: 2, within: '1h' } };
    const directory = scratchDirectory();
    const resets = join(directory, 'state', `${instanceOf(node.path)}.resets.json`);
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const first = await new Evictd({ config, directory }).guarding();
    batch.grow();
    await first.recorded('outcome');
    await first.until('the eviction is noted', () => existsSync(resets));
    expect(JSON.parse(readFileSync(resets, 'utf8'))).toEqual([readBootId()]);
    expect(await first.stop()).toBe(0);
    expect(existsSync(resets)).toBe(false);

    writeFileSync(resets, JSON.stringify(['boot 1', 'boot 2']));
    const safe = new Evictd({ config, directory });
    await safe.logged(/^safe mode: the machine went down 2 times in a row within 1h0m0s after an eviction, and not by a shutdown; /);
    expect(await safe.metric('evictd_safe_mode')).toBe(1);
    const other = await workload(node.child('other'), { growsMib: 140 });
    other.grow();
    expect(await safe.recorded('alert')).toMatchObject({ alert: 'safe-mode', signal: 'memory.available' });
    expect(other.alive).toBe(true);
    expect(await safe.stop()).toBe(0);
    expect(existsSync(resets)).toBe(false);
  });

  test('because its heap is exhausted is restarted, guards, and has that in its journal', async () => {
    const node = testNode();
    const directory = scratchDirectory();
    const config = guarding(node);
    const first = await new Evictd({ config, directory, through: SMALL_HEAP }).guarding();
    // 256 KiB of configuration, the longest that evictd reads, whose nodes do not fit into the heap.
    writeFileSync(first.configFile, `rules: [${'{},'.repeat(87_000)}]`);
    first.child.kill('SIGHUP');
    expect(await first.exited()).toBe('SIGABRT');
    expect(first.log.some(({ msg }) => msg.includes('JavaScript heap out of memory'))).toBe(true);

    const next = await new Evictd({ config, directory }).guarding();
    const starts = (await next.history('start')).map(({ crashes, message }) => [crashes, message]);
    expect(starts.at(-1)).toEqual([1, expect.stringContaining('the last run crashed')]);
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    batch.grow();
    expect(await next.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'batch' } });
    await next.stop();
  });
});

function instanceFile(cgroup: string): string {
  return `${instanceOf(cgroup)}.run.json`;
}

function instanceOf(cgroup: string): string {
  return `cgroup-${encodeURIComponent(cgroup)}`;
}
