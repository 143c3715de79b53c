import { expect, test } from 'vitest';
import { describeRanked, rank } from '../../../src/core/rank/rank.js';
import type { WorkloadUsage } from '../../../src/core/workload/workload.js';
import { rankingRow } from '../../../src/journal/records/ranking-row.js';
import { Mi, policy, without } from '../support.js';
import { machine } from '../usage.js';

/** 200 MiB, of which 150 MiB are on a tmpfs. */
const { workload, stats } = machine('holder', 200n * Mi, { requests: { memory: 64n * Mi } });
const holder: WorkloadUsage = { workload, stats: stats && { ...stats, staysBytes: 150n * Mi } };
const { departures } = policy([]);

test('memory that stays after the end of a workload does not count against its request, and the reason names it', () => {
  const [item] = rank('memory.available', 'single', [holder], departures);
  expect(item).toMatchObject({ usage: 200n * Mi, stays: 150n * Mi, exceedsRequest: false, aboveRequestNano: -14n * Mi * 1_000_000_000n });
  expect(item && describeRanked(item, 'memory')).toBe(
    'uses 200MiB (150MiB of it shared memory, which stays), within its request of 64MiB, priority 0',
  );
});

test('the reason names both swap and memory that stays', () => {
  const swapping = {
    workload: { ...workload, requests: { ...workload.requests, memory: 0n } },
    stats: holder.stats && { ...holder.stats, swapBytes: 50n * Mi },
  };
  const [item] = rank('memory.pressure.full', 'single', [swapping], departures, { countsSwap: true });
  expect(item && describeRanked(item, 'memory')).toBe(
    'uses 250MiB (50MiB of it swap, 150MiB of it shared memory, which stays), has no request, priority 0',
  );
  expect(item?.aboveRequestNano).toBe(100n * Mi * 1_000_000_000n);
});

test('the journal record has the memory that stays', () => {
  const [item] = rank('memory.available', 'single', [holder], departures);
  expect(item && rankingRow(item, 'memory', 0n)).toMatchObject({
    workingSetBytes: Number(200n * Mi),
    staysBytes: Number(150n * Mi),
    aboveRequestBytes: -Number(14n * Mi),
  });
});

test('without the departure all memory counts, and for other resources no amount stays', () => {
  expect(rank('memory.available', 'single', [holder], without('node-yield'))[0]).not.toHaveProperty('stays');
  expect(rank('pid.available', 'single', [holder], departures)[0]).not.toHaveProperty('stays');
});
