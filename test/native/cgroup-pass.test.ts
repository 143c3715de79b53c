import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { native, type FileSpec } from '../../src/native/index.js';
import { compiler } from './compiler.js';
import {
  addonFile,
  cgroup2,
  closing,
  hasCgroup2,
  hasMemoryV1,
  makeCgroup,
  makeDirectory,
  memoryV1,
  openDescriptors,
  startIn,
  thrownBy,
  until,
} from './kernel.js';

const number = (path: string, directory?: number): FileSpec => ({ path, format: 'number', ...(directory !== undefined && { directory }) });

/** A directory that reads like a cgroup with these files. */
function makeFake(files: Readonly<Record<string, string>>): string {
  const directory = makeDirectory();
  for (const [name, text] of Object.entries({ 'cgroup.procs': '', ...files })) writeFileSync(join(directory, name), text);
  return directory;
}

function tableOf(files: readonly FileSpec[], maxOpenFiles: number) {
  const table = closing(new native.CgroupTable(files, { maxOpenFiles }));
  return { table, values: new Float64Array(4 * table.columns).fill(-1), errors: new Int32Array(4).fill(-1) };
}

const all: [name: string, maxOpenFiles: number][] = [
  ['kept', 100],
  ['opened for each reading', 0],
];

describe.each(all)('a pass over some of the files, %s', (_name, maxOpenFiles) => {
  const files: readonly FileSpec[] = [number('a'), { path: 'b', format: 'keyed', keys: ['x', 'y'] }, number('c')];

  test('reads these files and leaves the fields of the others unchanged', () => {
    const { table, values, errors } = tableOf(files, maxOpenFiles);
    const directory = makeFake({ a: '1\n', b: 'x 2\ny 3\n', c: '4\n' });
    table.add(directory);
    table.read(values, errors, undefined, 0b100);
    expect([...values.slice(0, 4)]).toEqual([-1, -1, -1, 4]);
    table.read(values, errors);
    expect([...values.slice(0, 4), errors[0]]).toEqual([1, 2, 3, 4, 0]);
    writeFileSync(join(directory, 'a'), '9\n');
    writeFileSync(join(directory, 'b'), 'x 9\ny 9\n');
    table.read(values, errors, Uint32Array.of(0), 0b001);
    expect([...values.slice(0, 4)]).toEqual([9, 2, 3, 4]);
    table.read(values, errors, undefined, 0);
    expect([...values.slice(0, 4), errors[0]]).toEqual([9, 2, 3, 4, 0]);
  });

  test('reports the errors of these files, not of the others', () => {
    const { table, values, errors } = tableOf(files, maxOpenFiles);
    table.add(makeFake({ a: '1\n', c: 'garbage\n' }));
    table.read(values, errors, undefined, 0b001);
    expect(errors[0]).toBe(0);
    table.read(values, errors, undefined, 0b100);
    expect([errors[0], values[3]]).toEqual([74, NaN]);
  });

  test.runIf(hasMemoryV1)('that reads only usage notices that the cgroup was removed', () => {
    const cgroup = makeCgroup(memoryV1);
    const { table, values, errors } = tableOf([number('memory.usage_in_bytes'), number('memory.limit_in_bytes')], maxOpenFiles);
    table.add(cgroup);
    table.read(values, errors, undefined, 1);
    rmdirSync(cgroup);
    table.read(values, errors, undefined, 1);
    expect([errors[0], values[0], values[1]]).toEqual([19, NaN, -1]);
  });

  test('refuses a mask beyond 32 bits and more than 32 files with a RangeError', () => {
    const { table, values, errors } = tableOf([number('a')], maxOpenFiles);
    for (const mask of [-1, 0.5, 2 ** 32]) {
      expect(thrownBy(() => table.read(values, errors, undefined, mask))).toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
    }
    const tooMany = Array.from({ length: 33 }, (_, index) => number(String(index)));
    expect(thrownBy(() => new native.CgroupTable(tooMany))).toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
  });
});

