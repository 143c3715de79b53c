import { existsSync, rmdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { native } from '../../src/native/index.js';
import { cgroup2, closing, hasCapSysResource, hasCgroup2, makeCgroup, processorShare, startIn, thrownBy, until } from './kernel.js';

/** Allowed without CAP_SYS_RESOURCE: a multiple of 2 s. */
const windowUs = 2_000_000;

const watch = (file: string, trigger: { kind: 'some' | 'full'; stallUs: number; windowUs: number }) => {
  const wakes: number[] = [];
  const owner = new native.PsiTrigger(file, trigger, (bits) => wakes.push(bits));
  return { owner: closing(owner), wakes };
};

describe('a PSI trigger', () => {
  test('can be set on the machine several times, each with its own descriptor', () => {
    const first = watch('/proc/pressure/memory', { kind: 'some', stallUs: 1_900_000, windowUs });
    const second = watch('/proc/pressure/memory', { kind: 'full', stallUs: 1_900_000, windowUs });
    expect([first.owner.live, second.owner.live, native.watchCount()]).toEqual([true, true, 2]);
  });

  const files: [resource: string, kinds: ('some' | 'full')[]][] = [
    ['memory', ['some', 'full']],
    ['io', ['some', 'full']],
    ['cpu', ['some', 'full']],
    ['irq', ['full']],
  ];
  test.each(files)('accepts every kind of %s pressure that exists, of the machine and of a cgroup', (resource, kinds) => {
    const cgroup = hasCgroup2 ? [`${makeCgroup(cgroup2)}/${resource}.pressure`] : [];
    const there = [`/proc/pressure/${resource}`, ...cgroup].filter((file) => existsSync(file));
    for (const file of there) {
      for (const kind of kinds) expect(watch(file, { kind, stallUs: 1_900_000, windowUs }).owner.live).toBe(true);
    }
    expect(native.watchCount()).toBe(there.length * kinds.length);
    expect(there.length > 0 || resource === 'irq').toBe(true); // irq needs CONFIG_IRQ_TIME_ACCOUNTING
  });

  test.runIf(existsSync('/proc/pressure/irq'))('for irq has no `some`', () => {
    expect(thrownBy(() => watch('/proc/pressure/irq', { kind: 'some', stallUs: 100_000, windowUs }))).toMatchObject({ code: 'EINVAL' });
  });

  test.runIf(hasCgroup2)('fires under pressure', async () => {
    const cgroup = makeCgroup(cgroup2);
    const { wakes, owner } = watch(`${cgroup}/cpu.pressure`, { kind: 'some', stallUs: 20_000, windowUs });
    // More runnable than processors: some of them always wait.
    const spin = 'while :; do :; done';
    await startIn(cgroup, `for i in 1 2 3 4 5 6 7; do ${spin} & done; ${spin}`);
    await until('pressure', () => wakes.length > 0, 20_000);
    expect(wakes[0]).toBe(native.WAKE.FIRED);
    expect(owner.live).toBe(true);
  });

  test.runIf(hasCgroup2)('of a removed cgroup is GONE once, and the waiter does not spin', async () => {
    const cgroup = makeCgroup(cgroup2);
    const { wakes, owner } = watch(`${cgroup}/memory.pressure`, { kind: 'some', stallUs: 100_000, windowUs });
    rmdirSync(cgroup);
    await until('GONE', () => wakes.length > 0);
    expect(await processorShare(1000)).toBeLessThan(0.5);
    expect(wakes).toEqual([native.WAKE.GONE]);
    expect(owner.live).toBe(false);
  });

  test.runIf(!hasCapSysResource)('without CAP_SYS_RESOURCE a window of 1 s is EINVAL', () => {
    expect(thrownBy(() => watch('/proc/pressure/memory', { kind: 'some', stallUs: 100_000, windowUs: 1_000_000 }))).toMatchObject({
      code: 'EINVAL',
      errno: -22,
      syscall: 'write',
      path: '/proc/pressure/memory',
    });
  });

  test.each<[rule: string, file: string, stallUs: number, error: object]>([
    ['a stall longer than the window', '/proc/pressure/io', 3_000_000, { code: 'EINVAL', syscall: 'write', path: '/proc/pressure/io' }],
    ['a file that does not exist', '/proc/pressure/none', 100_000, { code: 'ENOENT', syscall: 'open', path: '/proc/pressure/none' }],
    ['a stall of zero', '/proc/pressure/io', 0, { code: 'ERR_OUT_OF_RANGE', name: 'RangeError' }],
  ])('refuses %s', (_rule, file, stallUs, error) => {
    expect(thrownBy(() => watch(file, { kind: 'some', stallUs, windowUs }))).toMatchObject(error);
    expect(native.watchCount()).toBe(0);
  });
});
