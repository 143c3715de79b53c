import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { departuresOf, type Departures } from '../../../../src/core/decide/departures.js';
import type { CgroupHierarchy } from '../../../../src/core/workload/cgroup.js';
import { machineMemory } from '../../../../src/host/linux/memory/machine-memory.js';
import {
  availableOf,
  lowWatermark,
  sampledAt,
  sampledLimit,
  usedOf,
  type MemoryReading,
} from '../../../../src/host/linux/memory/memory.js';
import { valueOf } from '../../../../src/host/linux/sampling/file-sum.js';
import { KernelPass, type KernelSource, type Missing } from '../../../../src/host/linux/sampling/kernel-source.js';
import { native } from '../../../../src/native/index.js';
import { MIXED_MEMINFO, meminfoText, type Meminfo } from '../../../support/meminfo.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';
import { readPlayed } from './played-files.js';

const KiB = 1024;
const MiB = 1024 * KiB;

const v1: CgroupHierarchy = { version: 1, controller: 'memory', mountPoint: '/sys/fs/cgroup/memory', root: '/' };
const kubelet = departuresOf('kubelet');
const evictd = departuresOf('evictd');

function read(departures: Departures, fields: Meminfo, v1Root?: CgroupHierarchy, others = {}): MemoryReading | Missing {
  const meminfo = Object.fromEntries(Object.entries(fields).map(([key, kib]) => [key, kib * KiB]));
  const again = () => ({ meminfo: meminfoText(fields), zoneinfo: 'Node 0, zone Normal\n        managed  247575\n' });
  const source = machineMemory(departures, v1Root, { meminfo: meminfoText(fields), arcstats: undefined }, again);
  return readPlayed(source, { '/proc/meminfo': meminfo, ...others });
}

function available(...given: Parameters<typeof read>): number {
  const reading = read(...given);
  if ('missing' in reading) throw new Error(reading.missing);
  return Number(availableOf(reading));
}

/** Linux 6.12, 1 GiB, cgroup v2. */
const quiet = {
  MemTotal: 990300,
  MemFree: 604604,
  MemAvailable: 718176,
  Buffers: 3656,
  Cached: 133560,
  SwapCached: 0,
  'Active(file)': 22888,
  'Inactive(file)': 108308,
  AnonPages: 213520,
};

test("as on a kubelet, usage is anonymous + file pages − Inactive(file) of the root's memory.stat (Linux 6.12: 248233984)", () => {
  const reading = read(kubelet, quiet) as MemoryReading;
  expect(usedOf(reading)).toBe(248246272n);
  expect(availableOf(reading)).toBe(BigInt(990300 * KiB) - 248246272n);
});

/** Swap of 9.6 GiB on zram is full, at 3:1: 3.2 GiB of pool. 80 MiB are free. Worked out for a machine of 8 GiB. */
const fullZram = {
  MemTotal: 8 * 1024 * 1024,
  MemFree: 80 * 1024,
  MemAvailable: 40 * 1024,
  Buffers: 0,
  Cached: 60 * 1024,
  SwapCached: 0,
  'Active(file)': 30 * 1024,
  'Inactive(file)': 20 * 1024,
  AnonPages: 4_823_449,
};

