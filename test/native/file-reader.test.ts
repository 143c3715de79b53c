import { appendFileSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { native, type FileSpec } from '../../src/native/index.js';
import { closing, hasMemoryV1, makeCgroup, makeDirectory, memoryV1, thrownBy } from './kernel.js';

const { EBADMSG, ENODATA, ENOENT, EISDIR, ENODEV, EFBIG } = constants.errno as Record<string, number>;

function read(...files: FileSpec[]): { values: number[]; errors: number[] } {
  const reader = closing(new native.FileReader(files));
  reader.read();
  return { values: [...reader.values], errors: [...reader.errors] };
}

function file(text: string): string {
  const path = join(makeDirectory(), 'file');
  writeFileSync(path, text);
  return path;
}

const nan = (count: number) => Array.from({ length: count }, () => NaN);

test.each<[rule: string, text: string, value: number, error: number | undefined]>([
  ['a number', '4096\n', 4096, 0],
  ['zero', '0\n', 0, 0],
  ['no limit in v2', 'max\n', Infinity, 0],
  ['no limit in v1', '9223372036854771712\n', 2 ** 63 - 4096, 0],
  ['the largest there is', '18446744073709551615\n', 2 ** 64, 0],
  ['a number of one more than 64 bits', '18446744073709551616\n', NaN, EBADMSG],
  ['a number of twenty-one digits', '100000000000000000000\n', NaN, EBADMSG],
  ['negative', '-1\n', NaN, EBADMSG],
  ['cut off before its end', '409', NaN, EBADMSG],
  ['empty', '', NaN, EBADMSG],
  ['only a newline', '\n', NaN, EBADMSG],
  ['text behind it', '4096 pages\n', NaN, EBADMSG],
  ['two lines', '1\n2\n', NaN, EBADMSG],
  ['a fraction', '1.5\n', NaN, EBADMSG],
  ['binary', '\0\xff\xfe\n', NaN, EBADMSG],
])('a number is parsed: %s', (_rule, text, value, error) => {
  expect(read({ path: file(text), format: 'number' })).toEqual({ values: [value], errors: [error] });
});

test.each<[rule: string, text: string, values: number[], error: number | undefined]>([
  ['memory.stat', 'anon 1\ninactive_file 2\nfile 3\n', [1, 2], 0],
  ['whatever the order', 'inactive_file 2\nfile 3\nanon 1\n', [1, 2], 0],
  ['meminfo: kB are 1024 bytes', 'anon:          1 kB\ninactive_file: 2 kB\n', [1024, 2048], 0],
  ['a key that begins like another', 'anon_thp 9\nanon 1\ninactive_file 2\n', [1, 2], 0],
  ['the first of two', 'anon 1\nanon 7\ninactive_file 2\n', [1, 2], 0],
  ['a key that does not exist', 'anon 1\nfile 3\n', [1, NaN], ENODATA],
  ['cut off behind what is wanted', 'anon 1\ninactive_file 2\nfil', [1, 2], 0],
  ['cut off in a number that is wanted', 'anon 1\ninactive_file 2', [1, NaN], EBADMSG],
  ['cut off before what is wanted', 'anon 1\ninact', [1, NaN], EBADMSG],
  ['a negative value: the others are good', 'anon -1\ninactive_file 2\n', [NaN, 2], EBADMSG],
  ['a value that does not fit', 'anon 99999999999999999999\ninactive_file 2\n', [NaN, 2], EBADMSG],
  ['a key without a value', 'anon\ninactive_file 2\n', [NaN, 2], ENODATA],
  ['a key with an empty value', 'anon \ninactive_file 2\n', [NaN, 2], EBADMSG],
  ['an unknown unit', 'anon 1 MB\ninactive_file 2\n', [NaN, 2], EBADMSG],
  ['empty', '', [NaN, NaN], EBADMSG],
  ['newlines only', '\n\n\n', [NaN, NaN], ENODATA],
  ['binary', '\xff\0 \0\n anon\n', [NaN, NaN], ENODATA],
])('a keyed file is parsed: %s', (_rule, text, values, error) => {
  expect(read({ path: file(text), format: 'keyed', keys: ['anon', 'inactive_file'] })).toEqual({ values, errors: [error] });
});

const arcstats = '13 1 0x01 123 33456 5231340871 7300218113\nname                            type data\n';

test.each<[rule: string, text: string, values: number[], error: number | undefined]>([
  ['the type is not part of the value', `${arcstats}c_min    4    1024\nsize     4    4096\n`, [4096, 1024], 0],
  ['a value that needs no space before it', 'size 4 1\nc_min 3 2\n', [1, 2], 0],
  ['a key that does not exist', `${arcstats}size     4    4096\n`, [4096, NaN], ENODATA],
  ['a negative value', `${arcstats}c_min    4    1024\nsize     3    -1\n`, [NaN, 1024], EBADMSG],
  ['a type without a value', `${arcstats}c_min    4    1024\nsize     4\n`, [NaN, 1024], EBADMSG],
  ['cut off in a number', `${arcstats}c_min    4    1024\nsize     4    40`, [NaN, 1024], EBADMSG],
])('a kstat file is parsed: %s', (_rule, text, values, error) => {
  expect(read({ path: file(text), format: 'kstat', keys: ['size', 'c_min'] })).toEqual({ values, errors: [error] });
});

const disk = '8:0 rbytes=4096 wbytes=512 rios=3 wios=1 dbytes=0 dios=0\n';

test.each<[rule: string, text: string, values: number[], error: number | undefined]>([
  ['the sum over devices', disk + disk.replace('8:0', '253:1'), [8192, 6], 0],
  ['a device without transfers', '', [0, 0], 0],
  ['a key that no device has', '8:0 rbytes=4096\n', [4096, 0], 0],
  ['text that is not a number', disk.replace('4096', 'x'), [NaN, 3], EBADMSG],
  ['cut off in a number', disk.slice(0, 12), [NaN, NaN], EBADMSG],
])('a nested file is parsed: %s', (_rule, text, values, error) => {
  expect(read({ path: file(text), format: 'nested', keys: ['rbytes', 'rios'] })).toEqual({ values, errors: [error] });
});

const some = 'some avg10=1.50 avg60=0.25 avg300=12.34 total=123456\n';
const full = 'full avg10=0.00 avg60=0.01 avg300=100.00 total=18446744073709551615\n';

test.each<[rule: string, text: string, values: number[], error: number | undefined]>([
  ['both lines', some + full, [1.5, 0.25, 12.34, 123456, 0, 0.01, 100, 2 ** 64], 0],
  ['only some, as for cpu before 5.13', some, [1.5, 0.25, 12.34, 123456, NaN, NaN, NaN, NaN], ENODATA],
  ['only full, as for irq', full, [NaN, NaN, NaN, NaN, 0, 0.01, 100, 2 ** 64], ENODATA],
  ['cut off', some + full.slice(0, -4), nan(8), EBADMSG],
  ['cut off at a field', `${some}full avg10=0.00\n`, [1.5, 0.25, 12.34, 123456, NaN, NaN, NaN, NaN], EBADMSG],
  ['another word', some.replace('some', 'none'), nan(8), EBADMSG],
  ['a negative share', some.replace('1.50', '-1.50'), nan(8), EBADMSG],
  ['empty', '', nan(8), EBADMSG],
])('a pressure file is parsed: %s', (_rule, text, values, error) => {
  expect(read({ path: file(text), format: 'pressure' })).toEqual({ values, errors: [error] });
});

test.each<[rule: string, text: string, value: number, error: number | undefined]>([
  ['the tasks that exist', '0.00 0.01 0.05 1/123 4567\n', 123, 0],
  ['without a fourth field', '0.00 0.01 0.05\n', NaN, EBADMSG],
  ['without a slash', '0.00 0.01 0.05 123 4567\n', NaN, EBADMSG],
  ['empty', '', NaN, EBADMSG],
])('loadavg is parsed: %s', (_rule, text, value, error) => {
  expect(read({ path: file(text), format: 'loadavg' })).toEqual({ values: [value], errors: [error] });
});

describe('the file reader', () => {
  test('reads the kernel’s own files as the kernel writes them', () => {
    const { values, errors } = read(
      { path: '/proc/meminfo', format: 'keyed', keys: ['MemTotal'] },
      { path: '/proc/loadavg', format: 'loadavg' },
      { path: '/proc/pressure/memory', format: 'pressure' },
    );
    expect(errors).toEqual([0, 0, 0]);
    expect(values[0]).toBe(Number(/^MemTotal: +(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1024);
    expect(values).toHaveLength(10);
    expect(values.some(Number.isNaN)).toBe(false);
  });

  test('reads a file larger than its buffer, also when it grows', () => {
    const filler = Array.from({ length: 2000 }, (_, i) => `key_${String(i)} ${String(i)}\n`).join('');
    const path = file(`${filler}last 42\n`);
    const reader = closing(new native.FileReader([{ path, format: 'keyed', keys: ['last', 'behind'] }]));
    reader.read();
    expect([...reader.values, ...reader.errors]).toEqual([42, NaN, ENODATA]);
    appendFileSync(path, `${filler.repeat(4)}behind 43\n`);
    reader.read();
    expect([...reader.values, ...reader.errors]).toEqual([42, 43, 0]);
  });

  test('gives up on a file of several megabytes', () => {
    expect(read({ path: file('x'.repeat(5 << 20)), format: 'number' })).toEqual({ values: [NaN], errors: [EFBIG] });
  });

  test('opens a missing file once it exists', () => {
    const path = join(makeDirectory(), 'late');
    const reader = closing(new native.FileReader([{ path, format: 'number' }]));
    reader.read();
    expect([...reader.values, ...reader.errors]).toEqual([NaN, ENOENT]);
    writeFileSync(path, '7\n');
    reader.read();
    expect([...reader.values, ...reader.errors]).toEqual([7, 0]);
  });

  test('reports a directory as an error of that file only', () => {
    expect(read({ path: '/proc', format: 'number' }, { path: '/proc/loadavg', format: 'loadavg' })).toMatchObject({ errors: [EISDIR, 0] });
  });

  test.runIf(hasMemoryV1)('reports a removed cgroup as ENODEV, then ENOENT, and reads it when it exists again', () => {
    const cgroup = makeCgroup(memoryV1);
    const reader = closing(new native.FileReader([{ path: `${cgroup}/memory.usage_in_bytes`, format: 'number' }]));
    reader.read();
    expect([...reader.values, ...reader.errors]).toEqual([expect.any(Number), 0]);
    rmdirSync(cgroup);
    reader.read();
    expect([...reader.values, ...reader.errors]).toEqual([NaN, ENODEV]);
    reader.read();
    expect([...reader.values, ...reader.errors]).toEqual([NaN, ENOENT]);
    mkdirSync(cgroup);
    reader.read();
    expect([...reader.values, ...reader.errors]).toEqual([expect.any(Number), 0]);
  });

  test('does not write into memory that was transferred away', () => {
    const reader = closing(new native.FileReader([{ path: '/proc/loadavg', format: 'loadavg' }]));
    structuredClone(reader.values, { transfer: [reader.values.buffer as ArrayBuffer] });
    expect(() => reader.read()).toThrow(RangeError);
  });

  test('may be closed twice, and cannot be read then', () => {
    const reader = new native.FileReader([{ path: '/proc/loadavg', format: 'loadavg' }]);
    reader.close();
    reader.close();
    expect(thrownBy(() => reader.read())).toMatchObject({ code: 'EBADF' });
  });

  test.each<[rule: string, specs: unknown]>([
    ['a value that is not a list', {}],
    ['a missing path', [{ format: 'number' }]],
    ['a path with NUL', [{ path: '/proc\0', format: 'number' }]],
    ['an unknown format', [{ path: '/proc/stat', format: 'json' }]],
    ['keyed without keys', [{ path: '/proc/meminfo', format: 'keyed' }]],
    ['a kstat without keys', [{ path: '/proc/meminfo', format: 'kstat' }]],
    ['a key that is not a string', [{ path: '/proc/meminfo', format: 'keyed', keys: [1] }]],
  ])('refuses %s with a TypeError', (_rule, specs) => {
    expect(thrownBy(() => new native.FileReader(specs as FileSpec[]))).toMatchObject({ name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' });
  });
});
