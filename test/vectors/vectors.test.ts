import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { AREAS } from './areas.js';
import { readVectorFile } from './file.js';
import { parseJson } from './json.js';
import { lineArea } from './line-area.js';
import { failuresOf, runVectors } from './runner.js';

const ownFiles = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.jsonl'));

describe('measured results', () => {
  test.each(ownFiles)('%s', (name) => {
    const file = readVectorFile(join(import.meta.dirname, name));
    expect(failuresOf(file)).toEqual([]);
  });

  test('every area has a file', () => {
    expect(ownFiles.sort()).toEqual([...AREAS.keys()].map((area) => `${area}.jsonl`).sort());
  });
});

describe('the runner of vectors', () => {
  let dir = '';
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), `evictd-test-${process.pid}-`));
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  const write = (name: string, ...lines: readonly string[]): string => {
    const path = join(dir, name);
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
    return path;
  };
  const good = '{"name":"a","why":"right","input":"1s","expect":{"ok":true,"ns":"1000000000","string":"1s"}}';
  const bad = '{"name":"b","why":"wrong","input":"1s","expect":{"ok":true,"ns":"1000000001","string":"1s"}}';

  test('passes all vectors', () => {
    expect(runVectors([write('duration.jsonl', good)])).toEqual({ exitCode: 0, stdout: '1 passed, 0 failed\n', stderr: '' });
  });

  test('prints a failing line with its position, name, expectation and result', () => {
    const path = write('duration.jsonl', good, '', bad);
    expect(runVectors([path])).toEqual({
      exitCode: 1,
      stdout: `FAIL ${path}:3 b (wrong)\n  ns\n    expected 1000000001\n    got      1000000000\n1 passed, 1 failed\n`.replace(
        /(expected|got {5}) (\d+)/g,
        '$1 "$2"',
      ),
      stderr: '',
    });
  });

  test('adds up the lines of several files', () => {
    const quantity = write('quantity.jsonl', '{"name":"a","why":"","input":"x","expect":{"ok":false,"error":"y"}}');
    const run = runVectors([write('duration.jsonl', good), quantity]);
    expect(run.exitCode).toBe(1);
    expect(run.stdout.trimEnd().split('\n').at(-1)).toBe('1 passed, 1 failed');
  });

  test.each<[rule: string, name: string, line: string, what: string]>([
    ['success where an error is expected', 'duration.jsonl', '{"name":"a","input":"1s","expect":{"ok":false,"error":"e"}}', 'ok'],
    [
      'an expectation that is unknown',
      'duration.jsonl',
      '{"name":"a","input":"x","expect":{"ok":false,"error":"time: invalid duration \\"x\\"","days":"0"}}',
      'days',
    ],
    ['an expectation that is left out', 'duration.jsonl', '{"name":"a","input":"1s","expect":{"ok":true,"string":"1s"}}', 'ns'],
    [
      'a value marked as not to be tested does not excuse the others',
      'quantity.jsonl',
      '{"name":"a","input":"-1","expect":{"ok":true,"string":"-1","canonical":"-1","format":"DecimalSI","sign":-1,"nano":"-1000000001","milli":"-1000","valueObserved":"1","valueDocumented":"-1"}}',
      'nano',
    ],
    [
      'wrong thousandths beside a right value',
      'quantity.jsonl',
      '{"name":"a","input":"-1","expect":{"ok":true,"string":"-1","canonical":"-1","format":"DecimalSI","sign":-1,"nano":"-1000000000","milli":"-1001","valueObserved":"1","valueDocumented":"-1"}}',
      'milli',
    ],
  ])('fails: %s', (_rule, name, line, what) => {
    const { exitCode, stdout } = runVectors([write(name, line)]);
    expect({ exitCode, what: stdout.split('\n')[1] }).toEqual({ exitCode: 1, what: `  ${what}` });
  });

  test.each<[rule: string, exitCode: number, name: string, lines: readonly string[], message: string]>([
    [
      'unknown area',
      64,
      'ranks.jsonl',
      [good, '{"name":"b","input":"1s","expect":{"ok":true}}'],
      `:2: unknown area: the line looks like none, and the file's name is not one of ${[...AREAS.keys()].join(', ')}, with .jsonl`,
    ],
    ['bad JSON, by its line', 65, 'duration.jsonl', [good, '', '{"name":'], ':3: '],
    ['a line that is not an object', 65, 'duration.jsonl', ['[]'], ':1: a JSON object is expected'],
    ['a line without a name', 65, 'duration.jsonl', ['{"input":"1s","expect":{"ok":true}}'], ':1: "name" must be a text'],
    ['a line without an input', 65, 'duration.jsonl', [good, good], ':2: "a" is the name of an earlier line, too'],
    ['a line without an expectation', 65, 'duration.jsonl', [good, '{"name":"b","expect":{"ok":true}}'], ':2: "input" must be a text'],
    ['no expectation', 65, 'quantity.jsonl', ['{"name":"b","input":"1"}'], ':1: "expect" must be an object with "ok"'],
    ['a file without a line', 65, 'duration.jsonl', [''], ':1: no vectors'],
  ])('%s', (_rule, exitCode, name, lines, message) => {
    const path = write(name, ...lines);
    const run = runVectors([path]);
    expect({ ...run, stderr: run.stderr.startsWith(path + message) }).toEqual({ exitCode, stdout: '', stderr: true });
  });

  test.each(ownFiles)('finds the area of a line by its fields under another file name: %s', (name) => {
    const { vectors } = readVectorFile(join(import.meta.dirname, name));
    expect([...new Set(vectors.map(({ line }) => `${String(lineArea(line))}.jsonl`))]).toEqual([name]);
  });

  test('reads lines of several areas in one file', () => {
    const quantity = '{"name":"q","why":"","input":"x","expect":{"ok":false,"error":"y"}}';
    const { exitCode, stdout } = runVectors([write('more.json', good, bad, quantity)]);
    expect({ exitCode, failed: stdout.match(/FAIL \S+ (\S)/g)?.map((text) => text.at(-1)) }).toEqual({ exitCode: 1, failed: ['b', 'q'] });
  });

  test.each<[value: string, resolved: string]>([
    ['0%', '"value":"0","string":"0","float32":0'],
    ['0.0%', '"value":"0","string":"0","float32":0'],
    ['100%', '"value":"2048","string":"2Ki","float32":1'],
    ['150%', '"value":"3072","string":"3Ki","float32":1.5'],
    ['NaN%', '"value":"-9223372036854775808","string":"-8Ei","float32":"NaN"'],
    ['0', '"value":"0","string":"0"'],
  ])('resolves any threshold or minimum reclaim: %s', (value, resolved) => {
    const line = `{"name":"a","kind":"resolve","value":"${value}","capacity":"2048","expect":{${resolved}}}`;
    expect(runVectors([write('thresholds.jsonl', line)])).toEqual({ exitCode: 0, stdout: '1 passed, 0 failed\n', stderr: '' });
  });

  test.each<[rule: string, name: string, line: string]>([
    ['rankings', 'rank.jsonl', '{"name":"a","pods":null,"podStats":null,"rankings":[{"signal":"pid.available","groups":null}]}'],
    ['conditions', 'admit.jsonl', '{"name":"a","nodeConditions":null,"pod":{"metadata":{"name":"p"},"spec":{}},"expect":{"admit":true}}'],
    [
      'pods of a step',
      'sync.jsonl',
      '{"name":"a","config":{"evictionPressureTransitionPeriod":"0s","evictionMaxPodGracePeriod":0,"localStorageCapacityIsolation":true},' +
        '"layout":"single","pods":null,"steps":[{"at":0.5,"activePods":null,"killErrorPods":null,"summary":{"node":{},"pods":null}}],' +
        '"expect":[[{"error":null,"nodeConditions":[],"evicted":[],"kills":[],"events":[],"gc":[],"evictionCounts":{},"summaryReads":1}]]}',
    ],
    ['thresholds', 'thresholds.jsonl', '{"name":"a","kind":"parse","config":{"evictionHard":null},"expect":{"ok":true,"thresholds":null}}'],
  ])('reads null as an empty list: %s', (_rule, name, line) => {
    expect(runVectors([write(name, line)])).toEqual({ exitCode: 0, stdout: '1 passed, 0 failed\n', stderr: '' });
  });

  test('refuses a missing file', () => {
    const run = runVectors([join(dir, 'nowhere', 'duration.jsonl')]);
    expect(run.exitCode).toBe(66);
    expect(run.stderr).toContain('ENOENT');
  });

  test('runs nothing unless all files can be read', () => {
    expect(runVectors([write('duration.jsonl', bad), join(dir, 'signals.jsonl')]).stdout).toBe('');
  });

  describe('as a command', () => {
    const command = (...args: readonly string[]) => {
      const tsx = [`--import=${import.meta.resolve('tsx')}`, join(import.meta.dirname, 'run.ts')];
      const { status, stdout, stderr } = spawnSync(process.execPath, [...tsx, ...args], { encoding: 'utf8' });
      return { status, last: stdout.trimEnd().split('\n').at(-1), stderr };
    };

    test('runs all files here without a file argument', () => {
      const lines = ownFiles.reduce((sum, name) => sum + readVectorFile(join(import.meta.dirname, name)).vectors.length, 0);
      expect(command()).toEqual({ status: 0, last: `${lines} passed, 0 failed`, stderr: '' });
    }, 60_000);

    test('has the exit status of the run', () => {
      expect(command(write('duration.jsonl', good, bad))).toEqual({ status: 1, last: '1 passed, 1 failed', stderr: '' });
    }, 60_000);

    test('has no options', () => {
      expect(command('--help')).toEqual({ status: 64, last: '', stderr: '--help: no such option. Usage: npm run vectors -- [FILE…]\n' });
    }, 60_000);
  });
});

describe('lossless JSON', () => {
  test.each<[rule: string, text: string, value: unknown]>([
    ['the largest safe integer is a number', '[9007199254740991]', [9007199254740991]],
    ['the next integer is a bigint', '[9007199254740992]', [9007199254740992n]],
    ['negative', '{"a":-9223372036854775808}', { a: -9223372036854775808n }],
    ['a number as the whole document', '18446744073709551615', 18446744073709551615n],
    ['digits in a text stay', '{"9007199254740993":"9007199254740993"}', { '9007199254740993': '9007199254740993' }],
    ['behind an escaped quote, too', '["\\"9007199254740993"]', ['"9007199254740993']],
    ['a float stays a number', '[9007199254740993.5,9007199254740993e0]', [9007199254740994, 9007199254740992]],
  ])('%s: %s', (_rule, text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  test.each(['[09007199254740993]', '[9007199254740993', '{"a":9007199254740993x}', ''])('text that is not JSON: %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
