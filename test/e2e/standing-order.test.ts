import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { TestCgroup } from '../support/cgroup.js';
import { Evictd, evictd as command, victimOf, type JournalLine } from './evictd.js';
import { native } from '../../src/native/index.js';
import { guarding, isV1, MIB, ON, testNode, workload } from './node.js';
import { StalledEvictd, type Stall } from './stalled.js';
import { aWhile, until } from './wait.js';

// The main thread of a real evictd does not run while a workload fills the node: its waiter thread evicts.

const ORDERS = { standingOrder: { after: '5ms' } } as const;

/** Number, victim, and whether it was a standing order. */
const decisionsIn = (journal: readonly JournalLine[]) =>
  journal.filter(({ type }) => type === 'decision').map((line) => [line.decision, victimOf(line), line.standingOrder !== undefined]);

const usageOf = (node: TestCgroup): number => Number(node.read(isV1 ? 'memory.usage_in_bytes' : 'memory.current'));

describe(`a standing order (${ON})`, () => {
  test.each<Stall>(['a busy loop', 'a stopped thread', 'a heap full of garbage'])(
    'evicts the right workload while the main thread is stalled, once, and is recorded: %s',
    async (stall) => {
      const node = testNode();
      const web = await workload(node.child('web'), { holdsMib: 40 });
      const batch = await workload(node.child('batch'), { holdsMib: 20, growsMib: 200 });
      const stalled = new StalledEvictd(stall, { ...guarding(node), ...ORDERS });
      const evictd = await stalled.evictd.guarding();

      await stalled.ordered();
      await stalled.begin();
      batch.grow();
      expect(await batch.ended).toBe('SIGKILL');
      expect(stalled.isOver).toBe(false);
      stalled.end();
      const outcome = await evictd.recorded('outcome');
      await aWhile(); // a second victim would be a defect

      expect(web.alive).toBe(true);
      const decision = evictd.journal().find(({ type }) => type === 'decision');
      expect(decisionsIn(evictd.journal())).toEqual([[1, 'batch', true]]);
      expect(decision?.message).toMatch(
        /^evicting batch with SIGKILL by standing order: memory\.available .* < 384Mi \(hard\); batch uses /,
      );
      expect(decision?.available).toBeLessThan(384 * MIB);
      expect(decision?.expectedBytes).toBeGreaterThan(60 * MIB);
      expect(outcome).toMatchObject({ decision: 1, result: 'killed', victim: { name: 'batch' } });
      expect((outcome.spansMs as Record<string, number>).crossingToSignal).toBeGreaterThanOrEqual(5);
      expect(await evictd.metric('evictd_standing_orders_total{outcome="carried-out"}')).toBe(1);
      expect(await evictd.metric('evictd_evictions_total{eviction_signal="memory.available"}')).toBe(1);
      expect(await evictd.stop()).toBe(0);
    },
  );

  test('is carried out as an eviction of its own by a main thread that reacts in time', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { holdsMib: 20, growsMib: 200 });
    const evictd = await new Evictd({ config: { ...guarding(node), standingOrder: { after: '1s' } } }).guarding();
    batch.grow();
    await evictd.recorded('outcome');
    expect(decisionsIn(evictd.journal()).map(([, , ordered]) => ordered)).toEqual([false]);
    expect(await evictd.metric('evictd_standing_orders_total{outcome="carried-out"}')).toBe(0);
  });

  test('is disabled by 0', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { holdsMib: 20, growsMib: 200 });
    const stalled = new StalledEvictd('a busy loop', { ...guarding(node), standingOrder: { after: '0s' } });
    const evictd = await stalled.evictd.guarding();
    await stalled.begin();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    expect(stalled.isOver).toBe(true);
    await evictd.recorded('outcome');
    expect(decisionsIn(evictd.journal()).map(([, , ordered]) => ordered)).toEqual([false]);
  });

  test.runIf(isV1)('is carried out when all memory of the node is gone, with evictd itself in it', async () => {
    const node = testNode();
    const own = node.child('evictd');
    const web = await workload(node.child('web'), { holdsMib: 10 });
    const batch = await workload(node.child('batch'), { growsMib: Infinity });
    const config = {
      ...guarding(node),
      evictionHard: { 'memory.available': '16Mi' },
      monitoringInterval: '100ms',
      standingOrder: { after: '1s' },
    };
    const stalled = new StalledEvictd('a stopped thread', config, { cgroup: own.dir });
    const evictd = await stalled.evictd.guarding();
    // A second after the crossing the last 16 MiB are gone, and tasks that need a page sleep: there is no OOM killer.
    node.write('memory.oom_control', '1');
    await aWhile(); // evictd grows for a moment after its start
    const limit = Number(node.read('memory.usage_in_bytes')) + 28 * MIB;
    node.limit(BigInt(limit));
    await stalled.ordered(); // the threshold is near

    await stalled.begin();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    expect(Number(node.read('memory.max_usage_in_bytes'))).toBeGreaterThan(limit - MIB);
    expect(Number(node.read('memory.failcnt'))).toBeGreaterThan(0);
    stalled.end();
    const outcome = await evictd.recorded('outcome');
    await aWhile();
    expect(web.alive).toBe(true);
    expect(decisionsIn(evictd.journal())).toEqual([[1, 'batch', true]]);
    expect(outcome).toMatchObject({ result: 'killed', victim: { name: 'batch' } });
  });

  test('kills nothing where its workload was replaced by another of the same name', async () => {
    const node = testNode();
    const web = await workload(node.child('web'), { holdsMib: 40 });
    const old = node.child('batch');
    const batch = await workload(old, { holdsMib: 60 });
    const stalled = new StalledEvictd('a stopped thread', { ...guarding(node), ...ORDERS });
    const evictd = await stalled.evictd.guarding();

    await stalled.ordered();
    await stalled.begin();
    process.kill(batch.pid, 'SIGKILL');
    await batch.ended;
    await old.cleanup();
    const newcomer = await workload(node.child('batch'), { growsMib: 200 });
    newcomer.grow();
    await until('the node is short', () => usageOf(node) > 200 * MIB || !newcomer.alive);
    await aWhile();
    expect([web.alive, newcomer.alive]).toEqual([true, true]);

    stalled.end();
    await evictd.recorded('outcome'); // of the main thread's own decision
    expect(web.alive).toBe(true);
    expect(await newcomer.ended).toBe('SIGKILL');
    expect(decisionsIn(evictd.journal()).map(([, , ordered]) => ordered)).toEqual([false]);
    expect(await evictd.metric('evictd_standing_orders_total{outcome="outdated"}')).toBe(1);
    expect(evictd.journal().find(({ type }) => type === 'standing-order')).toMatchObject({ result: 'outdated' });
  });

  test('does not kill a workload that has become protected since', async () => {
    const node = testNode();
    const web = await workload(node.child('web'), { holdsMib: 20 });
    const cgroup = node.child('batch');
    const batch = await workload(cgroup, { holdsMib: 40, growsMib: 200 });
    const stalled = new StalledEvictd('a stopped thread', { ...guarding(node), ...ORDERS });
    const evictd = await stalled.evictd.guarding();

    await stalled.ordered();
    await stalled.begin();
    native.setxattr(cgroup.dir, 'user.oomd_omit', '1');
    batch.grow();
    await until('the node is short', () => usageOf(node) > 200 * MIB || !batch.alive);
    await aWhile();
    expect([web.alive, batch.alive]).toEqual([true, true]);

    stalled.end();
    expect(await web.ended).toBe('SIGKILL');
    await evictd.recorded('outcome');
    expect(batch.alive).toBe(true);
    expect(decisionsIn(evictd.journal()).map(([, victim, ordered]) => [victim, ordered])).toEqual([['web', false]]);
    expect(await evictd.metric('evictd_standing_orders_total{outcome="outdated"}')).toBe(1);
  });

  test('kills nothing where a new workload has allocated the memory', async () => {
    const node = testNode();
    const web = await workload(node.child('web'), { holdsMib: 20 });
    const stalled = new StalledEvictd('a stopped thread', { ...guarding(node), ...ORDERS });
    const evictd = await stalled.evictd.guarding();

    await stalled.ordered();
    await stalled.begin();
    const late = await workload(node.child('late'), { growsMib: 200 });
    late.grow();
    await until('the node is short', () => usageOf(node) > 200 * MIB || !late.alive);
    await pause(3_500); // a crossing that only one of two values shows counts after 2.5 s
    expect([web.alive, late.alive]).toEqual([true, true]);

    stalled.end();
    expect(await late.ended).toBe('SIGKILL');
    await evictd.recorded('outcome');
    expect(web.alive).toBe(true);
    expect(decisionsIn(evictd.journal()).map(([, victim, ordered]) => [victim, ordered])).toEqual([['late', false]]);
    expect(await evictd.metric('evictd_standing_orders_total{outcome="outdated"}')).toBe(1);
  });

  // cgroup.kill of v2 asks for no right to signal.
  test.runIf(isV1)('that the kernel refuses is reported, and the main thread evicts another workload', async () => {
    const node = testNode();
    const web = await workload(node.child('web'), { holdsMib: 40 });
    const batch = await workload(node.child('batch'), { holdsMib: 20, growsMib: 200, uid: 65_534 });
    const through = ['setpriv', '--bounding-set=-kill', '--inh-caps=-kill'];
    const stalled = new StalledEvictd('a busy loop', { ...guarding(node), ...ORDERS }, { through });
    const evictd = await stalled.evictd.guarding();

    await stalled.begin();
    batch.grow();
    await evictd.recorded('standing-order');
    expect(await web.ended).toBe('SIGKILL');
    expect(batch.alive).toBe(true);
    expect(evictd.journal().find(({ type }) => type === 'standing-order')).toMatchObject({
      result: 'refused',
      victim: { name: 'batch' },
      error: expect.stringContaining('EPERM') as string,
    });
    expect(await evictd.metric('evictd_standing_orders_total{outcome="refused"}')).toBe(1);
    expect(decisionsIn(evictd.journal()).map(([, victim]) => victim)).toEqual(['batch', 'web']);
    expect(await evictd.logged(/EVICTD_ORDER_FAILED/)).toMatchObject({ level: 'warn' });
  });

  test('is continued by the next evictd if this one ended before it knew', async () => {
    const node = testNode();
    const web = await workload(node.child('web'), { holdsMib: 40 });
    const batch = await workload(node.child('batch'), { holdsMib: 20, growsMib: 200 });
    const config = { ...guarding(node), ...ORDERS };
    const stalled = new StalledEvictd('a busy loop', config);
    const { evictd, directory } = stalled;
    await evictd.guarding();
    await stalled.ordered();
    await stalled.begin();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    expect(await evictd.stop('SIGKILL')).toBe('SIGKILL');
    expect(stalled.isOver).toBe(false);
    expect(
      decisionsIn((await evictd.history('eviction')).flatMap(({ decision }) => (decision === undefined ? [] : [decision as JournalLine]))),
    ).toEqual([[1, 'batch', true]]);

    const next = await new Evictd({ config, directory }).guarding();
    await next.recorded('outcome');
    await aWhile();
    expect(web.alive).toBe(true);
    expect(decisionsIn(next.journal())).toEqual([[1, 'batch', true]]);
    expect(next.journal().filter(({ type }) => type === 'outcome')).toMatchObject([{ decision: 1, result: 'killed' }]);
  });

  test('has its record drained by evictd restore', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { holdsMib: 20, growsMib: 200 });
    const stalled = new StalledEvictd('a busy loop', { ...guarding(node), ...ORDERS });
    const { evictd } = stalled;
    await evictd.guarding();
    await stalled.ordered();
    await stalled.begin();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.stop('SIGKILL');
    expect(await command('restore', '--config', evictd.configFile)).toMatchObject({ code: 0 });
    expect(decisionsIn(evictd.journal())).toEqual([[1, 'batch', true]]);
    expect(readFileSync(evictd.journalFile, 'utf8')).toContain('by standing order');
  });
});