describe.each(all)('a directory beside the cgroup, with files %s', (_name, maxOpenFiles) => {
  const files = [number('usage'), number('pids.current', 1), number('frozen', 2)];

  test('is read into the same row', () => {
    const { table, values, errors } = tableOf(files, maxOpenFiles);
    table.add(makeFake({ usage: '1\n' }), [makeFake({ 'pids.current': '7\n' }), makeFake({ frozen: '0\n' })]);
    for (let pass = 0; pass < 2; pass++) table.read(values, errors);
    expect([...values.slice(0, 3), errors[0]]).toEqual([1, 7, 0, 0]);
  });

  test('is unknown without an error if it is missing, removed, without the file or not given, and is read once it exists', () => {
    const { table, values, errors } = tableOf(files, maxOpenFiles);
    const pids = makeFake({ 'pids.current': '7\n' });
    rmSync(join(pids, 'pids.current'));
    table.add(makeFake({ usage: '1\n' }), [pids]);
    table.add(makeFake({ usage: '2\n' }));
    table.read(values, errors);
    expect([...values.slice(0, 6), ...errors.slice(0, 2)]).toEqual([1, NaN, NaN, 2, NaN, NaN, 0, 0]);
    writeFileSync(join(pids, 'pids.current'), '3\n');
    table.read(values, errors);
    expect([...values.slice(0, 3), errors[0]]).toEqual([1, 3, NaN, 0]);
  });

  const pids = '/sys/fs/cgroup/pids';
  test.runIf(hasMemoryV1)('is read again after it was removed and made again (pids beside memory)', () => {
    const before = openDescriptors();
    const [cgroup, beside] = [makeCgroup(memoryV1), makeCgroup(pids)];
    const { table, values, errors } = tableOf([number('memory.usage_in_bytes'), number('pids.current', 1)], maxOpenFiles);
    table.add(cgroup, [beside]);
    const read = () => {
      table.read(values, errors);
      return [values[1], errors[0]];
    };
    expect(read()).toEqual([0, 0]);
    rmdirSync(beside);
    expect(read()).toEqual([NaN, 0]);
    mkdirSync(beside);
    expect(read()).toEqual([0, 0]);
    table.remove(0);
    expect(openDescriptors()).toBeLessThanOrEqual(before);
  });
});

describe('whether a cgroup has a process', () => {
  const occupied: FileSpec = { path: 'cgroup.procs', format: 'occupied' };

  test.each<[rule: string, text: string, value: number, errno: number]>([
    ['the list is empty', '', 0, 0],
    ['one', '12\n', 1, 0],
    ['the list has a process outside this pid namespace', '0\n', 1, 0],
    ['the list has more processes than are read at once', '1234567\n'.repeat(10_000), 1, 0],
    ['text that the kernel would not write', 'garbage\n', NaN, 74],
  ])('%s', (_rule, text, value, errno) => {
    const { table, values, errors } = tableOf([occupied], 100);
    table.add(makeFake({ 'cgroup.procs': text }));
    table.read(values, errors);
    expect([values[0], errors[0]]).toEqual([value, errno]);
  });

  const mounts: [version: string, parent: string][] = [];
  if (hasMemoryV1) mounts.push(['v1', memoryV1]);
  if (hasCgroup2) mounts.push(['v2', cgroup2]);
  test.each(mounts)('is current on %s at each reading', async (_version, parent) => {
    const cgroup = makeCgroup(parent);
    const { table, values, errors } = tableOf([occupied], 100);
    table.add(cgroup);
    const read = () => {
      table.read(values, errors);
      return values[0];
    };
    expect(read()).toBe(0);
    const child = await startIn(cgroup, 'exec sleep 60');
    expect(read()).toBe(1);
    child.kill('SIGKILL');
    await until('the killed process has left', () => readFileSync(`${cgroup}/cgroup.procs`, 'utf8') === '');
    expect(read()).toBe(0);
  });
});

