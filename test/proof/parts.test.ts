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

const isUnder = (starts: readonly string[], file: string): boolean => starts.some((start) => file.startsWith(start));

test.each(PARTS.map((part) => [part.name, part] as const))('no test of %s reads a document that does not count for it', (_name, part) => {
  const documents = (part.except ?? []).filter((start) => start.startsWith('docs/'));
  const tests = filesBelow('test').filter((file) => isUnder(part.reads, file) && !isUnder(part.except ?? [], file));
  expect(tests.filter((file) => documents.some((document) => has(RegExp(`['"\`]${document}`))(file)))).toEqual([]);
});

test('a machine is not started again for a test that its suite leaves to others', () => {
  for (const { name, except = [] } of suites)
    expect(PARTS.find((part) => part.name === `vm-${name}`)?.except).toEqual(expect.arrayContaining([...except]));
});

test('no part is run again after a change of how parts are chosen and counted', () => {
  for (const { reads, except = [] } of PARTS)
    expect(isUnder(reads, 'test/proof/parts.test.ts') && !isUnder(except, 'test/proof/parts.test.ts')).toBe(false);
});

test.each(['arm64', 'chaos'])('a change below test/%s repeats only the parts that name it: no other test loads it', (directory) => {
  const others = filesBelow('test').filter((file) => !file.startsWith(`test/${directory}/`));
  expect(others.filter(has(RegExp(`(from|import\\() ?'[^']*/${directory}/`)))).toEqual([]);
});

test('a change of what asks for skipped tests starts no machine again: nothing loads it', () => {
  const starting = PARTS.filter(({ reads, except = [] }) => isUnder(reads, 'test/vm/skips.ts') && !isUnder(except, 'test/vm/skips.ts'));
  expect(starting.map(({ name }) => name)).toEqual(['vm-skips']);
  expect(filesBelow('test').filter(has(/(from|import\() ?'[^']*\/skips\.js/))).toEqual([]);
});

describe('a change below src/features/replay repeats only the parts that run `evictd replay`', () => {
  test('because nothing else in the source loads it', () => {
    const others = filesBelow('src').filter((file) => !file.startsWith(REPLAY));
    expect(others.filter(has(/from '[^']*features\/replay/))).toEqual([]);
    expect(others.filter(has(/import\('[^']*features\/replay/))).toEqual(['src/cli/commands.ts']);
  });

  test.each(suites.map((suite) => [suite.name, suite] as const))('the machine %s', (name, { files, except = [] }) => {
    const runs = filesBelow('test')
      .filter((file) => isUnder(files, file) && !isUnder(except, file))
      .some(has(/'replay'|features\/replay/));
    expect(PARTS.find((part) => part.name === `vm-${name}`)?.reads.includes(REPLAY)).toBe(runs);
  });
});
