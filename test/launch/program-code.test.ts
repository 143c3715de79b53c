import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { compileProgram, runProgram, writeProgramCode } from '../../src/launch/program-code.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

declare global {
  var evictdTestSaid: string[];
}

let directory: string;
const write = (text: string): void => {
  writeFileSync(join(directory, 'program.cjs'), text);
};
const change = (alter: (cache: Buffer) => Buffer): void => {
  writeFileSync(join(directory, 'program.cache'), alter(readFileSync(join(directory, 'program.cache'))));
};
/** Whether there was code of it, and what it says. */
const started = (): [cached: boolean, said: string | undefined] => {
  globalThis.evictdTestSaid = [];
  const program = compileProgram(directory);
  runProgram(program, directory);
  return [program.cached, globalThis.evictdTestSaid[0]];
};

describe('the compiled code beside the program', () => {
  beforeEach(() => {
    directory = temporaryDirectory();
    write('"use strict"; globalThis.evictdTestSaid.push("one " + typeof require("node:fs").statSync);');
    writeProgramCode(compileProgram(directory), directory);
  });

  test('is used', () => {
    expect(started()).toEqual([true, 'one function']);
  });

  test('is not used by another Node', () => {
    expect(compileProgram(directory, 'v20.19.0 x64 98000000 1700000000').cached).toBe(false);
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
    write(readFileSync(join(directory, 'program.cjs'), 'utf8').replace('one', 'two'));
    expect(started()).toEqual([false, 'two function']);
  });
});

describe('the built program', () => {
  test('has code that this Node accepts', () => {
    expect(compileProgram(resolve('dist')).cached).toBe(true);
  });

  test('is ASCII but for comments, as it is read', () => {
    const lines = readFileSync('dist/program.cjs', 'latin1').split('\n');
    expect(lines.filter((line) => /[^\0-\x7f]/.test(line) && !/^\s*(\/\*\*|\*|\/\/)/.test(line))).toEqual([]);
  });
});
