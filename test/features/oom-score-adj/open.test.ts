import { expect, test } from 'vitest';
import { lastKnown } from '../../../src/features/oom-score-adj/open.js';

const FAILS = undefined;

test.each<[rule: string, reads: readonly (bigint | undefined)[], values: readonly bigint[]]>([
  ['read each time', [8n, 9n], [8n, 9n]],
  ['a read that fails: the last value', [8n, FAILS, FAILS], [8n, 8n, 8n]],
  ['the next success counts again', [8n, FAILS, 4n], [8n, 8n, 4n]],
  ['0 before the first success', [FAILS, 8n], [0n, 8n]],
])('the total memory, %s', (_rule, reads, values) => {
  const left = [...reads];
  const total = lastKnown(() => {
    const read = left.shift();
    if (read === FAILS) throw new Error('EMFILE');
    return read;
  });
  expect(reads.map(() => total())).toEqual(values);
});
