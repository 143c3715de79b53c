import { expect, test } from 'vitest';
import { parseThresholdConfig, type ThresholdConfig } from './threshold-config.js';
import { thresholdId } from '../../../src/core/threshold/threshold.js';

const nothing: ThresholdConfig = {
  enforceNodeAllocatable: [],
  evictionHard: {},
  evictionSoft: {},
  evictionSoftGracePeriod: {},
  evictionMinimumReclaim: {},
};

/** As the kubelet v1.36.2 has it; hundreds more are in test/vectors/thresholds.jsonl. */
test.each<[rule: string, config: Partial<ThresholdConfig>, thresholds: string[]]>([
  ['nothing is set', {}, []],
  [
    'sorted by signal',
    { evictionHard: { 'pid.available': '5', 'memory.available': '1Gi' } },
    ['memory.available<1Gi/0', 'pid.available<5/0'],
  ],
  [
    'a hard memory threshold is copied to allocatable memory, with its own minimum reclaim',
    {
      enforceNodeAllocatable: ['none', 'pods'],
      evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '5%' },
      evictionMinimumReclaim: { 'memory.available': '1Mi', 'allocatableMemory.available': '2Mi' },
    },
    ['allocatableMemory.available<1Gi/0+1Mi', 'memory.available<1Gi/0+1Mi', 'nodefs.available<5%/0'],
  ],
  [
    'a threshold for allocatable memory stays beside the copy',
    { enforceNodeAllocatable: ['pods'], evictionHard: { 'memory.available': '1Gi', 'allocatableMemory.available': '2Gi' } },
    ['allocatableMemory.available<2Gi/0', 'allocatableMemory.available<1Gi/0', 'memory.available<1Gi/0'],
  ],
  [
    'a soft threshold is not copied, unless its grace period is zero',
    {
      enforceNodeAllocatable: ['pods'],
      evictionSoft: { 'memory.available': '1Gi' },
      evictionSoftGracePeriod: { 'memory.available': '1ns' },
    },
    ['memory.available<1Gi/1'],
  ],
  [
    'a soft threshold with a grace period of zero is copied',
    {
      enforceNodeAllocatable: ['pods'],
      evictionSoft: { 'memory.available': '1Gi' },
      evictionSoftGracePeriod: { 'memory.available': '0s' },
    },
    ['allocatableMemory.available<1Gi/0', 'memory.available<1Gi/0'],
  ],
  [
    'system-reserved does not copy',
    { enforceNodeAllocatable: ['system-reserved'], evictionHard: { 'memory.available': '1' } },
    ['memory.available<1/0'],
  ],
])('%s', (_rule, config, thresholds) => {
  expect(parseThresholdConfig({ ...nothing, ...config }).map(thresholdId)).toEqual(thresholds);
});

test.each<[rule: string, config: Partial<ThresholdConfig>, message: string]>([
  ['hard before soft', { evictionHard: { a: '1' }, evictionSoft: { b: '1' } }, 'unsupported eviction signal a'],
  ['soft before grace periods', { evictionSoft: { b: '1' }, evictionSoftGracePeriod: { c: 'x' } }, 'unsupported eviction signal b'],
  [
    'grace periods before minimum reclaims',
    { evictionSoftGracePeriod: { 'pid.available': 'x' }, evictionMinimumReclaim: { d: '1' } },
    'time: invalid duration "x"',
  ],
  [
    'minimum reclaims before a missing grace period',
    { evictionSoft: { 'pid.available': '1' }, evictionMinimumReclaim: { d: '1' } },
    'unsupported eviction signal d',
  ],
  [
    'a missing grace period comes last',
    { evictionSoft: { 'pid.available': '1' } },
    'grace period must be specified for the soft eviction threshold pid.available',
  ],
  ['the signal before the value', { evictionHard: { a: '0%' } }, 'unsupported eviction signal a'],
])('the first of several errors is reported: %s', (_rule, config, message) => {
  expect(() => parseThresholdConfig({ ...nothing, ...config })).toThrow(expect.objectContaining({ message }));
});
