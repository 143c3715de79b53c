import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { CurrentStatistics } from '../../../../src/host/linux/memory/fresh-memory.js';
import type { MemoryReading, Statistics } from '../../../../src/host/linux/memory/memory.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

const MIB = 1 << 20;
let directory: string;

beforeEach(() => {
  directory = temporaryDirectory();
});

/** A cgroup whose memory.stat has this inactive_file; v1 has what lies below in another field. */
function cgroup(path: string, inactiveMib: number, activeMib = 0): void {
  mkdirSync(join(directory, path), { recursive: true });
  const counts = `inactive_file ${String(inactiveMib * MIB)}\nactive_file ${String(activeMib * MIB)}\n`;
  writeFileSync(join(directory, path, 'memory.stat'), `cache 1\n${counts}total_inactive_file 12345\n`);
}

const statistics = (version: 1 | 2, of = directory): Statistics => ({
  directory: of,
  version,
  keys: ['inactive_file', 'active_file'],
  explained: { files: [], weights: [] },
  reclaimableOf: ([inactive = 0, active = 0]) => BigInt(inactive + Math.max(active - 16 * MIB, 0)),
});

const mib = (count: number): bigint => BigInt(count * MIB);

/** Read of the cgroup, in MiB. */
const reading = (usage: number, reclaimable: number, pages: number): MemoryReading => {
  return { capacity: mib(512), usage: mib(usage), reclaimable: mib(reclaimable), pages: mib(pages) };
};

/** As the kernel was seen: 142 MiB of page cache in the usage, and none in the statistics of the cgroup above. */
function behind(version: 1 | 2): CurrentStatistics {
  cgroup('', version === 1 ? 1 : 0);
  cgroup('pod', version === 1 ? 2 : 20); // v2: of all below, and that may be behind, too
  cgroup('pod/container', 120);
  cgroup('other', 20);
  return new CurrentStatistics(statistics(version));
}

describe.each([1, 2] as const)('statistics that lag behind the usage (v%i)', (version) => {
  const below = version === 1 ? 143 : 140;

  test('are replaced by those of the cgroups that have the pages', () => {
    const fresh = behind(version);
    expect(fresh.of(reading(150, 0, 2))).toEqual({ ...reading(150, 0, 2), reclaimable: mib(below) });
    expect(fresh.isBehind).toBe(true);
  });

  test('are added up before reclaimable memory is computed', () => {
    const fresh = behind(version);
    cgroup('other', 20, 15);
    cgroup('pod/container', 120, 15);
    expect(fresh.of(reading(180, 0, 2)).reclaimable).toBe(mib(below + 14));
  });

  test('are used alone when they are up to date', () => {
    const fresh = behind(version);
    fresh.of(reading(150, 0, 2));
    rmSync(join(directory, 'pod'), { recursive: true });
    expect(fresh.of(reading(150, 140, 148))).toEqual(reading(150, 140, 148));
    expect(fresh.isBehind).toBe(false);
  });

  test('do not explain the memory of the kernel, which is found with one walk', () => {
    const fresh = behind(version);
    expect(fresh.of(reading(400, 140, 200))).toEqual(reading(400, 140, 200));
    cgroup('other', 300);
    expect(fresh.of(reading(405, 140, 200))).toEqual(reading(405, 140, 200));
    expect(fresh.of(reading(420, 140, 200)).reclaimable).toBeGreaterThan(mib(400));
  });

  test('are read again in the tree when the kernel has freed memory', () => {
    const fresh = behind(version);
    fresh.of(reading(400, 140, 200));
    fresh.of(reading(220, 140, 200));
    cgroup('other', 300);
    expect(fresh.of(reading(400, 140, 200)).reclaimable).toBeGreaterThan(mib(400));
  });
});

test('a lag of less than 8 MiB is normal for the kernel', () => {
  const fresh = behind(1);
  expect(fresh.of(reading(10, 0, 2))).toEqual(reading(10, 0, 2));
});

test('cgroups that are removed meanwhile have no pages', () => {
  expect(new CurrentStatistics(statistics(1, join(directory, 'gone'))).of(reading(150, 0, 2))).toEqual(reading(150, 0, 2));
});

test('a reading without its page counts is unchanged', () => {
  const { pages: _none, ...machine } = reading(150, 0, 2);
  expect(behind(1).of(machine)).toEqual(machine);
});

test('a tree with more cgroups than the limit leaves the reading unchanged', () => {
  const fresh = behind(1);
  for (let index = 0; index < 1_000; index++) mkdirSync(join(directory, 'pod', String(index)));
  expect(fresh.of(reading(150, 0, 2))).toEqual(reading(150, 0, 2));
  expect(fresh.isBehind).toBe(false);
});
