import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { compileProgram, programOf, PROGRAMS, runProgram, writeProgramCode } from '../../src/launch/program-code.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

declare global {
  var evictdTestSaid: string[];
}

let program: string;
const write = (text: string): void => {
  writeFileSync(`${program}.cjs`, `(function (require, __filename, __dirname) {${text}})`);
};
const change = (alter: (cache: Buffer) => Buffer): void => {
  writeFileSync(`${program}.cache`, alter(readFileSync(`${program}.cache`)));
};
const PROGRAM = '"use strict"; globalThis.evictdTestSaid.push("one " + typeof require("node:fs").statSync);';
/** Whether there was code of it, and what it says. */
const started = (): [cached: boolean, said: string | undefined] => {
  globalThis.evictdTestSaid = [];
  const compiled = compileProgram(program);
  runProgram(compiled);
  return [compiled.cached, globalThis.evictdTestSaid[0]];
};

describe('the compiled code beside the program', () => {
  beforeEach(() => {
    program = join(temporaryDirectory(), 'program');
    write(PROGRAM);
    writeProgramCode(compileProgram(program));
  });

  test('is used', () => {
    expect(started()).toEqual([true, 'one function']);
  });

  test('is not used by another Node', () => {
    expect(compileProgram(program, 'v20.19.0 x64 98000000 1700000000').cached).toBe(false);
  });

  test.each<[what: string, alter: (cache: Buffer) => Buffer]>([
    ['is damaged', (cache) => cache.fill(0xff, cache.length - 40, cache.length - 8)],
    ['was cut off', (cache) => cache.subarray(0, cache.length / 2)],
    ['is empty', () => Buffer.alloc(0)],
    ['does not exist', () => Buffer.alloc(4)],
  ])('is replaced by a compilation where it %s', (_what, alter) => {
    change(alter);
    expect(started()).toEqual([false, 'one function']);
  });

  test('is not used for another program of the same length', () => {
    write(PROGRAM.replace('one', 'two'));
    expect(started()).toEqual([false, 'two function']);
  });
});

test.each<[args: readonly string[], program: string]>([
  [['check', '-o', 'nagios'], 'check'],
  [['config', 'check'], 'program'],
  [['--help', 'check'], 'program'],
  [[], 'program'],
])('of %j the program is %s', (args, expected) => {
  expect(programOf(args)).toBe(expected);
});

describe.each(PROGRAMS)('the built %s', (name) => {
  test('has code that this Node accepts', () => {
    expect(compileProgram(resolve('dist', name)).cached).toBe(true);
  });

  test('is ASCII but for comments, as it is read', () => {
    const lines = readFileSync(`dist/${name}.cjs`, 'latin1').split('\n');
    expect(lines.filter((line) => /[^\0-\x7f]/.test(line) && !/^\s*(\/\*\*|\*|\/\/)/.test(line))).toEqual([]);
  });
});