describe('kernel-memory and reclaimable-cache', () => {
  const kept = lowWatermark(quiet.MemTotal * KiB);
  test.each<[kernel: boolean, cache: boolean, expected: number]>([
    [false, false, (990300 - 213520 - 133560 - 3656 + 108308) * KiB],
    [false, true, (990300 - 213520 - 133560 - 3656 + 108308 + 22888) * KiB - kept],
    [true, true, 718176 * KiB],
    [true, false, (718176 - 22888) * KiB],
  ])('with departure kernel-memory %s and departure reclaimable-cache %s the available memory is computed', (kernel, cache, expected) => {
    expect(available({ ...kubelet, 'kernel-memory': kernel, 'reclaimable-cache': cache }, quiet)).toBe(expected);
  });

  const GiB = 1024 * 1024; // in KiB
  const database = { ...quiet, MemTotal: 64 * GiB, MemAvailable: 5 * GiB };
  test.each([
    { of: 'without huge pages', fields: database, departures: evictd, capacity: 64 },
    { of: 'with 58 GiB of them', fields: { ...database, Hugetlb: 58 * GiB }, departures: evictd, capacity: 6 },
    {
      of: "with those of another machine, in a container's meminfo",
      fields: { ...database, Hugetlb: 60 * GiB },
      departures: evictd,
      capacity: 64,
    },
    { of: 'on a kubelet', fields: { ...database, Hugetlb: 58 * GiB }, departures: kubelet, capacity: 64 },
  ])('the capacity is $capacity of 64 GiB $of', ({ fields, departures, capacity }) => {
    const reading = read(departures, fields) as MemoryReading;
    expect(reading.capacity).toBe(BigInt(capacity * GiB * KiB));
    if (departures === evictd) expect(availableOf(reading)).toBe(BigInt(5 * GiB * KiB));
  });

  test('the pool of a full zram is not available', () => {
    expect(available(kubelet, fullZram)).toBeGreaterThan(3.2 * 1024 * MiB);
    expect(available(evictd, fullZram)).toBe(40 * MiB);
  });

  test.each([
    { kernel: true, cache: true },
    { kernel: true, cache: false },
  ])('without MemAvailable available memory is computed as in the kubelet (%o)', ({ kernel, cache }) => {
    const { MemAvailable: _masked, ...masked } = quiet;
    const departures = { ...kubelet, 'kernel-memory': kernel, 'reclaimable-cache': cache };
    expect(available(departures, masked)).toBe(available(kubelet, quiet));
  });

  test('more active cache than MemAvailable leaves nothing available', () => {
    const busy = { ...quiet, MemAvailable: 20_000, MemFree: 10_000 };
    expect(available({ ...evictd, 'reclaimable-cache': false }, busy)).toBe(0);
  });
});

describe('the sampled value', () => {
  const kinds = [
    { ...kubelet },
    { ...kubelet, 'reclaimable-cache': true },
    { ...kubelet, 'kernel-memory': true },
    { ...evictd },
  ] satisfies Departures[];
  const sampledOf = (departures: Departures, fields: Meminfo) => {
    // The watermark that is kept is that of the start, whatever a balloon does.
    const source = machineMemory(departures, undefined, { meminfo: meminfoText(quiet), arcstats: '/arcstats' });
    const files = {
      '/proc/meminfo': Object.fromEntries(Object.entries(fields).map(([key, kib]) => [key, kib * KiB])),
      '/arcstats': { size: 300 * MiB, c_min: 100 * MiB },
    };
    const reading = readPlayed(source, files);
    const { sampled } = source;
    const value = readPlayed({ files: sampled.files, read: (values) => valueOf(sampled, values) }, files);
    if ('missing' in reading) throw new Error(reading.missing);
    return { value, reading, sampled };
  };

  test.each(kinds)('is −1 × the available memory, as a pass reads it: %#', (departures) => {
    const { value, reading, sampled } = sampledOf(departures, quiet);
    expect(value).toBe(-Number(availableOf(reading)));
    expect(value).toBe(Number(sampledAt(sampled, reading)));
    expect(BigInt(value) >= sampledLimit(sampled, reading.capacity, availableOf(reading))).toBe(false);
    expect(BigInt(value) >= sampledLimit(sampled, reading.capacity, availableOf(reading) + 1n)).toBe(true);
  });

  test.each(kinds)('reaches the limit of before if a balloon takes the memory: %#', (departures) => {
    const before = sampledOf(departures, quiet);
    const balloon = 400 * KiB;
    const { MemTotal, MemFree, MemAvailable } = quiet;
    const inflated = { MemTotal: MemTotal - balloon, MemFree: MemFree - balloon, MemAvailable: MemAvailable - balloon };
    const after = sampledOf(departures, { ...quiet, ...inflated });
    expect([after.value - before.value, usedOf(after.reading)]).toEqual([400 * MiB, usedOf(before.reading)]);
    const limit = (threshold: bigint) => sampledLimit(before.sampled, before.reading.capacity, threshold);
    const left = availableOf(after.reading);
    expect([BigInt(after.value) >= limit(left), BigInt(after.value) >= limit(left + 1n)]).toEqual([false, true]);
  });
});

