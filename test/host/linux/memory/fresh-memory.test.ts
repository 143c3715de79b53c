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

describe.each([1, 2] as const)('statistics that are behind usage (v%i)', (version) => {
  const below = version === 1 ? 143 : 140;

  test('inactive_file is that of the cgroups that have the pages', () => {
    const fresh = behind(version);
    expect(fresh.of(reading(150, 0, 2))).toEqual({ ...reading(150, 0, 2), reclaimable: mib(below) });
    expect(fresh.isBehind).toBe(true);
  });

  test('what counts is worked out of the sums, not of each cgroup', () => {
    const fresh = behind(version);
    cgroup('other', 20, 15);
    cgroup('pod/container', 120, 15);
    expect(fresh.of(reading(180, 0, 2)).reclaimable).toBe(mib(below + 14));
  });

  test('when they have come up nothing else is read', () => {
    const fresh = behind(version);
    fresh.of(reading(150, 0, 2));
    rmSync(join(directory, 'pod'), { recursive: true });
    expect(fresh.of(reading(150, 140, 148))).toEqual(reading(150, 140, 148));
    expect(fresh.isBehind).toBe(false);
  });

  test('usage that no statistics explain is the kernel’s memory, and walked for once', () => {
    const fresh = behind(version);
    expect(fresh.of(reading(400, 140, 200))).toEqual(reading(400, 140, 200));
    cgroup('other', 300);
    expect(fresh.of(reading(405, 140, 200))).toEqual(reading(405, 140, 200));
    expect(fresh.of(reading(420, 140, 200)).reclaimable).toBeGreaterThan(mib(400));
  });

  test('it is walked for again when the kernel has freed memory', () => {
    const fresh = behind(version);
    fresh.of(reading(400, 140, 200));
    fresh.of(reading(220, 140, 200));
    cgroup('other', 300);
    expect(fresh.of(reading(400, 140, 200)).reclaimable).toBeGreaterThan(mib(400));
  });
});

test('less than 8 MiB is what the kernel leaves open itself', () => {
  const fresh = behind(1);
  expect(fresh.of(reading(10, 0, 2))).toEqual(reading(10, 0, 2));
});

test('cgroups that go meanwhile have nothing', () => {
  expect(new CurrentStatistics(statistics(1, join(directory, 'gone'))).of(reading(150, 0, 2))).toEqual(reading(150, 0, 2));
});

test('a reading without its pages is as it is', () => {
  const { pages: _none, ...machine } = reading(150, 0, 2);
  expect(behind(1).of(machine)).toEqual(machine);
});

test('a tree with more cgroups than are looked through leaves the reading as it is', () => {
  const fresh = behind(1);
  for (let index = 0; index < 1_000; index++) mkdirSync(join(directory, 'pod', String(index)));
  expect(fresh.of(reading(150, 0, 2))).toEqual(reading(150, 0, 2));
  expect(fresh.isBehind).toBe(false);
});
