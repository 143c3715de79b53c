import { expect, onTestFinished, test } from 'vitest';
import type { Threshold } from '../../../../src/core/threshold/threshold.js';
import { MemoryNotifiers } from '../../../../src/host/linux/memory/memory-notifiers.js';
import { native, type SamplerOptions } from '../../../../src/native/index.js';
import { listed } from '../../../core/listed.js';
import { Mi, threshold } from '../../../core/support.js';

/** What the samplers of a node of 768 MiB were opened with. */
function samplersOf(signal: 'memory.available' | 'allocatableMemory.available', ...armed: readonly (readonly Threshold[])[]) {
  const options: SamplerOptions[] = [];
  class Sampler extends native.Sampler {
    constructor(...args: ConstructorParameters<typeof native.Sampler>) {
      super(...args);
      options.push(args[0]);
    }
  }
  const notifiers = new MemoryNotifiers(
    { ...native, Sampler },
    {
      signal,
      nodeName: 'test',
      thresholdDirectory: undefined,
      used: { files: [{ path: '/proc/self/oom_score_adj', format: 'number' }], weights: [0] },
      pressureFile: undefined,
      eventsDirectory: undefined,
      oomDirectory: undefined,
      pageSize: 4096n,
    },
  );
  onTestFinished(() => {
    notifiers.close();
  });
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
