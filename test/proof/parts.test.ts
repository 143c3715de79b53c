import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { suites } from '../vm/suites.js';
import { PARTS } from './parts.js';
import { REPLAY } from './results.js';

const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((file) => join(directory, file))
    .filter((file) => file.endsWith('.ts'));

const has = (part: RegExp) => (file: string) => part.test(readFileSync(file, 'utf8'));

describe('a change below src/features/replay repeats only the parts that run `evictd replay`', () => {
  test('because nothing else in the source loads it', () => {
    const others = filesBelow('src').filter((file) => !file.startsWith(REPLAY));
    expect(others.filter(has(/from '[^']*features\/replay/))).toEqual([]);
    expect(others.filter(has(/import\('[^']*features\/replay/))).toEqual(['src/cli/commands.ts']);
  });

  test.each(suites.map((suite) => [suite.name, suite] as const))('the machine %s', (name, { files, except = [] }) => {
    const runs = filesBelow('test')
      .filter((file) => files.some((start) => file.startsWith(start)) && !except.some((start) => file.startsWith(start)))
      .some(has(/'replay'|features\/replay/));
    expect(PARTS.find((part) => part.name === `vm-${name}`)?.reads.includes(REPLAY)).toBe(runs);
  });
});
