import { expect, test } from 'vitest';
import { outputOf } from '../../../../src/host/linux/facts/service-reader.js';

const never = new AbortController().signal;

test('the output of a program is read, or the reason why it has none', async () => {
  expect(await outputOf('echo', ['a b'], never)).toBe('a b\n');
  expect(await outputOf('sh', ['-c', 'echo no such unit >&2; exit 4'], never)).toEqual({ unseen: 'sh: no such unit' });
  expect(await outputOf('evictd-test-nothing', [], never)).toEqual({ unseen: 'evictd-test-nothing: ENOENT' });
});

test('a program that takes too long is ended', async () => {
  const aborting = new AbortController();
  const output = outputOf('sleep', ['300'], aborting.signal);
  aborting.abort();
  expect(await output).toEqual({ unseen: 'sleep: ABORT_ERR' });
});
