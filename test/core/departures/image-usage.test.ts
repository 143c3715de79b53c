import { describe, expect, test } from 'vitest';
import { departuresOf } from '../../../src/core/decide/departures.js';
import { rank } from '../../../src/core/rank/rank.js';
import type { WorkloadUsage } from '../../../src/core/workload/workload.js';
import { containerStats, files, pod } from '../usage.js';

const Gi = 1024n ** 3n;
const named = (ranked: readonly { readonly workload: WorkloadUsage['workload'] }[]): string[] =>
  ranked.map(({ workload }) => workload.name);
const order = (on: boolean, usages: readonly WorkloadUsage[]): string[] =>
  named(rank('imagefs.available', 'split', usages, { ...departuresOf('kubelet'), 'image-usage': on, 'unknown-usage': on }));

describe('images are on a filesystem of their own, and that filesystem is full', () => {
  const small = pod('small', { stats: { images: files(Gi / 10n, 100n) } });
  const large = pod('large', { stats: { images: files(30n * Gi, 9000n) } });

  test('the kubelet measures no usage there, so all workloads of one priority are equal', () => {
    expect(order(false, [small, large])).toEqual(['small', 'large']);
    expect(order(false, [large, small])).toEqual(['large', 'small']);
    expect(rank('imagefs.available', 'split', [large], departuresOf('kubelet'))[0]?.usage).toBe(0n);
  });

  test('image-usage evicts the pod with the largest images that no other pod uses', () => {
    expect(order(true, [small, large])).toEqual(['large', 'small']);
    expect(named(rank('imagefs.inodesFree', 'split', [small, large], departuresOf('evictd')))).toEqual(['large', 'small']);
  });

  test('priority comes before image usage, and no request is subtracted', () => {
    const precious = pod('precious', { priority: 1, stats: { images: files(90n * Gi) } });
    const requesting = pod('requesting', { requests: { ephemeralStorage: 50n * Gi }, stats: { images: files(40n * Gi) } });
    expect(order(true, [precious, large, requesting])).toEqual(['requesting', 'large', 'precious']);
  });

  test('image usage that is not measured is unknown, and not 0', () => {
    const unmeasured = pod('unmeasured', { stats: { containers: [containerStats('a', { rootfs: files(50n * Gi) })] } });
    expect(rank('imagefs.available', 'split', [unmeasured], departuresOf('evictd'))[0]?.usage).toBeUndefined();
    expect(order(true, [unmeasured, small])).toEqual(['small', 'unmeasured']);
  });
});

test('where containers and images share a filesystem, both profiles rank by the writable layers', () => {
  const writing = pod('writing', { stats: { containers: [containerStats('a', { rootfs: files(Gi) })], images: files(1n) } });
  const large = pod('large', { stats: { containers: [containerStats('a', { rootfs: files(1n) })], images: files(90n * Gi) } });
  for (const compatibility of ['kubelet', 'evictd'] as const) {
    expect(named(rank('imagefs.available', 'imagefs', [large, writing], departuresOf(compatibility)))).toEqual(['writing', 'large']);
  }
});
