import { expect, onTestFinished, test } from 'vitest';
import type { Threshold } from '../../../../src/core/threshold/threshold.js';
import { MemoryNotifiers } from '../../../../src/host/linux/memory/memory-notifiers.js';
import type { SampledMemory } from '../../../../src/host/linux/memory/memory.js';
import { native, type SamplerOptions } from '../../../../src/native/index.js';
import { listed } from '../../../core/listed.js';
import { Mi, threshold } from '../../../core/support.js';

/** The notifiers of a node, and what their samplers are given. */
function openNotifiers(signal: 'memory.available' | 'allocatableMemory.available', counts: SampledMemory['counts']) {
  const seen: number[] = [];
  const limits: (readonly number[])[] = [];
  const options: SamplerOptions[] = [];
  class Sampler extends native.Sampler {
    constructor(...args: ConstructorParameters<typeof native.Sampler>) {
      super(...args);
      options.push(args[0]);
      limits.push(args[0].limits);
    }
    override setLimits(moved: readonly number[]): void {
      super.setLimits(moved);
      limits.push(moved);
    }
    override seen(value: number): void {
      super.seen(value);
      seen.push(value);
    }
  }
  const notifiers = new MemoryNotifiers(
    { ...native, Sampler },
    {
      signal,
      nodeName: 'test',
      thresholdDirectory: undefined,
      sampled: { counts, files: [{ path: '/proc/self/oom_score_adj', format: 'number' }], weights: [0] },
      pressureFile: undefined,
      eventsDirectory: undefined,
      oomDirectory: undefined,
      pageSize: 4096n,
    },
  );
  onTestFinished(() => {
    notifiers.close();
  });
  return { notifiers, options, limits, seen };
}

/** What the samplers of a node of 768 MiB were opened with. */
function samplersOf(signal: 'memory.available' | 'allocatableMemory.available', ...armed: readonly (readonly Threshold[])[]) {
  const { notifiers, options } = openNotifiers(signal, 'used');
  const reading = { capacity: 768n * Mi, usage: 0n, reclaimable: 0n };
  for (const thresholds of armed) notifiers.arm(thresholds, reading, 1n, () => undefined);
  return options.map(({ limits, noticeDistance }) => ({ limits: limits.length, noticeDistance }));
}

const hard = threshold('memory.available', '100Mi');
const joined = listed('memory.pressure.full>30% & memory.available<10%', 'soft');
const soft = threshold('memory.available', '100Mi', { graceSeconds: 30 });
const distance = Number(100n * Mi);

test.each<[rule: string, armed: (readonly Threshold[])[], samplers: ReturnType<typeof samplersOf>]>([
  ['the ordered threshold, not of a lower one', [[hard, joined]], [{ limits: 2, noticeDistance: distance }]],
  ['no threshold, where no order is made', [[soft, joined]], [{ limits: 2, noticeDistance: undefined }]],
  [
    'the ordered threshold, also where a reload made one of the same amount',
    [[soft], [hard]],
    [
      { limits: 1, noticeDistance: undefined },
      { limits: 1, noticeDistance: distance },
    ],
  ],
])('the sampler wakes evictd when the amount is available again of %s', (_rule, armed, samplers) => {
  expect(samplersOf('memory.available', ...armed)).toEqual(samplers);
});

test('no order is made for the allocatable memory of all workloads', () => {
  const allocatable = { ...hard, signal: 'allocatableMemory.available' } as const;
  expect(samplersOf('allocatableMemory.available', [allocatable, hard])).toEqual([{ limits: 1, noticeDistance: undefined }]);
});

/** 300 MiB are available, before and after a balloon has taken 200 MiB of what is used. */
const [before, after] = [
  { capacity: 768n * Mi, usage: 500n * Mi, reclaimable: 32n * Mi },
  { capacity: 568n * Mi, usage: 300n * Mi, reclaimable: 32n * Mi },
];

test('where available memory is sampled, another capacity changes neither limit nor value of the sampler, nor an order', () => {
  const { notifiers, limits, seen } = openNotifiers('memory.available', 'free');
  for (const reading of [before, after]) {
    notifiers.arm([hard], reading, 1n, () => undefined);
    notifiers.seen(reading);
    expect(notifiers.crossing(100n * Mi, reading).atLeast).toBe(1 - distance);
  }
  expect(limits).toEqual([[1 - distance]]);
  expect(seen).toEqual([Number(-300n * Mi), Number(-300n * Mi)]);
  expect(notifiers.states().map(({ target }) => target)).toEqual(['available memory < 104857600 of test']);
});

test('where used memory is sampled, the limit follows the capacity', () => {
  const { notifiers, limits, seen } = openNotifiers('memory.available', 'used');
  for (const reading of [before, after]) {
    notifiers.arm([hard], reading, 1n, () => undefined);
    notifiers.seen(reading);
    expect(notifiers.crossing(100n * Mi, reading).atLeast).toBe(Number(reading.capacity - 100n * Mi + 1n));
  }
  expect(limits).toEqual([[Number(668n * Mi + 1n)], [Number(468n * Mi + 1n)]]);
  expect(seen).toEqual([Number(468n * Mi), Number(268n * Mi)]);
  expect(notifiers.states().map(({ target }) => target)).toEqual([`memory in use ≥ ${String(468n * Mi + 1n)} of test`]);
});
