import { expect, test } from 'vitest';
import { parseQuantity } from '../../../src/core/quantity/quantity.js';
import type { Signal } from '../../../src/core/signal/signal.js';
import type { ThresholdValue } from '../../../src/core/threshold/threshold.js';
import { summaryUsageThreshold } from './usage-threshold.js';

const amount = (text: string): ThresholdValue => ({ kind: 'quantity', quantity: parseQuantity(text) });
const memory = (availableBytes: unknown, usageBytes: unknown, workingSetBytes: unknown) => ({
  memory: { availableBytes, usageBytes, workingSetBytes },
});

test.each<[rule: string, node: Readonly<Record<string, unknown>>, threshold: ThresholdValue, usage: bigint]>([
  ['capacity − threshold + inactive file', memory(300, 250, 200), amount('100'), 450n],
  ['there is no inactive file memory', memory(300, 200, 200), amount('100'), 400n],
  ['a part of a byte rounds up at the end', memory(300, 200, 200), amount('100500m'), 400n],
  ['a nano of a byte, too', memory(300, 200, 200), amount('100000000001n'), 400n],
  ['a percentage of the capacity', memory(300, 200, 200), { kind: 'percentage', fraction: 0.5, text: '50%' }, 250n],
  ['negative where the threshold is larger than the capacity', memory(3, 2, 2), amount('6'), -1n],
  ['a part of a byte below zero is rounded away from it, too', memory(3, 2, 2), amount('5500m'), -1n],
  ['a larger part of a byte below zero is rounded away from it, too', memory(3, 2, 2), amount('7500m'), -3n],
  ['usage below the working set is negative inactive file', memory(300, 150, 200), amount('100'), 350n],
  ['usage beyond the capacity is not questioned', memory(3, 1000, 2), amount('1'), 1002n],
  ['a number that a double cannot hold', memory(2n ** 53n + 1n, 1, 1), amount('1'), 2n ** 53n + 1n],
  ['the capacity wraps around', memory(2n ** 64n - 1n, 5, 5), amount('1'), 3n],
  [
    'a percentage of a capacity that wraps around',
    memory(2n ** 64n - 1n, 101, 101),
    { kind: 'percentage', fraction: 0.5, text: '50%' },
    50n,
  ],
  ['a result that wraps around', memory(2n ** 63n - 1n, 10, 0), amount('1'), -(2n ** 63n) + 8n],
])('%s', (_rule, node, threshold, usage) => {
  expect(summaryUsageThreshold({ node }, 'memory.available', threshold)).toBe(usage);
});

test('the usage of all pods is that of their system container, not of the node', () => {
  const node = { ...memory(1, 1, 1), systemContainers: [{ name: 'pods', ...memory(300, 250, 200) }] };
  expect(summaryUsageThreshold({ node }, 'allocatableMemory.available', amount('100'))).toBe(450n);
});

test.each<[rule: string, signal: Signal, node: Readonly<Record<string, unknown>>, message: string]>([
  ['availableBytes is missing', 'memory.available', memory(undefined, 1, 1), 'summary was incomplete.  Expected MemoryStats'],
  ['usageBytes is missing', 'memory.available', memory(1, undefined, 1), 'summary was incomplete.  Expected MemoryStats'],
  ['workingSetBytes is missing', 'memory.available', memory(1, 1, null), 'summary was incomplete.  Expected MemoryStats'],
  ['there is no memory', 'memory.available', {}, 'summary was incomplete.  Expected MemoryStats'],
  ['there is no container for the pods', 'allocatableMemory.available', memory(1, 1, 1), 'system container "pods" not found in metrics'],
])('%s', (_rule, signal, node, message) => {
  expect(() => summaryUsageThreshold({ node }, signal, amount('1'))).toThrow(message);
});
