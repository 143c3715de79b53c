import { describe, expect, test } from 'vitest';
import type { Threshold } from '../../../../src/core/threshold/threshold.js';
import { lintAllocation } from '../../../../src/config/lint/thresholds/allocation.js';
import { Gi, Mi, SECOND, threshold } from '../../../core/support.js';
import { machine, subject } from '../support.js';

const polled = new Map([['memory.available' as const, 'sampler: EACCES']]);
const hard = (limit: string): Threshold => threshold('memory.available', limit);
const soft = (limit: string, graceSeconds: number): Threshold => threshold('memory.available', limit, { graceSeconds });

describe('memory that programs can allocate between two readings', () => {
  test.each<[rule: string, limit: string, intervalMs: bigint, minFreeBytes: bigint, code: string | undefined]>([
    ['1.5 GB in a second: exactly the threshold', '1500000000', 1000n, 0n, 'EVICTD_LINT_OUTRUN'],
    ['one byte more is left below the threshold', '1500000001', 1000n, 0n, undefined],
    ['memory that can never be used does not count: one byte is missing', '1500000001', 1000n, 1n, 'EVICTD_LINT_OUTRUN'],
    ['the shortest interval, 150 MB', '143Mi', 100n, 0n, 'EVICTD_LINT_OUTRUN'],
    ['the shortest interval with more below the threshold', '150000001', 100n, 0n, undefined],
    ['a threshold that can never be met is left to another finding', '64Mi', 1000n, 64n * Mi, undefined],
  ])('%s', (_rule, limit, intervalMs, minFreeBytes, code) => {
    const facts = machine({ polled, reserve: { totalBytes: 8n * Gi, minFreeBytes, hugePagesBytes: 0n, kernelBytes: 0n } });
    const found = lintAllocation(subject([hard(limit)], { monitoringIntervalNs: intervalMs * 1_000_000n }), facts);
    expect(found.map((finding) => finding.code)).toEqual(code === undefined ? [] : [code]);
  });

  test('is not judged where a notification wakes evictd', () => {
    expect(lintAllocation(subject([hard('100Mi')]), machine())).toEqual([]);
  });

  test('is not judged without a machine', () => {
    expect(lintAllocation(subject([hard('100Mi')]), undefined)).toEqual([]);
  });

  test('is explained with the reason and the arithmetic, and the hint has a short enough interval', () => {
    const facts = machine({ polled, reserve: { totalBytes: 8n * Gi, minFreeBytes: 64n * Mi, hugePagesBytes: 0n, kernelBytes: 0n } });
    const [found] = lintAllocation(subject([hard('500Mi')]), facts);
    expect(found?.message).toBe(
      'memory.available: hard 500Mi is only polled every 10s, because neither a notifier nor the sampler can be armed (sampler: EACCES): ' +
        'one core allocates 13.9GiB in that time (1.5 GB/s), and 436MiB are left below the threshold',
    );
    expect(found?.hint).toContain('shorten monitoringInterval to 300ms');
    const shortened = subject([hard('500Mi')], { monitoringIntervalNs: 300_000_000n });
    expect(lintAllocation(shortened, facts)).toEqual([]);
  });
});

describe('memory that programs can allocate during a grace period', () => {
  test.each<[rule: string, thresholds: readonly Threshold[], code: string | undefined]>([
    ['exactly what is left', [soft('1500000000', 1)], 'EVICTD_LINT_SOFT_ALONE'],
    ['one byte more is left below the threshold', [soft('1500000001', 1)], undefined],
    ['a hard threshold cuts it short', [hard('100Mi'), soft('1Gi', 30)], undefined],
    ['a hard threshold of another signal does not help', [threshold('nodefs.available', '1Gi'), soft('1Gi', 30)], 'EVICTD_LINT_SOFT_ALONE'],
    ['the fill rate of disks is unknown', [threshold('nodefs.available', '1Gi', { graceSeconds: 30 })], undefined],
  ])('%s', (_rule, thresholds, code) => {
    expect(lintAllocation(subject(thresholds), undefined).map((finding) => finding.code)).toEqual(code === undefined ? [] : [code]);
  });

  test('is explained with the arithmetic', () => {
    expect(lintAllocation(subject([soft('300Mi', 30)], { monitoringIntervalNs: 10n * SECOND }), undefined)[0]?.message).toBe(
      'memory.available: soft 300Mi has no hard threshold behind it: one core allocates 41.9GiB in its grace period of 30s (1.5 GB/s), and 300MiB are left below the threshold',
    );
  });
});
