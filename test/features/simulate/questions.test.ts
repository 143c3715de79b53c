import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { evictd } from '../../cli/support.js';

const BLOCKS = [
  ...readFileSync('docs/simulate.md', 'utf8').matchAll(/^ {4}evictd (simulate examples(?:.*\\\n)*.*)\n((?:(?: {4}.*)?\n)*)/gm),
];

test('docs/simulate.md answers six questions', () => {
  expect(BLOCKS).toHaveLength(6);
});

test.each(BLOCKS.map(([, command = '', output = '']) => [command, output]))(
  'evictd %s answers a question of the page',
  async (command, output) => {
    const { stdout, stderr } = await evictd(command.split(/[\s\\]+/));
    expect(stderr).toBe('');
    expect(stdout.trim().split('\n')).toEqual(output.replace(/^ {4}/gm, '').trim().split('\n'));
  },
);
