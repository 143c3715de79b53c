import { execFileSync } from 'node:child_process';
import { rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { valueOf } from '../../src/host/linux/sampling/file-sum.js';
import type { FileSpec, SampledValue, SamplerOptions } from '../../src/native/index.js';
import { native } from '../../src/native/index.js';
import {
  after,
  closing,
  hasMemoryV1,
  makeCgroup,
  makeDirectory,
  makeNumberFile,
  memoryV1,
  pause,
  startHog,
  thrownBy,
  until,
} from './kernel.js';

const number = (path: string): FileSpec => ({ path, format: 'number' });

/** A rate that is nothing beside the distances here: a fixed period of 5 ms. */
const STEADY = { maxRatePerSecond: 1, maxPeriodMs: 5 };

function open(options: SamplerOptions) {
  const wakes: { bits: number; atNs: bigint; detail: number }[] = [];
  const owner = new native.Sampler(options, (bits, atNs, detail) => wakes.push({ bits, atNs, detail }));
  return { owner: closing(owner), wakes };
}

const sample = (files: readonly FileSpec[], weights: readonly number[], limits: readonly number[]) =>
  open({ files, weights, limits, ...STEADY });

/**
 * Until several samples have been taken: one beside it, on the same thread and slower than any here, has seen its file
 * change four times.
 */
async function samples(): Promise<void> {
  const file = makeNumberFile(0);
  const witness = open({ files: [number(file.path)], weights: [1], limits: [1], maxRatePerSecond: 1, maxPeriodMs: 20 });
  for (let changes = 1; changes <= 4; changes++) {
    file.show(changes % 2);
    await until('a sample', () => witness.wakes.length === changes);
  }
  witness.owner.close();
}

describe('reclaimable memory in the sampler', () => {
  /** used − (cache − min(cache / 2, 10)) − (slab − min(slab / 2, 1000)) */
  test.each<[rule: string, used: number, cache: number, slab: number, value: number]>([
    ['is all but the reserve', 120, 30, 0, 100],
    ['a half, if that is less', 120, 12, 0, 114],
    ['half of an odd number, rounded down to what is kept', 120, 7, 0, 116],
    ['is computed for each part by itself', 1000, 30, 60, 950],
    ['a sum below 0 counts as 0', 120, -50, 0, 120],
  ])('%s', async (_rule, used, cache, slab, value) => {
    const files = [makeNumberFile(used), makeNumberFile(Math.max(cache, 0)), makeNumberFile(Math.max(-cache, 0)), makeNumberFile(slab)];
    const sum = {
      files: files.map(({ path }) => number(path)),
      weights: [1, 0, 0, 0],
      reclaimable: [
        { weights: [0, 1, -1, 0], kept: 10 },
        { weights: [0, 0, 0, 1], kept: 1000 },
      ],
    };
    expect(valueOf(sum, Float64Array.of(used, Math.max(cache, 0), Math.max(-cache, 0), slab))).toBe(value);
    const { wakes } = open({ ...sum, limits: [value], ...STEADY });
    const beyond = open({ ...sum, limits: [value + 0.5], ...STEADY });
    await samples();
    expect([wakes.length, beyond.wakes.length]).toEqual([1, 0]);
  });

  test('is added up without a limit of "max" that has no weight', async () => {
    const file = makeNumberFile(100);
    const none = makeNumberFile(0);
    writeFileSync(none.path, 'max\n');
    const { wakes } = open({ files: [number(file.path), number(none.path)], weights: [1, 0], limits: [100], ...STEADY });
    await samples();
    expect(wakes).toHaveLength(1);
  });
});

describe('the sampler', () => {
  test('reports a crossing if the first sample is beyond a limit, because the crossing may have happened since it was armed', async () => {
    const file = makeNumberFile(150);
    const { wakes, owner } = sample([number(file.path)], [1], [100, 200]);
    await samples();
    expect(wakes).toHaveLength(1);
    owner.setLimits([200]);
    file.show(250); // before the next sample
    await samples();
    expect(wakes).toHaveLength(2);
  });

  test('samples a value below 0, as what is available × −1: it approaches a limit, crosses it, and is seen below it', async () => {
    const available = makeNumberFile(301);
    const options = { files: [number(available.path)], weights: [-1], limits: [-99], noticeDistance: 200, ...STEADY };
    const { wakes, owner } = open(options);
    const details = () => wakes.splice(0).map(({ detail }) => detail);
    await samples();
    expect(details()).toEqual([]);
    available.show(299);
    await samples();
    expect(details()).toEqual([native.SAMPLER.APPROACHING]);
    available.show(99);
    await samples();
    expect(details()).toEqual([native.SAMPLER.CROSSED]);
    owner.seen(-100); // between two samples
    await samples();
    expect(details()).toEqual([native.SAMPLER.CROSSED]);
  });

  test('wakes at each crossing of a limit, in both directions', async () => {
    const file = makeNumberFile(99);
    const { wakes } = sample([number(file.path)], [1], [100, 200]);
    await pause(60);
    expect(wakes).toHaveLength(0);
    file.show(150);
    await samples();
    expect(wakes.splice(0)).toHaveLength(1);
    const before = process.hrtime.bigint();
    file.show(199);
    await samples();
    expect(wakes).toHaveLength(0);
    file.show(200);
    await samples();
    expect(wakes).toHaveLength(1); // at the limit is at or above it
    file.show(199);
    await samples();
    expect(wakes).toHaveLength(2);
    file.show(99);
    await samples();
    expect(wakes).toHaveLength(3);
    file.show(100);
    await samples();
    expect(wakes).toHaveLength(4);
    expect(wakes.every(({ bits, atNs }) => bits === native.WAKE.FIRED && atNs > before && atNs < process.hrtime.bigint())).toBe(true);
  });

  test('samples the weighted sum of the fields, in order', async () => {
    const [usage, inactive] = [makeNumberFile(1000), makeNumberFile(300)];
    const { wakes } = sample([number(usage.path), number(inactive.path)], [1, -1], [750]);
    usage.show(1049); // 749
    await samples();
    expect(wakes).toHaveLength(0);
    inactive.show(299);
    await until('750', () => wakes.length === 1);
  });

  test('replaces its limits by new ones', async () => {
    const file = makeNumberFile(150);
    const { wakes, owner } = sample([number(file.path)], [1], [160]);
    await pause(30);
    owner.setLimits([200, 170]);
    file.show(165);
    await samples();
    expect(wakes).toHaveLength(0);
    file.show(175);
    await samples(); // 160 is no limit any more, 170 is one
    expect(wakes).toHaveLength(1);
  });

  test('never wakes without limits', async () => {
    const file = makeNumberFile(1);
    const { wakes, owner } = sample([number(file.path)], [1], []);
    file.show(1e15);
    await samples();
    expect([wakes.length, owner.live]).toEqual([0, true]);
  });

  test.runIf(hasMemoryV1)('sees a real process grow and end', async () => {
    const cgroup = makeCgroup(memoryV1);
    const hog = await startHog(cgroup);
    const reader = closing(new native.FileReader([number(`${cgroup}/memory.usage_in_bytes`)]));
    reader.read();
    const { wakes } = sample([number(`${cgroup}/memory.usage_in_bytes`)], [1], [(reader.values[0] ?? 0) + (32 << 20)]);
    await pause(50);
    await hog.take(64);
    await until('the way up', () => wakes.length > 0);
    await samples(); // what the kernel charges ahead for a processor may come and go: more than one crossing
    const up = wakes.length;
    hog.end();
    await until('the way down', () => wakes.length > up);
  });

  test.runIf(hasMemoryV1)('is GONE once after its cgroup was removed', async () => {
    const cgroup = makeCgroup(memoryV1);
    const { wakes, owner } = sample([number(`${cgroup}/memory.usage_in_bytes`)], [1], [1 << 30]);
    rmdirSync(cgroup);
    await until('GONE', () => wakes.length > 0);
    await pause(100);
    expect(wakes.map(({ bits }) => bits)).toEqual([native.WAKE.GONE]);
    expect(owner.live).toBe(false);
    expect(() => owner.setLimits([1])).not.toThrow();
  });

  test('is GONE if the text is not a number any more', async () => {
    const file = makeNumberFile(1);
    const { wakes } = sample([number(file.path)], [1], [10]);
    writeFileSync(file.path, 'garbage\n');
    await samples();
    expect(wakes.map(({ bits }) => bits)).toEqual([native.WAKE.GONE]);
  });

  test('still reads an open file whose name was removed', async () => {
    const file = makeNumberFile(1);
    const { owner } = sample([number(file.path)], [1], [10]);
    rmSync(file.path);
    await pause(60);
    expect(owner.live).toBe(true);
  });

  test.each<[rule: string, options: object, code?: string]>([
    ['a weight too many', { weights: [1, 1] }],
    ['a missing weight', { weights: [] }],
    ['a weight too many in a reclaimable', { reclaimable: [{ weights: [1, 1], kept: 0 }] }],
    ['a reclaimable without what is kept', { reclaimable: [{ weights: [1] }] }, 'ERR_INVALID_ARG_TYPE'],
    ['reclaimables that are not a list', { reclaimable: {} }, 'ERR_INVALID_ARG_TYPE'],
    ['a period below 1 ms', { minPeriodMs: 0.5 }],
    ['a period that is not a number', { maxPeriodMs: NaN }],
    ['a shortest period above the longest', { minPeriodMs: 20, maxPeriodMs: 10 }],
    ['a rest of nothing', { restPeriodMs: 0 }],
    ['a rate of nothing', { maxRatePerSecond: 0 }],
    ['a rate from a rest of nothing', { restRatePerSecond: 0 }],
    ['a rate without end', { maxRatePerSecond: Infinity }],
    ['a missing rate', { maxRatePerSecond: undefined }, 'ERR_INVALID_ARG_TYPE'],
    ['an object that is not a filesystem', { filesystem: {}, field: 'inodesFree' }, 'ERR_INVALID_ARG_TYPE'],
    ['a field that no filesystem has', { filesystem: {}, field: 'files' }, 'ERR_INVALID_ARG_TYPE'],
  ])('refuses %s', (_rule, wrong, code = 'ERR_OUT_OF_RANGE') => {
    const options = { files: [{ path: '/proc/loadavg', format: 'loadavg' }], weights: [1], limits: [1], ...STEADY, ...wrong };
    expect(thrownBy(() => open(options as SamplerOptions))).toMatchObject({ code });
    expect(native.watchCount()).toBe(0);
  });

  test.each<[rule: string, spec: FileSpec, error: object]>([
    ['a file that does not exist', number('/proc/none'), { code: 'ENOENT', syscall: 'open', path: '/proc/none' }],
    [
      'a key that does not exist',
      { path: '/proc/meminfo', format: 'keyed', keys: ['MemNone'] },
      { code: 'ENODATA', path: '/proc/meminfo' },
    ],
    ['a file of another format', number('/proc/meminfo'), { code: 'EBADMSG', syscall: 'read', path: '/proc/meminfo' }],
  ])('reports %s as an error at the start', (_rule, spec, error) => {
    expect(thrownBy(() => sample([spec], [1], [1]))).toMatchObject(error);
    expect(native.watchCount()).toBe(0);
  });
});

/** The period after the first sample. */
async function periodOf(value: number, limits: readonly number[], options: Partial<SamplerOptions> = {}): Promise<number> {
  const files = [number(makeNumberFile(value).path)];
  const { owner } = open({ files, weights: [1], limits, maxRatePerSecond: 1000, ...options });
  await until('the first sample', () => owner.status().periodMs > 0);
  return owner.status().periodMs;
}

describe('the period of the sampler', () => {
  test.each<[rule: string, value: number, limits: number[], periodMs: number, options?: Partial<SamplerOptions>]>([
    ['a quarter of the time to the limit at the rate', 0, [1000], 250],
    ['is a quarter of the time to the nearest limit at the rate', 0, [5000, 400, 1000], 100],
    ['is at least the shortest', 0, [1], 1],
    ['is at least its own shortest', 0, [20], 7, { minPeriodMs: 7 }],
    ['is at most the longest', 0, [1_000_000], 10_000],
    ['is at most its own longest', 0, [1_000_000], 50, { maxPeriodMs: 50 }],
    ['is the longest without limits', 0, [], 10_000],
    ['beyond a limit 100 ms, to see it come back', 1_000_000, [1000], 100],
    ['is shorter than 100 ms beyond a limit if the next limit is near', 1000, [500, 1008], 2],
    ['a faster rate shortens it', 0, [1000], 25, { maxRatePerSecond: 10_000 }],
    ['for an idle value is its idle time', 0, [1], 300, { restPeriodMs: 300 }],
    ['is not shortened by an idle time', 0, [4000], 1000, { restPeriodMs: 300 }],
    ['is not longer than the longest because of an idle time', 0, [1], 50, { restPeriodMs: 300, maxPeriodMs: 50 }],
    ['is not longer than beyond a limit because of an idle time', 1000, [500, 1001], 100, { restPeriodMs: 300 }],
    ['for an idle value allows for the rate at which it may begin to rise', 0, [1000], 500, { restRatePerSecond: 500 }],
    [
      'for an idle value is its idle time, if that is later than its rate allows',
      0,
      [1000],
      600,
      { restRatePerSecond: 500, restPeriodMs: 600 },
    ],
    ['for an idle value is no shorter than at the assumed rate', 0, [1000], 250, { restRatePerSecond: 5000 }],
  ])('%s', async (_rule, value, limits, periodMs, options) => {
    expect(await periodOf(value, limits, options)).toBe(periodMs);
  });

  test('is unknown after close()', async () => {
    const { owner } = sample([number(makeNumberFile(1).path)], [1], [10]);
    await until('the first sample', () => owner.status().periodMs > 0);
    owner.close();
    expect(owner.status()).toMatchObject({ mechanism: 'sampler', live: false, periodMs: 0 });
  });

  test('is shortened for good by a faster rise than assumed, but a jump counts as eight times the assumed rate only', async () => {
    const file = makeNumberFile(0);
    const { owner } = open({ files: [number(file.path)], weights: [1], limits: [1e10], maxRatePerSecond: 10, maxPeriodMs: 20 });
    await samples();
    file.show(1e9);
    await samples();
    const other = open({ files: [number(file.path)], weights: [1], limits: [1e9 + 0.5], maxRatePerSecond: 10, maxPeriodMs: 20 });
    owner.setLimits([1e9 + 0.5]); // 50 ms away at 10 a second, 6.25 ms at 80
    await until('both to have looked', () => owner.status().periodMs < 20 && other.owner.status().periodMs > 0);
    expect([owner.status().periodMs, other.owner.status().periodMs]).toEqual([1.5625, 12.5]);
  });

  test('is not that of an idle value while it rises, and is again after it has stopped', async () => {
    let value = 900_000;
    const file = makeNumberFile(value);
    const options = { limits: [1e6], maxRatePerSecond: 1e9, restPeriodMs: 20 };
    const { owner } = open({ files: [number(file.path)], weights: [1], ...options });
    await until('it rests', () => owner.status().periodMs === 20);
    const rising = setInterval(() => {
      file.show((value = value < 990_000 ? value + 1000 : 900_000));
    }, 5);
    await until('it is looked at more often', () => owner.status().periodMs < 20).finally(() => {
      clearInterval(rising);
    });
    await until('it rests again', () => owner.status().periodMs === 20);
  });

  test('ends at once for new limits, however long it was', async () => {
    const file = makeNumberFile(150);
    const { wakes, owner } = open({ files: [number(file.path)], weights: [1], limits: [1e9], maxRatePerSecond: 1, maxPeriodMs: 3_600_000 });
    await until('the first sample', () => owner.status().periodMs === 3_600_000);
    owner.setLimits([100]);
    await until('the crossing', () => wakes.length === 1);
  });
});

describe('a value near a limit', () => {
  const { APPROACHING, CROSSED } = native.SAMPLER;

  /** Has seen a jump, so that its rate is the highest that it believes, 8 a µs: near is 16,000, far again 32,000. */
  async function nearing(limits: readonly number[]) {
    const file = makeNumberFile(0);
    const sampler = open({ files: [number(file.path)], weights: [1], limits: [], maxRatePerSecond: 1e6, maxPeriodMs: 20 });
    await samples();
    file.show(5e11);
    await samples();
    sampler.owner.setLimits(limits);
    const shown = async (value: number) => {
      file.show(value);
      await samples();
      return sampler.wakes.splice(0).map(({ detail }) => detail);
    };
    return { ...sampler, shown };
  }

  test('wakes evictd once, and again only after it has been far away', async () => {
    const { shown } = await nearing([1e12]);
    expect(await shown(1e12 - 16_000)).toEqual([]);
    expect(await shown(1e12 - 15_999)).toEqual([APPROACHING]);
    expect(await shown(1e12 - 31_999)).toEqual([]);
    expect(await shown(1e12 - 1)).toEqual([]);
    expect(await shown(1e12 - 32_000)).toEqual([]);
    expect(await shown(1e12 - 1)).toEqual([APPROACHING]);
  });

  test('approaches each limit separately, and does not approach one that it crosses back over', async () => {
    const { shown } = await nearing([6e11, 1e12]);
    expect(await shown(6e11)).toEqual([CROSSED]);
    expect(await shown(1e12 - 1)).toEqual([APPROACHING]);
    expect(await shown(1e12)).toEqual([CROSSED]);
    expect(await shown(1e12 - 1)).toEqual([CROSSED]);
    expect(await shown(6e11 - 1)).toEqual([CROSSED]);
  });

  test('beyond one limit and near the next causes one wake', async () => {
    const { shown } = await nearing([1e12, 1e12 + 10]);
    expect(await shown(1e12 + 1)).toEqual([CROSSED | APPROACHING]);
  });
});

describe('a value within noticeDistance of a limit', () => {
  const { APPROACHING, CROSSED } = native.SAMPLER;

  test('wakes evictd there, and each time the value has come nearer by a quarter', async () => {
    const file = makeNumberFile(0);
    const { wakes } = open({ files: [number(file.path)], weights: [1], limits: [1e6], noticeDistance: 1000, ...STEADY });
    const shown = async (value: number) => {
      file.show(value);
      await samples();
      return wakes.splice(0).map(({ detail }) => detail);
    };
    expect(await shown(1e6 - 1001)).toEqual([]);
    expect(await shown(1e6 - 1000)).toEqual([APPROACHING]);
    expect(await shown(1e6 - 751)).toEqual([]);
    expect(await shown(1e6 - 750)).toEqual([APPROACHING]);
    expect(await shown(1e6 - 400)).toEqual([APPROACHING]);
    expect(await shown(1e6 - 301)).toEqual([]);
    expect(await shown(1e6 - 802)).toEqual([]);
    expect(await shown(1e6 - 602)).toEqual([]);
    expect(await shown(1e6 - 601)).toEqual([APPROACHING]);
    expect(await shown(1e6 - 8000)).toEqual([]);
    expect(await shown(1e6 - 1001)).toEqual([]);
    expect(await shown(1e6 - 1000)).toEqual([APPROACHING]);
    expect(await shown(1e6)).toEqual([CROSSED]);
    expect(await shown(1e6 - 10)).toEqual([CROSSED]); // the way back is no approach
  });
});

describe('seen()', () => {
  test('lets a caller that has read a value below the limit be woken again if it is beyond it', async () => {
    const file = makeNumberFile(150);
    const { wakes, owner } = sample([number(file.path)], [1], [100]);
    await until('the crossing', () => wakes.length === 1);
    owner.seen(100); // at the limit is no news
    await samples();
    expect(wakes).toHaveLength(1);
    owner.seen(99);
    await until('the crossing again', () => wakes.length === 2);
    owner.close();
    expect(() => owner.seen(1)).not.toThrow();
  });

  test('keeps crossed limits crossed', async () => {
    const { wakes, owner } = sample([number(makeNumberFile(150).path)], [1], [100, 200]);
    await until('the crossing', () => wakes.length === 1);
    owner.seen(150);
    await samples();
    expect(wakes).toHaveLength(1);
  });
});

describe('a filesystem in the sampler', () => {
  const MiB = 1 << 20;

  function mountTmpfs() {
    const directory = makeDirectory();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,nr_inodes=100', 'evictd-test', directory]);
    after(() => void execFileSync('umount', [directory]));
    return { directory, stats: closing(new native.FilesystemStats(directory)) };
  }
  const watch = (value: SampledValue, limit: number) => open({ ...value, limits: [limit], ...STEADY });

  test.each<[field: 'availableBytes' | 'inodesFree', limit: number, fill: (directory: string) => void]>([
    [
      'availableBytes',
      4 * MiB,
      (directory) => {
        writeFileSync(join(directory, 'file'), Buffer.alloc(5 * MiB));
      },
    ],
    [
      'inodesFree',
      50,
      (directory) => {
        for (let n = 0; n < 60; n++) writeFileSync(join(directory, String(n)), '');
      },
    ],
  ])('wakes evictd when %s fall to their limit, with the reading that shows it', async (field, limit, fill) => {
    const { directory, stats } = mountTmpfs();
    const { wakes } = watch({ filesystem: stats, field }, 1 - limit);
    await until('the first reading', () => stats.read()[field] > limit);
    await samples();
    expect(wakes).toEqual([]);
    fill(directory);
    await until('the wake', () => wakes.length === 1);
    expect(wakes).toMatchObject([{ bits: native.WAKE.FIRED, detail: native.SAMPLER.CROSSED }]);
    expect(stats.read()[field]).toBeLessThan(limit);
  });

  test('answers a request meanwhile with its own reading', async () => {
    const { directory, stats } = mountTmpfs();
    // Often, so that many a request comes while a reading of theirs is under way.
    for (let n = 0; n < 8; n++) open({ filesystem: stats, field: 'inodesFree', limits: [-1], maxRatePerSecond: 1, maxPeriodMs: 1 });
    for (let round = 0; round < 500; round++) {
      const file = join(directory, 'file');
      if (round % 2 === 0) writeFileSync(file, '');
      else rmSync(file);
      await new Promise<void>((resolve) => {
        stats.request(resolve);
      });
      expect(stats.read().inodesFree).toBe(round % 2 === 0 ? 98 : 99); // the directory has one
    }
  });

  test('is GONE when its FilesystemStats is closed, and is refused if that is already closed', async () => {
    const { stats } = mountTmpfs();
    const { wakes, owner } = watch({ filesystem: stats, field: 'availableBytes' }, -1);
    stats.close();
    await until('GONE', () => wakes.length > 0);
    expect(wakes).toMatchObject([{ bits: native.WAKE.GONE }]);
    expect(owner.status()).toMatchObject({ live: false, errno: constants.errno.EBADF });
    expect(thrownBy(() => watch({ filesystem: stats, field: 'availableBytes' }, -1))).toMatchObject({ code: 'EBADF' });
  });

  test('is not GONE if it cannot be read, because it may come back', async () => {
    const directory = makeDirectory();
    const stats = closing(new native.FilesystemStats(join(directory, 'later')));
    const { wakes, owner } = watch({ filesystem: stats, field: 'availableBytes' }, 0);
    await until('ENOENT', () => stats.read().errno === constants.errno.ENOENT);
    expect([wakes, owner.live]).toEqual([[], true]);
    writeFileSync(join(directory, 'later'), '');
    await until('the limit, which any free byte is beyond', () => stats.read().errno === 0);
    expect(owner.live).toBe(true);
  });
});
