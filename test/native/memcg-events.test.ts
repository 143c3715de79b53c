import { existsSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { native } from '../../src/native/index.js';
import { cgroup2, closing, hasCgroup2, hasMemoryV2, makeCgroup, pause, processorShare, startIn, thrownBy, until } from './kernel.js';

// memory.events needs the memory controller in cgroup v2. cgroup.events is the same kind of file (POLLPRI with POLLERR,
// armed by reading) on every cgroup2 mount, so the mechanism is tested everywhere.

const watch = (cgroup: string, file: 'memory.events' | 'memory.events.local' | 'cgroup.events') => {
  const wakes: number[] = [];
  return { owner: closing(new native.MemcgEvents(cgroup, file, (bits) => wakes.push(bits))), wakes };
};

const populated = (cgroup: string) => readFileSync(`${cgroup}/cgroup.events`, 'utf8').includes('populated 1');

describe.runIf(hasCgroup2)('an event file of a v2 cgroup', () => {
  test('reports which of its counters changed, and their values', async () => {
    const { POPULATED, FROZEN } = native.EVENTS;
    const cgroup = makeCgroup(cgroup2);
    const details: number[] = [];
    const owner = closing(new native.MemcgEvents(cgroup, 'cgroup.events', (_bits, _atNs, detail) => details.push(detail)));
    expect(owner.counters()).toEqual({ populated: 0, frozen: 0 });
    const child = await startIn(cgroup, 'exec sleep 60');
    await until('populated', () => details.length === 1);
    expect(owner.counters()).toEqual({ populated: 1, frozen: 0 });
    await pause(50); // changes within 10 ms are one notification
    writeFileSync(`${cgroup}/cgroup.freeze`, '1');
    await until('frozen', () => details.length === 2);
    expect(owner.counters()).toEqual({ populated: 1, frozen: 1 });
    await pause(50);
    writeFileSync(`${cgroup}/cgroup.freeze`, '0');
    await until('thawed', () => details.length === 3);
    await pause(50);
    child.kill('SIGKILL');
    await until('empty', () => owner.counters().populated === 0);
    await until('four notifications', () => details.length === 4);
    expect(details).toEqual([POPULATED, FROZEN, FROZEN, POPULATED]);
    owner.close();
    expect(owner.counters()).toEqual({ populated: 0, frozen: 0 });
  });

  test('fires at each change', async () => {
    const cgroup = makeCgroup(cgroup2);
    const { wakes } = watch(cgroup, 'cgroup.events');
    const child = await startIn(cgroup, 'exec sleep 60');
    await until('populated', () => wakes.length === 1);
    expect(populated(cgroup)).toBe(true);
    await pause(50); // changes within 10 ms are one notification
    child.kill('SIGKILL');
    await until('empty', () => wakes.length === 2);
    expect(populated(cgroup)).toBe(false);
    expect(wakes).toEqual([native.WAKE.FIRED, native.WAKE.FIRED]);
  });

  test('is armed by a reading, and fires neither when armed nor repeatedly', async () => {
    const cgroup = makeCgroup(cgroup2);
    await startIn(cgroup, 'exec sleep 60');
    const { wakes } = watch(cgroup, 'cgroup.events');
    const other = makeCgroup(cgroup); // a populated cgroup below changes nothing either
    await startIn(other, 'exec sleep 60');
    expect(await processorShare(700)).toBeLessThan(0.5);
    expect(wakes).toEqual([]);
  });

  test('of a removed cgroup is GONE once, and the waiter does not spin', async () => {
    const cgroup = makeCgroup(cgroup2);
    const { wakes, owner } = watch(cgroup, 'cgroup.events');
    const child = await startIn(cgroup, 'exec sleep 60');
    child.kill('SIGKILL');
    await until('empty', () => !populated(cgroup));
    rmdirSync(cgroup);
    await until('GONE', () => !owner.live);
    expect(await processorShare(700)).toBeLessThan(0.5);
    // The wakes before it are those of the process: one or two, as changes within 10 ms are one notification.
    expect(wakes.map((bits) => (bits & native.WAKE.GONE) !== 0)).toEqual([...wakes.slice(1).map(() => false), true]);
  });

  test('of a cgroup that never had a process is GONE, too', async () => {
    const cgroup = makeCgroup(cgroup2);
    const { wakes } = watch(cgroup, 'cgroup.events');
    rmdirSync(cgroup);
    await until('GONE', () => wakes.length > 0);
    expect(wakes).toEqual([native.WAKE.GONE]);
  });

  test('does not exist in the root', () => {
    expect(thrownBy(() => watch(cgroup2, 'memory.events'))).toMatchObject({
      code: 'ENOENT',
      syscall: 'open',
      path: `${cgroup2}/memory.events`,
    });
  });

  test('of a missing cgroup is ENOENT', () => {
    expect(thrownBy(() => watch(`${cgroup2}/evictd-test-none`, 'cgroup.events'))).toMatchObject({
      code: 'ENOENT',
      syscall: 'open',
      path: `${cgroup2}/evictd-test-none`,
    });
  });

  test('has one of three names', () => {
    expect(thrownBy(() => watch(cgroup2, 'cgroup.procs' as 'cgroup.events'))).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  });
});

process.stdout.write(`memory.events of cgroup v2: ${hasMemoryV2 ? 'tried' : 'not tried, this machine has the memory controller on v1'}\n`);

describe.runIf(hasMemoryV2)('memory.events', () => {
  const makeMemoryCgroup = () => {
    if (!existsSync(`${cgroup2}/memory.stat`)) throw new Error('no memory controller at the root');
    writeFileSync(`${cgroup2}/cgroup.subtree_control`, '+memory');
    return makeCgroup(cgroup2);
  };

  test.each(['memory.events', 'memory.events.local'] as const)('%s fires for high, for max and for the OOM kill', async (file) => {
    const cgroup = makeMemoryCgroup();
    writeFileSync(`${cgroup}/memory.high`, String(16 << 20));
    const { wakes, owner } = watch(cgroup, file);
    let moved = 0;
    const events = closing(new native.MemcgEvents(cgroup, file, (_bits, _atNs, detail) => (moved |= detail)));
    expect(events.counters()).toMatchObject({ low: 0, high: 0, max: 0, oom: 0, oom_kill: 0 });
    const counter = (name: string) => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(readFileSync(`${cgroup}/${file}`, 'utf8'))?.[1]);
    await startIn(cgroup, 'exec tail /dev/zero');
    await until('high', () => wakes.length > 0, 30_000);
    expect(counter('high')).toBeGreaterThan(0);
    const { HIGH, MAX, OOM, OOM_KILL } = native.EVENTS;
    await until('a notification of high', () => moved !== 0);
    expect(moved).toBe(HIGH);
    const before = wakes.length;
    writeFileSync(`${cgroup}/memory.max`, String(16 << 20));
    writeFileSync(`${cgroup}/memory.high`, 'max');
    await until('the OOM kill', () => wakes.length > before && counter('oom_kill') > 0, 30_000);
    expect(wakes.every((bits) => bits === native.WAKE.FIRED)).toBe(true);
    await until('a notification of the kill', () => (moved & OOM) !== 0 && (moved & OOM_KILL) !== 0, 30_000);
    expect(moved & ~(HIGH | MAX | OOM | OOM_KILL)).toBe(0);
    expect(events.counters()).toMatchObject({ low: 0, oom_kill: 1, oom_group_kill: 0 });
    await until('empty', () => !populated(cgroup), 30_000);
    rmdirSync(cgroup);
    await until('GONE', () => !owner.live, 30_000);
    expect(wakes.at(-1)).toBe(native.WAKE.GONE);
  });
});
