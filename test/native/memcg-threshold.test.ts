import { readFileSync, rmdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { attempt } from '../../src/errors.js';
import { native } from '../../src/native/index.js';
import { closing, hasMemoryV1, makeCgroup, memoryV1, pause, removeCgroup, runNode, startHog, thrownBy, until } from './kernel.js';

const MiB = 1 << 20;
const usage = (cgroup: string) => Number(readFileSync(`${cgroup}/memory.usage_in_bytes`, 'utf8'));
const { FIRED, GONE } = native.WAKE;
const { MOVED, REFUSED } = native.THRESHOLD;
const open = (cgroup: string, bytes: number) => {
  const wakes: { bits: number; atNs: bigint; detail: number; usage: number }[] = [];
  const owner = new native.MemcgThreshold(cgroup, BigInt(bytes), (bits, atNs, detail) => {
    wakes.push({ bits, atNs, detail, usage: bits === FIRED ? (attempt(() => usage(cgroup)) ?? 0) : 0 });
  });
  return { owner: closing(owner), wakes };
};
/** One that stands; its wakes from then on. */
const watch = async (cgroup: string, bytes: number) => {
  const opened = open(cgroup, bytes);
  await until('the registration', () => opened.wakes.length > 0);
  expect(opened.wakes.splice(0)).toMatchObject([{ bits: FIRED, detail: MOVED }]);
  return opened;
};
/** So many registrations before any other that it is not its turn for a while. */
const occupyArmer = (cgroup: string) => Array.from({ length: 20 }, () => open(cgroup, 1 << 20));

describe.runIf(hasMemoryV1)('a v1 memory threshold', () => {
  test('fires at a crossing upwards, and then downwards', async () => {
    const cgroup = makeCgroup(memoryV1);
    const hog = await startHog(cgroup);
    const limit = usage(cgroup) + 32 * MiB;
    const { wakes } = await watch(cgroup, limit);
    const before = process.hrtime.bigint();

    await hog.take(64);
    await until('the way up', () => wakes.length > 0);
    expect(wakes[0]).toMatchObject({ bits: FIRED });
    // Of what is charged ahead, some pages for each processor, a part may have been given back since.
    expect(wakes[0]?.usage).toBeGreaterThan(limit - MiB);
    expect(wakes[0]?.atNs).toBeGreaterThan(before);
    expect(wakes[0]?.atNs).toBeLessThan(process.hrtime.bigint());

    const up = wakes.length;
    hog.end();
    await until('the way down', () => wakes.length > up);
    await until('below it', () => usage(cgroup) < limit);
  });

  test('does not fire if it is armed beyond its limit, so the caller reads after arming', async () => {
    const cgroup = makeCgroup(memoryV1);
    const hog = await startHog(cgroup);
    await hog.take(64);
    const { wakes, owner } = await watch(cgroup, 16 * MiB);
    await pause(300);
    expect(usage(cgroup)).toBeGreaterThan(16 * MiB);
    expect(wakes).toEqual([]);
    expect(owner.live).toBe(true);
  });

  test('fires for each of two thresholds at its own crossing', async () => {
    const cgroup = makeCgroup(memoryV1);
    const hog = await startHog(cgroup);
    const base = usage(cgroup);
    const low = await watch(cgroup, base + 24 * MiB);
    const high = await watch(cgroup, base + 96 * MiB);
    await hog.take(48);
    await until('the low one', () => low.wakes.length > 0);
    await pause(100);
    expect(high.wakes).toEqual([]);
    await hog.take(64);
    await until('the high one', () => high.wakes.length > 0);
  });

  test('is GONE once after rmdir, which fires every eventfd, and that is not a crossing', async () => {
    const cgroup = makeCgroup(memoryV1);
    const { wakes, owner } = await watch(cgroup, 16 * MiB);
    rmdirSync(cgroup);
    await until('GONE', () => wakes.length > 0);
    await pause(200);
    expect(wakes.map(({ bits }) => bits)).toEqual([GONE]);
    expect(owner.live).toBe(false);
    expect(native.watchCount()).toBe(0);
  });

  test('is not called after close(), and its registration is removed', async () => {
    const cgroup = makeCgroup(memoryV1);
    const hog = await startHog(cgroup);
    const limit = usage(cgroup) + 16 * MiB;
    const closed = await Promise.all(Array.from({ length: 100 }, () => watch(cgroup, limit)));
    for (const { owner } of closed) owner.close();
    const kept = await watch(cgroup, limit);
    await hog.take(64);
    await until('the one that is open', () => kept.wakes.length > 0);
    await pause(100);
    expect(closed.flatMap(({ wakes }) => wakes)).toEqual([]);
    await removeCgroup(cgroup); // EBUSY for ever if the kernel held a reference
  });

  test('can watch the root cgroup', async () => {
    expect((await watch(memoryV1, Number.MAX_SAFE_INTEGER)).owner.live).toBe(true);
  });

  test('is ENOENT with the file for a missing cgroup', () => {
    expect(thrownBy(() => open('/sys/fs/cgroup/memory/evictd-test-none', MiB))).toMatchObject({
      code: 'ENOENT',
      errno: -2,
      syscall: 'open',
      path: '/sys/fs/cgroup/memory/evictd-test-none/memory.usage_in_bytes',
      message: "ENOENT: no such file or directory, open '/sys/fs/cgroup/memory/evictd-test-none/memory.usage_in_bytes'",
    });
    expect(native.watchCount()).toBe(0);
  });

  test('does not exist for a cgroup of another hierarchy', () => {
    expect(thrownBy(() => open('/sys/fs/cgroup/freezer', MiB))).toMatchObject({ code: 'ENOENT', syscall: 'open' });
  });
});

describe.runIf(hasMemoryV1)('the registration of a v1 memory threshold', () => {
  test('is made without waiting, and MOVED reports it', async () => {
    const cgroup = makeCgroup(memoryV1);
    const opened = () => {
      occupyArmer(cgroup);
      const made = open(cgroup, 16 * MiB);
      return { ...made, first: [made.owner.armed, made.owner.live] };
    };
    let { owner, wakes, first } = opened();
    // On a busy machine it may be its turn before the next line runs.
    while (first[0] !== undefined) ({ owner, wakes, first } = opened());
    expect(first).toEqual([undefined, true]);
    await until('the registration', () => wakes.length > 0);
    expect(wakes).toMatchObject([{ bits: FIRED, detail: MOVED }]);
    expect(owner.armed).toBe(BigInt(16 * MiB));
    expect(owner.status()).toMatchObject({ live: true, errno: 0 });
  });

  test('that is moved fires at the new limit, and no longer at the old one', async () => {
    const cgroup = makeCgroup(memoryV1);
    const hog = await startHog(cgroup);
    const base = usage(cgroup);
    const { owner, wakes } = await watch(cgroup, base + 24 * MiB);
    owner.move(BigInt(base + 96 * MiB));
    await until('the move', () => owner.armed === BigInt(base + 96 * MiB));
    await hog.take(48);
    await pause(100);
    expect(wakes).toEqual([]); // nor for the move: usage was below the limit
    await hog.take(64);
    await until('the new limit', () => wakes.length > 0);
    expect(wakes[0]).toMatchObject({ bits: FIRED, detail: 0 });
  });

  test('reports the move also if the new limit is already crossed, so that the caller reads', async () => {
    const cgroup = makeCgroup(memoryV1);
    const hog = await startHog(cgroup);
    const { owner, wakes } = await watch(cgroup, usage(cgroup) + 256 * MiB);
    await hog.take(64);
    owner.move(BigInt(32 * MiB));
    await until('the move', () => wakes.length > 0);
    expect(wakes[0]).toMatchObject({ bits: FIRED, detail: MOVED });
    expect(wakes[0]?.usage).toBeGreaterThan(32 * MiB);
  });

  test('that is moved during a move has the last limit', async () => {
    const cgroup = makeCgroup(memoryV1);
    const { owner, wakes } = await watch(cgroup, 16 * MiB);
    for (let i = 1; i <= 50; i++) owner.move(BigInt((16 + i) * MiB));
    await until('the last', () => owner.armed === BigInt(66 * MiB));
    await pause(100);
    expect(wakes.length).toBeLessThan(10);
    expect(owner.armed).toBe(BigInt(66 * MiB));
  });

  test('never misses a crossing during moves, because the last wake sees it', async () => {
    const cgroup = makeCgroup(memoryV1);
    const hog = await startHog(cgroup);
    const base = usage(cgroup);
    const { owner, wakes } = await watch(cgroup, base + 24 * MiB);
    const moving = setInterval(() => {
      owner.move(BigInt(base + (wakes.length % 2 ? 24 : 32) * MiB));
    }, 1);
    await hog.take(64);
    clearInterval(moving);
    await until('a wake beyond the limits', () => (wakes.at(-1)?.usage ?? 0) > base + 32 * MiB);
  });

  test('cannot be moved without a free descriptor, which is reported, and keeps the old limit', async () => {
    const cgroup = makeCgroup(memoryV1);
    const { status, output } = await runNode(`
      const said = [];
      const owner = new native.MemcgThreshold(${JSON.stringify(cgroup)}, 16n << 20n, (bits, atNs, detail) => {
        said.push([detail, owner.status().errno, Number(owner.armed >> 20n)]);
        if (said.length === 1) {
          const taken = [];
          try { for (;;) taken.push(fs.openSync('/dev/null')); } catch (error) { if (error.code !== 'EMFILE') throw error; }
          owner.move(32n << 20n);
          const free = () => { for (const fd of taken.splice(0)) fs.closeSync(fd); };
          setTimeout(function wait() { if (said.length > 1) free(); else setTimeout(wait, 5); }, 5);
        } else if (said.length === 2) {
          setTimeout(function wait() { owner.move(32n << 20n); }, 100);
        } else {
          owner.close();
          console.log(JSON.stringify(said));
        }
      });
    `);
    expect({ status, output: JSON.parse(output) as unknown }).toEqual({
      status: 0,
      output: [
        [MOVED, 0, 16],
        [REFUSED, 24, 16],
        [MOVED, 0, 32],
      ],
    });
  });

  test('of a cgroup that is removed before its turn is GONE', async () => {
    const removed = async () => {
      occupyArmer(makeCgroup(memoryV1));
      const cgroup = makeCgroup(memoryV1);
      const opened = open(cgroup, MiB);
      rmdirSync(cgroup);
      await until('GONE', () => !opened.owner.live && opened.wakes.length > 0);
      return opened;
    };
    let { owner, wakes } = await removed();
    // On a busy machine it may be its turn before the removal: it was armed then.
    while (owner.status().errno === 0) ({ owner, wakes } = await removed());
    expect(wakes).toMatchObject([{ bits: GONE }]);
    expect(owner.status()).toMatchObject({ live: false, errno: 19 });
    owner.move(1n);
    expect(owner.armed).toBe(undefined);
  });

  test('that is closed before it is armed is never armed and calls nothing, and close() may be called twice and in the callback', async () => {
    const cgroup = makeCgroup(memoryV1);
    const others = occupyArmer(cgroup);
    const { owner, wakes } = open(cgroup, MiB);
    owner.close();
    owner.close();
    owner.move(1n);
    let calls = 0;
    const inner = closing(
      new native.MemcgThreshold(cgroup, 1n << 20n, () => {
        calls++;
        inner.move(2n << 20n);
        inner.close();
        inner.close();
      }),
    );
    await until('the others and this one', () => calls > 0 && others.every(({ wakes }) => wakes.length > 0));
    await pause(100);
    expect([wakes, calls]).toEqual([[], 1]);
  });
});
