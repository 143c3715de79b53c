import { describe, expect, test } from 'vitest';
import type { MemoryReserve } from '../../../../src/core/signal/memory-reserve.js';
import type { Signal } from '../../../../src/core/signal/signal.js';
import { lintReach } from '../../../../src/config/lint/thresholds/reach.js';
import { Gi, Mi, threshold } from '../../../core/support.js';
import { machine, subject } from '../support.js';

const reserve = (overrides: Partial<MemoryReserve>): MemoryReserve => {
  return { totalBytes: 8n * Gi, minFreeBytes: 0n, hugePagesBytes: 0n, kernelBytes: 0n, ...overrides };
};

describe('memory that no process can allocate always counts as available', () => {
  test.each<[rule: string, limit: string, reserve: Partial<MemoryReserve>, code: string | undefined]>([
    ['exactly min_free_kbytes: less than that is never left', '64Mi', { minFreeBytes: 64n * Mi }, 'EVICTD_LINT_UNREACHABLE'],
    ['a threshold of one byte more can be met', '67108865', { minFreeBytes: 64n * Mi }, undefined],
    ['exactly the huge pages', '2Gi', { hugePagesBytes: 2n * Gi }, 'EVICTD_LINT_UNREACHABLE'],
    ['several kinds of such memory are added up', '2112Mi', { minFreeBytes: 64n * Mi, hugePagesBytes: 2n * Gi }, 'EVICTD_LINT_UNREACHABLE'],
    [
      'a threshold of one byte more than several kinds can be met',
      '2214592513',
      { minFreeBytes: 64n * Mi, hugePagesBytes: 2n * Gi },
      undefined,
    ],
    ['a percentage is worked out: 10% of 8Gi', '10%', { hugePagesBytes: 858_993_472n }, 'EVICTD_LINT_UNREACHABLE'],
    ['one byte less is reserved than the percentage', '10%', { hugePagesBytes: 858_993_471n }, undefined],
    [
      "the kernel's own memory of now only makes it unlikely",
      '100Mi',
      { minFreeBytes: 64n * Mi, kernelBytes: 36n * Mi },
      'EVICTD_LINT_KERNEL_MEMORY',
    ],
    ['a percentage of one byte more can be met', '104857601', { minFreeBytes: 64n * Mi, kernelBytes: 36n * Mi }, undefined],
    ['no memory is reserved', '1', {}, undefined],
  ])('%s', (_rule, limit, reserved, code) => {
    const found = lintReach(subject([threshold('memory.available', limit)]), machine({ reserve: reserve(reserved) }));
    expect(found.map((finding) => finding.code)).toEqual(code === undefined ? [] : [code]);
  });

  test.each<[rule: string, capacity: bigint, reserve: Partial<MemoryReserve>, message: string]>([
    [
      'min_free_kbytes',
      8n * Gi,
      { minFreeBytes: 128n * Mi },
      "memory.available: hard 100Mi is never met: min_free_kbytes 128MiB always counts as available, but no process can use it, so the kernel's OOM killer runs first",
    ],
    [
      'both',
      8n * Gi,
      { minFreeBytes: 64n * Mi, hugePagesBytes: 2n * Gi },
      "memory.available: hard 100Mi is never met: min_free_kbytes 64MiB + huge pages 2GiB = 2.06GiB always counts as available, but no process can use it, so the kernel's OOM killer runs first",
    ],
    [
      'a cgroup with a limit beyond the machine',
      9n * Gi,
      { minFreeBytes: 64n * Mi },
      "memory.available: hard 100Mi is never met: capacity 9GiB − (machine's memory 8GiB − min_free_kbytes 64MiB) = 1.06GiB always counts as available, but no process can use it, so the kernel's OOM killer runs first",
    ],
  ])('the finding shows the arithmetic: %s', (_rule, capacity, reserved, message) => {
    const facts = machine({ reserve: reserve(reserved), capacities: new Map([['memory.available', capacity]]) });
    expect(lintReach(subject([threshold('memory.available', '100Mi')]), facts)[0]?.message).toBe(message);
  });

  test.each<[rule: string, signal: Signal, capacity: bigint]>([
    ['a cgroup that the machine can fill has no floor', 'memory.available', 1n * Gi],
    ['a disk has none', 'nodefs.available', 8n * Gi],
  ])('%s', (_rule, signal, capacity) => {
    const facts = machine({ reserve: reserve({ minFreeBytes: 1n * Gi, kernelBytes: Gi }), capacities: new Map([[signal, capacity]]) });
    expect(lintReach(subject([threshold(signal, '100Mi')]), facts)).toEqual([]);
  });

  test('the kernel’s estimate does not contain memory that no process can allocate', () => {
    const reserved = reserve({ minFreeBytes: 1n * Gi, hugePagesBytes: 2n * Gi, kernelBytes: Gi });
    const capacities = new Map<Signal, bigint>([
      ['memory.available', 8n * Gi],
      ['allocatableMemory.available', 8n * Gi],
    ]);
    const facts = machine({ reserve: reserved, capacities, estimated: true });
    const found = (signal: Signal) => lintReach(subject([threshold(signal, '100Mi')]), facts).map(({ code }) => code);
    expect([found('memory.available'), found('allocatableMemory.available')]).toEqual([[], ['EVICTD_LINT_UNREACHABLE']]);
  });

  test.each<[rule: string, limit: string, reported: boolean]>([
    ['0.0% is kept and is nothing on every machine', '0.0%', true],
    ['one byte may be reserved', '1', false],
    ['a percentage of an unknown capacity', '0.1%', false],
  ])('the finding needs a machine: %s', (_rule, limit, reported) => {
    const found = lintReach(subject([threshold('memory.available', limit)]), undefined);
    expect(found.map(({ code }) => code)).toEqual(reported ? ['EVICTD_LINT_UNREACHABLE'] : []);
  });
});

