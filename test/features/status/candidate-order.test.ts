import { expect, test } from 'vitest';
import { initialState } from '../../../src/core/decide/state.js';
import { rankingQuery, type CandidateOrder } from '../../../src/features/status/candidate-order.js';
import { orderParameter } from '../../../src/features/status/open.js';
import { candidatesStatus } from '../../../src/features/status/candidate-status.js';
import { UsageGrowth } from '../../../src/features/status/usage-growth.js';
import { candidates, Mi, policy, SECOND, workload } from '../../core/support.js';

const requesting = (memory: bigint) => ({ requests: { memory, ephemeralStorage: 0n, inodes: 0n } });
/** 60 small workloads come first in the order of eviction: the large one requests what it uses. */
const SMALL = Array.from({ length: 60 }, (_, at) => workload(`small-${String(at).padStart(2, '0')}`));
const LARGE = workload('large', { priority: 5, ...requesting(900n * Mi) });
const found = (largeMi: bigint) =>
  candidates(...SMALL.map((one, at) => [one, BigInt(at + 1) * Mi] as [typeof one, bigint]), [LARGE, largeMi * Mi]);
const read = {
  policy: policy([]),
  state: initialState,
  layout: 'single',
  observations: { observed: new Map(), missing: new Map() },
} as const;

test.each<[order: CandidateOrder | undefined, first: readonly [place: number | null, name: string][]]>([
  [
    undefined,
    [
      [1, 'small-59'],
      [2, 'small-58'],
    ],
  ],
  [
    'usage',
    [
      [61, 'large'],
      [1, 'small-59'],
    ],
  ],
  [
    'growth',
    [
      [61, 'large'],
      [1, 'small-59'],
    ],
  ],
  [
    'request',
    [
      [61, 'large'],
      [1, 'small-59'],
    ],
  ],
  [
    'priority',
    [
      [1, 'small-59'],
      [2, 'small-58'],
    ],
  ],
  [
    'name',
    [
      [61, 'large'],
      [60, 'small-00'],
    ],
  ],
])('the first 50 of 61 workloads by %s have their places in the order of eviction', (order, first) => {
  const growth = new UsageGrowth();
  candidatesStatus({ order }, read, found(100n), growth, SECOND);
  const status = candidatesStatus({ order }, read, found(200n), growth, 2n * SECOND);
  expect([status.total, status.workloads.length, status.order]).toEqual([61, 50, order ?? null]);
  expect(status.workloads.slice(0, 2).map(({ place, name }) => [place, name])).toEqual(first);
});

test('the parameters of a ranking are parsed', () => {
  expect(rankingQuery({ signal: 'nodefs.available', order: 'usage' })).toBe('signal=nodefs.available&order=usage');
  expect(rankingQuery({ signal: undefined })).toBe('');
  expect(orderParameter(new URLSearchParams('order=name'))).toBe('name');
  expect(orderParameter(new URLSearchParams())).toBeUndefined();
  expect(() => orderParameter(new URLSearchParams('order=size'))).toThrow(expect.objectContaining({ code: 'EVICTD_API_ORDER' }));
});