describe('cgroup v1', () => {
  const usage = '/sys/fs/cgroup/memory/memory.usage_in_bytes';

  test('the usage of a threshold is the usage at which MemAvailable is used up', () => {
    const reading = read(evictd, quiet, v1, { [usage]: 350_000 * KiB }) as MemoryReading;
    expect(reading.usage).toBe(BigInt(350_000 * KiB));
    expect(availableOf(reading)).toBe(BigInt(quiet.MemAvailable * KiB));
    expect(reading.capacity - usedOf(reading)).toBe(BigInt(quiet.MemAvailable * KiB));
    // capacity − threshold + reclaimable − usage: what may still be taken
    const threshold = BigInt(100 * MiB);
    expect(reading.capacity - threshold + reading.reclaimable - reading.usage).toBe(BigInt(quiet.MemAvailable * KiB - 100 * MiB));
  });

  test('as on a kubelet, the usage and the statistics of the root are used', () => {
    const stat = { total_rss: 200 * MiB, total_cache: 150 * MiB, total_inactive_file: 50 * MiB };
    const files = { [usage]: 350 * MiB, '/sys/fs/cgroup/memory/memory.stat': stat };
    expect(available(kubelet, quiet, v1, files)).toBe(990300 * KiB - 300 * MiB);
  });

  test('without the usage there is no reading', () => {
    expect(read(evictd, quiet, v1)).toEqual({ missing: `${usage}: ENOENT (no such file or directory)` });
  });
});

describe('a meminfo that mixes two machines', () => {
  test('has the MemAvailable of the container', () => {
    expect(available(evictd, MIXED_MEMINFO)).toBe(1650000 * KiB);
  });

  test('gives no reading, and not 0, if the pages exceed all memory', () => {
    const missing = '/proc/meminfo mixes two machines (lxcfs?): AnonPages + Cached + Buffers are more than MemTotal';
    expect(read(kubelet, MIXED_MEMINFO)).toEqual({ missing });
    expect(read(kubelet, { ...MIXED_MEMINFO, MemFree: 0, AnonPages: 2097152 - 80000 })).not.toHaveProperty('missing');
    expect(read(kubelet, { ...MIXED_MEMINFO, MemFree: 0, AnonPages: 2097152 - 80000 + 1 })).toEqual({ missing });
  });

  const OF_PAGES = [
    { ...kubelet },
    { ...kubelet, 'reclaimable-cache': true },
    { ...evictd, 'kernel-memory': false },
  ] satisfies Departures[];
  test.each(OF_PAGES)('gives no reading if used and free pages exceed all memory, wherever pages are counted: %#', (departures) => {
    // What the counters of the processors may lack: a twentieth of MemTotal.
    const most = 2097152 + 104857 - 80000 - MIXED_MEMINFO.MemFree;
    const fields = { ...MIXED_MEMINFO, 'Active(file)': 0 };
    const missing = '/proc/meminfo mixes two machines (lxcfs?): AnonPages + Cached + Buffers + MemFree are more than MemTotal';
    expect(read(departures, { ...fields, AnonPages: most + 1 })).toEqual({ missing });
    expect(read(departures, { ...fields, AnonPages: most })).not.toHaveProperty('missing');
  });

  test('gives a reading if memory was only allocated while the kernel wrote the file', () => {
    const fields = { ...MIXED_MEMINFO, AnonPages: 2000000 };
    const again = () => ({ meminfo: meminfoText({ ...fields, MemFree: 10000 }), zoneinfo: '' });
    const source = machineMemory(kubelet, undefined, { meminfo: meminfoText(fields), arcstats: undefined }, again);
    const bytes = Object.fromEntries(Object.entries(fields).map(([key, kib]) => [key, kib * KiB]));
    expect(readPlayed(source, { '/proc/meminfo': bytes })).not.toHaveProperty('missing');
  });

  const mixed = (how: string) => ({ missing: `/proc/meminfo mixes two machines (lxcfs?): ${how}` });
  test.each<[how: string, departures: Departures, fields: Partial<typeof quiet>]>([
    ['MemAvailable is more than MemTotal', evictd, { MemAvailable: 990301 }],
    ["MemAvailable is less than MemFree − the kernel's reserve", evictd, { MemAvailable: 0 }],
    ['MemTotal is 0', evictd, { MemTotal: 0, MemAvailable: 0 }],
    ['Inactive(file) is more than Cached + Buffers', kubelet, { 'Inactive(file)': 133560 + 3656 + 9904 }],
  ])('gives no reading: %s', (how, departures, fields) => {
    expect(read(departures, { ...quiet, ...fields })).toEqual(mixed(how));
  });

  test.each<[Departures, Partial<typeof quiet>]>([
    [evictd, { MemAvailable: 990300 }],
    [evictd, { MemAvailable: 0, MemFree: 40_000 }],
    [kubelet, { 'Inactive(file)': 133560 + 3656 + 9900 }],
  ])('gives a reading if the values are possible', (departures, fields) => {
    expect(read(departures, { ...quiet, ...fields })).not.toHaveProperty('missing');
  });
});