describe('a threshold that is always met', () => {
  test.each<[rule: string, signal: Signal, limit: string, reported: boolean]>([
    ['the capacity itself: only a node without any use would not meet it', 'memory.available', '8Gi', true],
    ['a threshold of one byte less than the capacity', 'memory.available', '8589934591', false],
    ['more', 'memory.available', '9Gi', true],
    ['processes', 'pid.available', '1000', true],
    ['a threshold of one less than the capacity', 'pid.available', '999', false],
    ['100.0% does not switch a threshold off', 'nodefs.available', '100.0%', true],
  ])('%s', (_rule, signal, limit, reported) => {
    const found = lintReach(subject([threshold(signal, limit)]), machine());
    expect(found.map(({ code }) => code)).toEqual(reported ? ['EVICTD_LINT_ALWAYS_MET'] : []);
  });

  test('the finding shows the capacity', () => {
    expect(lintReach(subject([threshold('pid.available', '2k')]), machine())[0]?.message).toBe(
      'pid.available: hard 2k is met as soon as anything is in use: the capacity is 1000 processes',
    );
  });
});

describe('min reclaim that can never be paid back', () => {
  test.each<[rule: string, minReclaim: string, reported: boolean]>([
    ['threshold and min reclaim are the whole capacity', '7Gi', true],
    ['one byte less can be paid back', '7516192767', false],
    ['min reclaim of more than the capacity', '100%', true],
    ['7% of 8Gi and 1Gi', '7%', false],
  ])('%s', (_rule, minReclaim, reported) => {
    const found = lintReach(subject([threshold('memory.available', '1Gi', { minReclaim })]), machine());
    expect(found.map(({ code, key }) => [code, key])).toEqual(
      reported ? [['EVICTD_LINT_NEVER_REPAID', 'evictionMinimumReclaim.memory.available']] : [],
    );
  });

  test('the finding is reported once for the hard and the soft threshold, with the sum', () => {
    const minReclaim = '90%';
    const thresholds = [
      threshold('memory.available', '1Gi', { minReclaim }),
      threshold('memory.available', '2Gi', { minReclaim, graceSeconds: 9 }),
    ];
    expect(lintReach(subject(thresholds), machine()).map(({ message }) => message)).toEqual([
      'memory.available<1Gi once met stays met until nothing is in use: 1Gi + minimum reclaim 90% = 7.19GiB = 8.19GiB of a capacity of 8GiB',
    ]);
  });
});

test('a soft threshold without a grace period is hard, and is reported where it was written', () => {
  const written = new Map([['evictionSoft.memory.available', '0.0%']]);
  expect(lintReach(subject([threshold('memory.available', '0.0%')], { written }), undefined)[0]?.key).toBe('evictionSoft.memory.available');
});
