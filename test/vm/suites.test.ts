import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Suite, suites } from './suites.js';

// A suite names files and tests by text: after a rename it would silently run less, or more, than it says.

const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((file) => join('test', file))
  .filter((file) => file.endsWith('.test.ts'));

const filesOf = (suite: Suite): string[] => files.filter((file) => suite.files.some((start) => file.startsWith(start)));

/** The names that a suite leaves out, from its pattern `^(?!.*(a|b))`. */
const leftOut = ({ only }: Suite): string[] => /^\^\(\?!\.\*\((.*)\)\)$/.exec(only?.source ?? '')?.[1]?.split('|') ?? [];

describe.each(suites)('the suite $name', (suite) => {
  test('has only paths of test files', () => {
    const paths = [...suite.files, ...(suite.except ?? [])];
    expect(paths.filter((start) => !files.some((file) => file.startsWith(start)))).toEqual([]);
  });

  test('leaves out only names of tests in its files, or in those of a suite with the same pattern', () => {
    const text = suites
      .filter(({ only }) => only === suite.only)
      .flatMap(filesOf)
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    expect(leftOut(suite).filter((name) => !text.includes(name))).toEqual([]);
  });
});

test('no end-to-end test is forgotten', () => {
  const named = new Set(suites.flatMap(filesOf));
  expect(files.filter((file) => file.startsWith('test/e2e/') && !named.has(file))).toEqual([]);
});

test('a file that is left to the host has no test that the host may skip', () => {
  const inMachines = new Set(
    suites.flatMap((suite) => filesOf(suite).filter((file) => suite.except?.some((start) => file.startsWith(start)) !== true)),
  );
  const onHost = suites.flatMap(filesOf).filter((file) => !inMachines.has(file));
  expect(onHost).toContain('test/e2e/simulate.test.ts');
  // The part `system` needs root and containerd.
  const isSkipped = (file: string): boolean => /\b(runIf|skipIf)\((?!process\.getuid|hasContainerd)/.test(readFileSync(file, 'utf8'));
  expect([...new Set(onHost)].filter(isSkipped)).toEqual([]);
});
