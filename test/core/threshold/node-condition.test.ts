import { expect, test } from 'vitest';
import { nodeConditions, nodeConditionsLastObservedAt, nodeConditionsObservedSince } from '../../../src/core/threshold/node-condition.js';
import { SECOND, threshold } from '../support.js';

test('both filesystem signals set one condition', () => {
  expect(nodeConditions([threshold('nodefs.inodesFree', '5%'), threshold('nodefs.available', '10%')])).toEqual(['DiskPressure']);
});

test('an observed condition sets its time, and another condition keeps its own', () => {
  const last = nodeConditionsLastObservedAt(['MemoryPressure', 'PIDPressure'], new Map(), 1n);
  expect(nodeConditionsLastObservedAt(['PIDPressure'], last, 5n)).toEqual(
    new Map([
      ['MemoryPressure', 1n],
      ['PIDPressure', 5n],
    ]),
  );
});

test.each<[rule: string, sinceNs: bigint, set: boolean]>([
  ['the condition stays one nanosecond before the transition period is over', 300n * SECOND - 1n, true],
  ['the condition clears exactly at the end of the transition period', 300n * SECOND, false],
])('%s', (_rule, sinceNs, set) => {
  expect(nodeConditionsObservedSince(new Map([['MemoryPressure', 0n]]), 300n * SECOND, sinceNs)).toEqual(set ? ['MemoryPressure'] : []);
});
