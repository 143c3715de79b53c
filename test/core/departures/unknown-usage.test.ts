import { describe, expect, test } from 'vitest';
import { departuresOf } from '../../../src/core/decide/departures.js';
import { rank } from '../../../src/core/rank/rank.js';
import type { ResourceSignal } from '../../../src/core/signal/signal.js';
import type { WorkloadUsage } from '../../../src/core/workload/workload.js';
import { containerStats, emptyDir, files, pod, volumeStats } from '../usage.js';

const Mi = 1024n * 1024n;

const order = (on: boolean, signal: ResourceSignal, ...usages: WorkloadUsage[]): string[] =>
  rank(signal, 'single', usages, { ...departuresOf('kubelet'), 'unknown-usage': on }).map(({ workload }) => workload.name);

describe('memory runs out before the first statistics of the database', () => {
  const database = pod('database', { priority: 1000, requests: { memory: 900n * Mi }, stats: null });
  const leaking = pod('leaking', { requests: { memory: 10n * Mi }, stats: { workingSetBytes: 800n * Mi } });
  const modest = pod('modest', { requests: { memory: 100n * Mi }, stats: { workingSetBytes: 50n * Mi } });

  test('the kubelet evicts the database', () => {
    expect(order(false, 'memory.available', modest, leaking, database)).toEqual(['database', 'leaking', 'modest']);
  });

  test('with unknown-usage a workload known to exceed its request is evicted; the unknown one ranks before those within theirs', () => {
    expect(order(true, 'memory.available', modest, leaking, database)).toEqual(['leaking', 'database', 'modest']);
  });

  test('when no workload exceeds its request the unknown one ranks first in both profiles', () => {
    expect(order(false, 'memory.available', modest, database)).toEqual(['database', 'modest']);
    expect(order(true, 'memory.available', modest, database)).toEqual(['database', 'modest']);
  });
});

test('statistics without the value are unknown, not 0', () => {
  const empty = pod('empty', { requests: { memory: 1n }, stats: {} });
  const within = pod('within', { requests: { memory: 100n * Mi }, stats: { workingSetBytes: 100n * Mi } });
  expect(order(false, 'memory.available', empty, within)).toEqual(['within', 'empty']);
  expect(order(true, 'memory.available', empty, within)).toEqual(['empty', 'within']);
});

test('the lower priority ranks first among unknown workloads', () => {
  const [low, high] = [pod('low', { priority: -1, stats: null }), pod('high', { requests: { memory: 1n }, stats: null })];
  expect(order(true, 'memory.available', high, low)).toEqual(['low', 'high']);
});

test.each([false, true])('unknown workloads are equal whatever their requests (departure %s)', (on) => {
  const [much, little] = [
    pod('much', { requests: { memory: 1000n }, stats: null }),
    pod('little', { requests: { memory: 1n }, stats: null }),
  ];
  expect(order(on, 'memory.available', much, little)).toEqual(['much', 'little']);
  expect(order(on, 'memory.available', little, much)).toEqual(['little', 'much']);
});

test('for process ids the priority ranks first, and then known workloads with processes rank before unknown ones', () => {
  const unknown = pod('unknown', { stats: null });
  const many = pod('many', { stats: { processes: 900n } });
  const none = pod('none', { stats: { processes: 0n } });
  const low = pod('low', { priority: -1, stats: { processes: 1n } });
  expect(order(false, 'pid.available', none, many, unknown, low)).toEqual(['low', 'unknown', 'many', 'none']);
  expect(order(true, 'pid.available', none, many, unknown, low)).toEqual(['low', 'many', 'unknown', 'none']);
});

test('for disks a pod with a volume of unknown usage is unknown', () => {
  const unknown = pod('unknown', { pod: { volumes: [emptyDir('v')] }, stats: { volumes: [volumeStats('v')] } });
  const writing = pod('writing', { stats: { containers: [containerStats('a', { rootfs: files(1n) })] } });
  const nothing = pod('nothing');
  expect(order(true, 'nodefs.available', nothing, unknown, writing)).toEqual(['writing', 'unknown', 'nothing']);
});
