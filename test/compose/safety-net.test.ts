import { expect, test } from 'vitest';
import { lastKnown } from '../../src/compose/safety-net.js';

const FAILS = undefined;

test.each<[rule: string, reads: readonly (bigint | undefined)[], told: readonly bigint[]]>([
  ['read anew each time', [8n, 9n], [8n, 9n]],
  ['a read that fails: the value before stands', [8n, FAILS, FAILS], [8n, 8n, 8n]],
  ['and the next one counts again', [8n, FAILS, 4n], [8n, 8n, 4n]],
  ['never read: nothing', [FAILS, 8n], [0n, 8n]],
])('total memory, %s', (_rule, reads, told) => {
  const left = [...reads];
  const total = lastKnown(() => {
    const read = left.shift();
    if (read === FAILS) throw new Error('EMFILE');
    return read;
  });
  expect(reads.map(() => total())).toEqual(told);
});
