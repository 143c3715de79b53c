import { readFileSync, rmdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { native } from '../../src/native/index.js';
import { closing, hasMemoryV1, makeCgroup, memoryV1, pause, removeCgroup, startHog, thrownBy, until } from './kernel.js';

const MiB = 1 << 20;
const usage = (cgroup: string) => Number(readFileSync(`${cgroup}/memory.usage_in_bytes`, 'utf8'));
const watch = (cgroup: string, bytes: number) => {
  const wakes: { bits: number; atNs: bigint; usage: number }[] = [];
  const owner = new native.MemcgThreshold(cgroup, BigInt(bytes), (bits, atNs) => {
    wakes.push({ bits, atNs, usage: bits === native.WAKE.FIRED ? usage(cgroup) : 0 });
  });
  return { owner: closing(owner), wakes };
};

describe.runIf(hasMemoryV1)('a v1 memory threshold', () => {
  test('fires on crossing upwards, and then downwards', async () => {
    const cgroup = makeCgroup(memoryV1);
    const hog = await startHog(cgroup);
    const limit = usage(cgroup) + 32 * MiB;
    const { wakes } = watch(cgroup, limit);
    const before = process.hrtime.bigint();

    await hog.take(64);
    await until('the way up', () => wakes.length > 0);
    expect(wakes[0]).toMatchObject({ bits: native.WAKE.FIRED });
    expect(wakes[0]?.usage).toBeGreaterThanOrEqual(limit);
    expect(wakes[0]?.atNs).toBeGreaterThan(before);
    expect(wakes[0]?.atNs).toBeLessThan(process.hrtime.bigint());

    const up = wakes.length;
    hog.end();
    await until('the way down', () => wakes.length > up);
    await until('below it', () => usage(cgroup) < limit);
  });

  test('does not fire when it is armed beyond the limit: read after arming', async () => {
    const cgroup = makeCgroup(memoryV1);
    const hog = await startHog(cgroup);
    await hog.take(64);
    const { wakes, owner } = watch(cgroup, 16 * MiB);
    await pause(300);
    expect(usage(cgroup)).toBeGreaterThan(16 * MiB);
    expect(wakes).toEqual([]);
    expect(owner.live).toBe(true);
  });

  test('two thresholds fire each at its own crossing', async () => {
    const cgroup = makeCgroup(memoryV1);
    const hog = await startHog(cgroup);
    const base = usage(cgroup);
    const low = watch(cgroup, base + 24 * MiB);
    const high = watch(cgroup, base + 96 * MiB);
    await hog.take(48);
    await until('the low one', () => low.wakes.length > 0);
    await pause(100);
    expect(high.wakes).toEqual([]);
    await hog.take(64);
    await until('the high one', () => high.wakes.length > 0);
  });

  test('rmdir fires every eventfd: that is GONE, once, and not a crossing', async () => {
    const cgroup = makeCgroup(memoryV1);
    const { wakes, owner } = watch(cgroup, 16 * MiB);
    rmdirSync(cgroup);
    await until('GONE', () => wakes.length > 0);
    await pause(200);
    expect(wakes.map(({ bits }) => bits)).toEqual([native.WAKE.GONE]);
    expect(owner.live).toBe(false);
    expect(native.watchCount()).toBe(0);
  });

  test('a closed one is not called any more, and its registration is gone', async () => {
    const cgroup = makeCgroup(memoryV1);
    const hog = await startHog(cgroup);
    const limit = usage(cgroup) + 16 * MiB;
    const closed = Array.from({ length: 100 }, () => watch(cgroup, limit));
    for (const { owner } of closed) owner.close();
    const kept = watch(cgroup, limit);
    await hog.take(64);
    await until('the one that is open', () => kept.wakes.length > 0);
    await pause(100);
    expect(closed.flatMap(({ wakes }) => wakes)).toEqual([]);
    await removeCgroup(cgroup); // EBUSY for ever if the kernel held a reference
  });

  test('the root cgroup can be watched', () => {
    expect(watch(memoryV1, Number.MAX_SAFE_INTEGER).owner.live).toBe(true);
  });

  test('a cgroup that is not there is ENOENT, with the file', () => {
    expect(thrownBy(() => watch('/sys/fs/cgroup/memory/evictd-test-none', MiB))).toMatchObject({
      code: 'ENOENT',
      errno: -2,
      syscall: 'open',
      path: '/sys/fs/cgroup/memory/evictd-test-none/memory.usage_in_bytes',
      message: "ENOENT: no such file or directory, open '/sys/fs/cgroup/memory/evictd-test-none/memory.usage_in_bytes'",
    });
    expect(native.watchCount()).toBe(0);
  });

  test('a cgroup of another hierarchy has no such file', () => {
    expect(thrownBy(() => watch('/sys/fs/cgroup/freezer', MiB))).toMatchObject({ code: 'ENOENT', syscall: 'open' });
  });
});
