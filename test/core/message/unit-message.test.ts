import { expect, test } from 'vitest';
import { unitText } from '../../../src/core/message/unit-message.js';
import { SECOND } from '../support.js';

test.each<[rule: string, untilNs: bigint | undefined, text: string]>([
  [
    'for the minute of a second kill',
    65n * SECOND,
    'for 1m0s, or as long as a threshold of MemoryPressure is met (2nd eviction in ten minutes)',
  ],
  ['for longer, by a policy', 315n * SECOND, 'for 5m10s, or as long as a threshold of MemoryPressure is met (2nd eviction in ten minutes)'],
  ['without a time', undefined, 'until MemoryPressure has cleared'],
])('a decision says how long a unit is kept stopped: %s', (_rule, untilNs, text) => {
  const hold = { unit: 'a.service', decision: 1, start: ['a.service'], unstarted: [], condition: 'MemoryPressure', untilNs } as const;
  expect(unitText({ graceNs: 0n, decidedAtNs: 5n * SECOND, unit: { evictions: 2, stop: undefined, hold } })).toBe(
    `; it is kept stopped ${text}`,
  );
});
