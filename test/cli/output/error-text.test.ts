import { expect, test } from 'vitest';
import { exitCodeOf, formatError } from '../../../src/cli/output/error-text.js';
import { ConfigError, EvictdError, HostError, UnavailableError, UsageError } from '../../../src/errors.js';

const position = { file: '/etc/evictd/config.yaml', line: 3, column: 7 };

test.each<[rule: string, error: unknown, text: string | RegExp, exit: number]>([
  [
    'usage',
    new UsageError('EVICTD_USAGE', 'no such signal: x', { hint: 'evictd rank --help' }),
    'evictd: EVICTD_USAGE: no such signal: x\n  hint: evictd rank --help\n',
    64,
  ],
  [
    'a later start may succeed',
    new UnavailableError('EVICTD_NODE_MISSING', 'no cgroup /x'),
    'evictd: EVICTD_NODE_MISSING: no cgroup /x\n',
    75,
  ],
  [
    'the host refused: with its cause',
    new HostError('EVICTD_HOST_READ', 'cannot read /x', { cause: new Error('EIO: i/o error') }),
    'evictd: EVICTD_HOST_READ: cannot read /x\n  cause: EIO: i/o error\n',
    1,
  ],
  [
    'a cause that the message already contains is not repeated',
    new UnavailableError('EVICTD_JOURNAL_OPEN', 'no journal in /x: Error: EIO: i/o error', { cause: new Error('EIO: i/o error') }),
    'evictd: EVICTD_JOURNAL_OPEN: no journal in /x: Error: EIO: i/o error\n',
    75,
  ],
  ['every other error with a code', new EvictdError('EVICTD_X', 'y'), 'evictd: EVICTD_X: y\n', 1],
  [
    'a configuration error shows every issue, with as much of its position as is known',
    new ConfigError([
      { code: 'EVICTD_CONFIG_A', message: 'a', position, hint: 'do b' },
      { code: 'EVICTD_CONFIG_B', message: 'b', position: { file: '--node-cgroup' } },
    ]),
    '/etc/evictd/config.yaml:3:7: EVICTD_CONFIG_A a (hint: do b)\n--node-cgroup: EVICTD_CONFIG_B b\n',
    78,
  ],
  [
    'a defect shows its stack',
    new TypeError('x is undefined'),
    /^evictd: EVICTD_INTERNAL: TypeError: x is undefined\n {4}at [^]*\n {2}hint: this is a defect/,
    1,
  ],
  ['a thrown value that is not an error is shown', 'boom', /^evictd: EVICTD_INTERNAL: boom\n/, 1],
])('%s', (_rule, error, text, exit) => {
  if (typeof text === 'string') expect(formatError(error)).toBe(text);
  else expect(formatError(error)).toMatch(text);
  expect(exitCodeOf(error)).toBe(exit);
});
