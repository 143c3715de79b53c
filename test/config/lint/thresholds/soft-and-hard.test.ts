import { expect, test } from 'vitest';
import type { Signal } from '../../../../src/core/signal/signal.js';
import { lintSoftAndHard } from '../../../../src/config/lint/thresholds/soft-and-hard.js';
import { threshold } from '../../../core/support.js';
import { machine, subject } from '../support.js';

const soft = (limit: string, signal: Signal = 'memory.available') => threshold(signal, limit, { graceSeconds: 30 });
const hard = (limit: string, signal: Signal = 'memory.available') => threshold(signal, limit);

test.each<[rule: string, soft: string, hard: string, offline: boolean, reported: boolean]>([
  ['equal: both are met at once', '1Gi', '1Gi', true, true],
  ['the soft threshold is one byte above the hard one', '1073741825', '1Gi', true, false],
  ['the soft threshold is one byte below the hard one', '1073741823', '1Gi', true, true],
  ['equal in other words', '1024Mi', '1Gi', true, true],
  ['two equal percentages are compared without the capacity', '5%', '5%', true, true],
  ['the soft percentage is below the hard one', '4%', '5%', true, true],
  ['the soft percentage is above the hard one', '6%', '5%', true, false],
  ['a percentage and an amount cannot be compared without the capacity', '1%', '1Gi', true, false],
  ['the hard threshold is one byte more than 10% of 8Gi, which is 858993472', '10%', '858993473', false, true],
  ['the hard threshold is exactly 10% of 8Gi', '10%', '858993472', false, true],
  ['the hard threshold is one byte less than 10% of 8Gi', '10%', '858993471', false, false],
])('%s', (_rule, softLimit, hardLimit, offline, reported) => {
  const found = lintSoftAndHard(subject([hard(hardLimit), soft(softLimit)]), offline ? undefined : machine());
  expect(found.map(({ code, key }) => [code, key])).toEqual(
    reported ? [['EVICTD_LINT_SOFT_NOT_ABOVE_HARD', 'evictionSoft.memory.available']] : [],
  );
});

test('only thresholds of the same signal are compared', () => {
  expect(lintSoftAndHard(subject([hard('1Gi', 'nodefs.available'), soft('500Mi')]), machine())).toEqual([]);
});

test.each<[rule: string, soft: string, hard: string, message: string]>([
  [
    'below',
    '500Mi',
    '1Gi',
    'memory.available: soft 500Mi is not above hard 1Gi: the hard threshold is met first, so the soft one has no grace period',
  ],
  ['equal', '1Gi', '1Gi', 'memory.available: soft 1Gi is not above hard 1Gi: both are met at once, so the soft one has no grace period'],
  [
    'percentages are worked out',
    '5%',
    '1Gi',
    'memory.available: soft 5% = 409MiB is not above hard 1Gi: the hard threshold is met first, so the soft one has no grace period',
  ],
])('the finding shows the arithmetic: %s', (_rule, softLimit, hardLimit, message) => {
  expect(lintSoftAndHard(subject([hard(hardLimit), soft(softLimit)]), machine())[0]?.message).toBe(message);
});
