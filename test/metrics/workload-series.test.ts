import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { firstCandidates } from '../../src/core/rank/first-candidates.js';
import type { RankedWorkload } from '../../src/core/rank/rank.js';
import { MetricsRegistry } from '../../src/metrics/registry.js';
import { Status } from '../../src/metrics/status.js';
import { SECOND, workload } from '../core/support.js';
import { parseExposition } from './exposition.js';

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000_000 }));
afterEach(() => vi.useRealTimers());

const none = (): number => 0;

function fixture() {
  let nowNs = 0n;
  const status = new Status(() => nowNs);
  const own = { version: '1', dryRun: false, journalErrors: none, journalLostRecords: none, logLinesDropped: none, memoryNodes: () => [] };
  const registry = new MetricsRegistry(status, own);
  const passTime = (seconds: bigint): void => {
    nowNs += seconds * SECOND;
    vi.setSystemTime(Date.now() + Number(seconds) * 1_000);
  };
  const samples = async (name: string) => {
    const found = parseExposition(await registry.metrics()).get(`evictd_${name}`)?.samples ?? {};
    return Object.entries(found).map(([series, value]) => [series.replace(/^evictd_\w+/, ''), value]);
  };
  const evict = (path: string): void => status.evicted('memory.available', { decision: 1, workload: path });
  return { status, passTime, samples, evict };
}

const series = (path: string, signal = 'memory.available'): string => `{eviction_signal="${signal}",workload="${path}"}`;

test('evictions by workload are kept for the last ten workloads, for an hour after the last eviction', async () => {
  const { evict, passTime, samples } = fixture();
  evict('/a');
  passTime(60n);
  evict('/b');
  evict('/a');
  expect(await samples('workload_evictions_total')).toEqual([
    [series('/b'), 1],
    [series('/a'), 2],
  ]);
  expect(await samples('workload_last_eviction_timestamp_seconds')).toEqual([
    [series('/b'), 1_000_060],
    [series('/a'), 1_000_060],
  ]);
  for (let index = 0; index < 9; index += 1) evict(`/pod${String(index)}`);
  expect((await samples('workload_evictions_total')).map(([name]) => name)).toEqual([
    series('/a'),
    ...Array.from({ length: 9 }, (_, index) => series(`/pod${String(index)}`)),
  ]);
  passTime(3_000n);
  evict('/a');
  passTime(600n);
  expect(await samples('workload_evictions_total')).toEqual([[series('/a'), 3]]);
  passTime(3_000n);
  expect(await samples('workload_evictions_total')).toEqual([]);
});

test('candidates have each signal in the unit of its resource, in the order of eviction, until evicted or a minute after the ranking', async () => {
  const { status, evict, passTime, samples } = fixture();
  status.ranked('memory.available', [
    { workload: '/b', resource: 'memory', usage: 500n },
    { workload: '/a\udcff', resource: 'memory', usage: 900n },
    { workload: '/c', resource: 'memory', usage: undefined },
  ]);
  status.ranked('nodefs.inodesFree', [{ workload: '/b', resource: 'inodes', usage: 3n }]);
  status.ranked('pid.available', [{ workload: '/d', resource: 'pids', usage: 4n }]);
  status.ranked('nodefs.available', [{ workload: '/d', resource: 'ephemeral-storage', usage: 6n }]);
  expect(await samples('candidate_usage_bytes')).toEqual([
    [series('/b'), 500],
    [series('/a\\\\xff'), 900],
    [series('/d', 'nodefs.available'), 6],
  ]);
  expect(await samples('candidate_usage_inodes')).toEqual([[series('/b', 'nodefs.inodesFree'), 3]]);
  expect(await samples('candidate_usage_processes')).toEqual([[series('/d', 'pid.available'), 4]]);
  passTime(59n);
  status.ranked('pid.available', [{ workload: '/e', resource: 'pids', usage: 1n }]);
  evict('/b');
  expect((await samples('candidate_usage_bytes')).map(([name]) => name)).toEqual([series('/a\\\\xff'), series('/d', 'nodefs.available')]);
  expect(await samples('candidate_usage_inodes')).toEqual([]);
  passTime(1n);
  expect(await samples('candidate_usage_bytes')).toEqual([]);
  expect(await samples('candidate_usage_processes')).toEqual([[series('/e', 'pid.available'), 1]]);
});

test('the first five workloads of a ranking are exported, without protected ones', () => {
  const ranking = ['a', 'safe', 'b', 'c', 'd', 'e', 'f'].map((name, at) => {
    const protection = name === 'safe' ? { kind: 'critical' } : undefined;
    return { workload: workload(name), usage: BigInt(at), protection } as RankedWorkload;
  });
  expect(firstCandidates({ resource: 'pids', ranking }).map(({ workload: path, usage }) => [path, usage])).toEqual([
    ['/a', 0n],
    ['/b', 2n],
    ['/c', 3n],
    ['/d', 4n],
    ['/e', 5n],
  ]);
});