describe('a pass allocates nothing', () => {
  const PASSES = 10_000;
  /**
   * Counts what the calling thread allocates, where a test can read it: nothing that is in the process may do the
   * counting.
   */
  const COUNTER = `
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <stddef.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static unsigned long count;
    extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
    static void note(void) { if (syscall(SYS_gettid) == getpid()) count++; }
    void *malloc(size_t n) { note(); return __libc_malloc(n); }
    void *calloc(size_t n, size_t m) { note(); return __libc_calloc(n, m); }
    void *realloc(void *p, size_t n) { note(); return __libc_realloc(p, n); }
    void *aligned_alloc(size_t a, size_t n) { note(); return __libc_memalign(a, n); }
    int posix_memalign(void **p, size_t a, size_t n) { note(); *p = __libc_memalign(a, n); return 0; }
    /* The script requests the count by a mask that is otherwise unused. */
    unsigned umask(unsigned mask) {
      if (mask == 07654) { char text[32]; ssize_t n = write(2, text, (size_t)snprintf(text, sizeof text, "%lu\\n", count)); (void)n; return 0; }
      return (unsigned)syscall(SYS_umask, mask);
    }`;

  /** Passes over cgroup-like directories, between two looks at the heap and at the counter. */
  const script = (directories: readonly string[], maxOpenFiles: number) => `
    const native = require(${JSON.stringify(addonFile)});
    const files = [{ path: 'a', format: 'number' }, { path: 'b', format: 'keyed', keys: ['x', 'y'] },
      { path: 'a', format: 'number', directory: 1 }, { path: 'cgroup.procs', format: 'occupied' }];
    const table = new native.CgroupTable(files, { maxOpenFiles: ${String(maxOpenFiles)} });
    for (const directory of ${JSON.stringify(directories)}) table.add(directory, [directory]);
    const values = new Float64Array(table.rowCount * table.columns), errors = new Int32Array(table.rowCount), rows = Uint32Array.of(0, 2);
    const pass = (times) => { for (let i = 0; i < times; i++) { table.read(values, errors); table.read(values, errors, rows, 1); } };
    pass(20000); // whatever V8 makes of it is made
    gc();
    const look = () => { const { heapUsed, external, arrayBuffers } = process.memoryUsage(); return [heapUsed, external, arrayBuffers]; };
    look();
    process.umask(0o7654);
    process.umask(0o7654);
    pass(${String(PASSES)});
    process.umask(0o7654);
    // V8 has its own reasons to allocate now and then: what a pass allocates is there each time.
    const grown = [0, 1, 2, 3, 4].map(() => {
      const before = look();
      pass(${String(PASSES)});
      return look().map((bytes, index) => bytes - before[index]);
    });
    console.log(JSON.stringify({ grown, sum: values.reduce((sum, value) => sum + value) }));`;

  test.runIf(compiler !== undefined).each(all)(
    'natively or in V8, with files %s (where there is a C compiler to count with)',
    (_name, maxOpenFiles) => {
      const scratch = makeDirectory();
      const library = join(scratch, 'count.so');
      writeFileSync(join(scratch, 'count.c'), COUNTER);
      execFileSync(compiler ?? '', ['-O1', '-shared', '-fPIC', '-w', '-o', library, join(scratch, 'count.c')]);
      const directories = Array.from({ length: 3 }, () => makeFake({ a: '1\n', b: 'x 2\ny 3\n' }));
      const errorsFile = join(scratch, 'counted');
      const output = execFileSync(
        '/bin/sh',
        [
          '-c',
          `exec "$0" --expose-gc --single-threaded-gc -e "$1" 2> "$2"`,
          process.execPath,
          script(directories, maxOpenFiles),
          errorsFile,
        ],
        { env: { ...process.env, LD_PRELOAD: library }, encoding: 'utf8' },
      );
      const counts = readFileSync(errorsFile, 'utf8').trim().split('\n').map(Number);
      const { grown, sum } = JSON.parse(output) as { grown: number[][]; sum: number };
      expect(sum).toBe(3 * (1 + 2 + 3 + 1 + 0));
      expect(counts).toHaveLength(3);
      const [first = NaN, between = NaN, last = NaN] = counts;
      expect(first).toBeGreaterThan(1000); // it counts
      // An allocation a pass would be ten thousand more.
      expect(last - between).toBeLessThan(PASSES / 100);
      for (const index of [0, 1, 2]) expect(Math.min(...grown.map((round) => round[index] ?? NaN))).toBeLessThan(PASSES * 4);
    },
  );
});