/** The kstat of OpenZFS 2.1, shortened: 3 GiB of cache that can shrink to 1 GiB. */
const arcstats = (size: number): string =>
  [
    '13 1 0x01 123 33456 5231340871 7300218113',
    'name                            type data',
    'hits                            4    9117',
    `c_min                           4    ${String(1024 * MiB)}`,
    `size                            4    ${String(size)}`,
    'memory_available_bytes          3    -1',
    '',
  ].join('\n');

describe('the ZFS cache', () => {
  const open = (): string => {
    const directory = temporaryDirectory();
    const file = join(directory, 'arcstats');
    writeFileSync(file, arcstats(3072 * MiB));
    return file;
  };

  test.each<[rule: string, size: number, extra: number]>([
    ['the part that it can shrink by', 3072 * MiB, 2048 * MiB],
    ['nothing at its minimum', 1024 * MiB, 0],
    ['below its least, too', 100 * MiB, 0],
  ])('counts as available: %s', (_rule, size, extra) => {
    const machine = { ...quiet, MemTotal: 8 * 1024 * 1024 };
    const source = machineMemory(evictd, undefined, { meminfo: meminfoText(machine), arcstats: '/arcstats' });
    const meminfo = Object.fromEntries(Object.entries(machine).map(([key, kib]) => [key, kib * KiB]));
    const reading = readPlayed(source, { '/proc/meminfo': meminfo, '/arcstats': { size, c_min: 1024 * MiB } }) as MemoryReading;
    expect(availableOf(reading)).toBe(BigInt(quiet.MemAvailable * KiB + extra));
    expect(source.description).toContain('MemAvailable of /proc/meminfo + size − c_min of ');
  });

  test('is read in one pass with the other files', () => {
    const source: KernelSource<number[]> = {
      files: [{ path: open(), format: 'kstat', keys: ['size', 'c_min'] }],
      read: (values) => [...values],
    };
    const pass = new KernelPass(native, [source]);
    onTestFinished(() => {
      pass.close();
    });
    pass.read();
    expect(pass.of(source)).toEqual([3072 * MiB, 1024 * MiB]);
  });

  test('does not count without its statistics', () => {
    const file = open();
    const source = machineMemory(evictd, undefined, { meminfo: meminfoText(quiet), arcstats: file });
    rmSync(file);
    const pass = new KernelPass(native, [source]);
    onTestFinished(() => {
      pass.close();
    });
    pass.read();
    const reading = pass.of(source);
    expect('missing' in reading ? reading.missing : availableOf(reading)).toBeGreaterThan(0n);
  });
});
