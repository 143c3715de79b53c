import { mkdirSync, readFileSync, rmSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { native, type FileSpec } from '../../src/native/index.js';
import {
  cgroup2,
  closing,
  hasMemoryV1,
  hasMemoryV2,
  makeCgroup,
  makeDirectory,
  memoryV1,
  openDescriptors,
  runNode,
  startIn,
  thrownBy,
  until,
} from './kernel.js';

const { EBADMSG, ENODEV, ENOENT, EMFILE } = constants.errno as Record<string, number>;

const hasMemory = hasMemoryV1 || hasMemoryV2;
const memory = hasMemoryV1 ? memoryV1 : cgroup2;
const usage: FileSpec = { path: hasMemoryV1 ? 'memory.usage_in_bytes' : 'memory.current', format: 'number' };
const stat: FileSpec = {
  path: 'memory.stat',
  format: 'keyed',
  keys: hasMemoryV1 ? ['total_rss', 'total_inactive_file'] : ['anon', 'inactive_file'],
};
/** Everything that there is to know of a cgroup's memory. */
const number = (path: string): FileSpec => ({ path, format: 'number' });
const everything: readonly FileSpec[] = hasMemoryV1
  ? [
      usage,
      { path: 'memory.stat', format: 'keyed', keys: ['total_inactive_file', 'total_rss', 'total_cache', 'total_shmem', 'total_swap'] },
      { path: 'memory.oom_control', format: 'keyed', keys: ['oom_kill'] },
      ...['memory.soft_limit_in_bytes', 'memory.limit_in_bytes'].map(number),
      { path: 'cgroup.procs', format: 'occupied' },
    ]
  : [
      usage,
      { path: 'memory.stat', format: 'keyed', keys: ['inactive_file', 'anon', 'file', 'shmem'] },
      ...['memory.swap.current', 'pids.current', 'memory.low', 'memory.min', 'memory.high', 'memory.max'].map(number),
      { path: 'cgroup.events', format: 'keyed', keys: ['populated'] },
      { path: 'memory.events', format: 'keyed', keys: ['oom_kill'] },
    ];

/** A table with arrays as its owner would hold them; `ask` reads into them. */
function table(files: readonly FileSpec[], maxOpenFiles?: number) {
  const rows = closing(new native.CgroupTable(files, maxOpenFiles === undefined ? undefined : { maxOpenFiles }));
  const values = new Float64Array(100 * rows.columns).fill(NaN);
  const errors = new Int32Array(100);
  const ask = (...numbers: number[]) => {
    rows.read(values, errors, numbers.length === 0 ? undefined : Uint32Array.from(numbers));
  };
  return { rows, values, errors, ask };
}

const inode = (path: string) => statSync(path, { bigint: true }).ino;

/** Everything kept; only the directory; nothing. */
const degrees: [name: string, maxOpenFiles: number][] = [
  ['with all descriptors kept', 100],
  ['with the directory kept', 1],
  ['with no descriptor kept', 0],
];

describe.runIf(hasMemory).each(degrees)('a table of cgroups, %s', (_name, maxOpenFiles) => {
  test('reads every row in one pass', () => {
    const cgroups = Array.from({ length: 3 }, () => makeCgroup(memory));
    const { rows, values, errors, ask } = table([usage, stat], maxOpenFiles);
    expect(cgroups.map((cgroup) => rows.add(cgroup))).toEqual([0, 1, 2]);
    expect([rows.columns, rows.size]).toEqual([3, 3]);
    ask();
    expect([...errors.slice(0, 3)]).toEqual([0, 0, 0]);
    expect([...values.slice(0, 9)].every(Number.isFinite)).toBe(true);
    expect(cgroups.map((_cgroup, row) => rows.id(row))).toEqual(cgroups.map(inode));
  });

  test('reports a removed cgroup as ENODEV in its row, and reads the others', () => {
    const [gone, stays] = [makeCgroup(memory), makeCgroup(memory)];
    const { rows, values, errors, ask } = table([usage, stat], maxOpenFiles);
    rows.add(gone);
    rows.add(stays);
    ask();
    rmdirSync(gone);
    for (let pass = 0; pass < 2; pass++) {
      ask();
      expect([...errors.slice(0, 2)]).toEqual([ENODEV, 0]);
      expect([...values.slice(0, 4)]).toEqual([NaN, NaN, NaN, expect.any(Number)]);
    }
  });

  test('treats a cgroup that was created again under the same name as another one', () => {
    const cgroup = makeCgroup(memory);
    const { rows, values, errors, ask } = table([usage], maxOpenFiles);
    rows.add(cgroup);
    ask();
    rmdirSync(cgroup);
    mkdirSync(cgroup);
    ask();
    expect([errors[0], values[0]]).toEqual([ENODEV, NaN]);
    expect(rows.id(0)).not.toBe(inode(cgroup));
    expect(rows.add(cgroup)).toBe(1);
    ask();
    expect([errors[1], rows.id(1)]).toEqual([0, inode(cgroup)]);
  });

  test('reports a file that the cgroup does not have as ENOENT, and reads the others', () => {
    const { rows, values, errors, ask } = table([{ path: 'memory.none', format: 'number' }, usage], maxOpenFiles);
    rows.add(makeCgroup(memory));
    ask();
    expect([errors[0], ...values.slice(0, 2)]).toEqual([ENOENT, NaN, expect.any(Number)]);
  });

  test('keeps no more descriptors than configured', () => {
    const before = openDescriptors();
    const { rows, errors, ask } = table([usage, stat], maxOpenFiles);
    for (let row = 0; row < 50; row++) rows.add(makeCgroup(memory));
    ask();
    expect(openDescriptors() - before).toBeLessThanOrEqual(maxOpenFiles);
    expect([...errors.slice(0, 50)].every((error) => error === 0)).toBe(true);
    for (let row = 0; row < 50; row++) rows.remove(row);
    expect(openDescriptors()).toBeLessThanOrEqual(before);
  });
});

describe('a table of cgroups', () => {
  const makeFake = (text: string): string => {
    const directory = makeDirectory();
    writeFileSync(join(directory, 'cgroup.procs'), '');
    writeFileSync(join(directory, usage.path), text);
    return directory;
  };

  test('reports garbage in one cgroup as an error of that row', () => {
    const { rows, values, errors, ask } = table([usage]);
    for (const text of ['1\n', 'garbage\n', '', '-5\n', '2\n']) rows.add(makeFake(text));
    ask();
    expect([...values.slice(0, 5)]).toEqual([1, NaN, NaN, NaN, 2]);
    expect([...errors.slice(0, 5)]).toEqual([0, EBADMSG, EBADMSG, EBADMSG, 0]);
  });

  test('finds a file that is created later', () => {
    const directory = makeFake('1\n');
    rmSync(join(directory, usage.path));
    const { rows, values, errors, ask } = table([usage]);
    rows.add(directory);
    ask();
    expect(errors[0]).toBe(ENOENT);
    writeFileSync(join(directory, usage.path), '8\n');
    ask();
    expect([errors[0], values[0]]).toEqual([0, 8]);
  });

  test('says how many rows need room, and reads nothing into arrays that are too short', () => {
    const { rows, errors } = table([usage, stat]);
    for (let row = 0; row < 20; row++) expect(rows.add(makeFake(`${String(row)}\n`))).toBe(row);
    for (let row = 1; row < 20; row++) rows.remove(row);
    expect([rows.rowCount, rows.size]).toEqual([20, 1]);
    const short = new Float64Array(59).fill(-1);
    const refused = thrownBy(() => {
      rows.read(short, errors);
    });
    expect(refused).toMatchObject({ name: 'RangeError', code: 'ERR_OUT_OF_RANGE', message: 'values must hold 60 numbers, not 59' });
    expect(short[0]).toBe(-1);
    expect(thrownBy(() => rows.read(new Float64Array(60), new Int32Array(19)))).toMatchObject({
      code: 'ERR_OUT_OF_RANGE',
      message: 'errors must hold 20 numbers, not 19',
    });
  });

  test.each<[rule: string, args: unknown[]]>([
    ['missing arrays', []],
    ['an array of another kind', [new Float32Array(10), new Int32Array(10)]],
    ['errors of another kind', [new Float64Array(10), new Uint32Array(10)]],
    ['rows as an array', [new Float64Array(10), new Int32Array(10), [0]]],
    ['files as text', [new Float64Array(10), new Int32Array(10), undefined, '1']],
  ])('refuses %s with a TypeError', (_rule, args) => {
    const { rows } = table([usage]);
    expect(thrownBy(() => (rows.read as (...any: unknown[]) => void).call(rows, ...args))).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  });

  test('reads only the given rows', () => {
    const { rows, values, errors, ask } = table([usage]);
    for (const text of ['1\n', '2\n', '3\n']) rows.add(makeFake(text));
    ask(2, 0);
    expect([...values.slice(0, 3)]).toEqual([1, NaN, 3]);
    rows.read(values, errors, new Uint32Array());
    expect(values[1]).toBeNaN();
  });

  test('gives the row of a removed cgroup to the next one', () => {
    const { rows, values, errors, ask } = table([usage]);
    for (const text of ['1\n', '2\n']) rows.add(makeFake(text));
    ask();
    rows.remove(0);
    expect(rows.size).toBe(1);
    ask();
    expect([values[0], errors[0], values[1]]).toEqual([NaN, ENODEV, 2]);
    expect(rows.add(makeFake('9\n'))).toBe(0);
    ask();
    expect(values[0]).toBe(9);
  });

  test.each<[rule: string, row: number]>([
    ['a row that was never used', 1],
    ['a negative row', -1],
    ['a fraction', 0.5],
    ['a row that is not a number', NaN],
    ['beyond all rows', 2 ** 40],
  ])('refuses %s with a RangeError', (_rule, row) => {
    const { rows } = table([usage]);
    rows.add(makeFake('1\n'));
    for (const use of [() => rows.remove(row), () => rows.id(row)]) {
      expect(thrownBy(use)).toMatchObject({ name: 'RangeError', code: 'ERR_OUT_OF_RANGE' });
    }
  });

  test('does not read a row that is not in use, nor the given rows before it', () => {
    const { rows, values, ask } = table([usage]);
    for (const text of ['1\n', '2\n']) rows.add(makeFake(text));
    rows.remove(1);
    for (const none of [1, 2, -1]) expect(thrownBy(() => ask(0, none))).toMatchObject({ name: 'RangeError', code: 'ERR_OUT_OF_RANGE' });
    expect(values[0]).toBeNaN();
  });

  test('refuses a missing cgroup and a path that is not a directory, with the path', () => {
    const { rows } = table([usage]);
    expect(thrownBy(() => rows.add('/proc/none'))).toMatchObject({ code: 'ENOENT', syscall: 'open', path: '/proc/none' });
    expect(thrownBy(() => rows.add('/proc/stat'))).toMatchObject({ code: 'ENOTDIR', path: '/proc/stat' });
    expect(rows.size).toBe(0);
  });

  test('may be closed twice, and cannot be read then', () => {
    const { rows, ask } = table([usage]);
    rows.close();
    rows.close();
    expect(thrownBy(() => ask())).toMatchObject({ code: 'EBADF' });
    expect(rows.size).toBe(0);
  });

  test('writes only into its own part of shared memory', async () => {
    const { status, output } = await runNode(`
      const table = new native.CgroupTable([{ path: 'loadavg', format: 'loadavg' }]);
      const rows = [table.add('/proc'), table.add('/proc')];
      const shared = new ArrayBuffer(1024);
      const asked = new Uint32Array(shared, 0, 2);
      asked.set(rows);
      table.read(new Float64Array(shared), new Int32Array(2), asked);
      console.log('read', asked[0] === rows[0] && asked[1] === rows[1]);`);
    expect({ status, output }).toEqual({ status: 0, output: 'read false' });
  });

  test('does not write into memory that was transferred away', () => {
    const { rows, values, ask } = table([usage]);
    rows.add(makeFake('1\n'));
    structuredClone(values, { transfer: [values.buffer] });
    expect(() => ask()).toThrow(RangeError);
  });

  test('without free descriptors can add rows, reads kept rows, and reports EMFILE for the others', async () => {
    const [kept, late] = [makeFake('1\n'), makeFake('2\n')];
    const { status, output } = await runNode(`
      const table = new native.CgroupTable([{ path: ${JSON.stringify(usage.path)}, format: 'number' }]);
      const values = new Float64Array(2), errors = new Int32Array(2);
      table.add(${JSON.stringify(kept)});
      table.read(values, errors);
      const taken = [];
      try { for (;;) taken.push(fs.openSync('/dev/null')); } catch (error) { if (error.code !== 'EMFILE') throw error; }
      table.add(${JSON.stringify(late)});
      table.read(values, errors);
      const full = [...values, ...errors];
      for (const fd of taken) fs.closeSync(fd);
      table.read(values, errors);
      console.log(JSON.stringify([full, [...values, ...errors]]));
    `);
    expect({ status, output: JSON.parse(output) as unknown }).toEqual({
      status: 0,
      output: [
        [1, null, 0, EMFILE],
        [1, 2, 0, 0],
      ],
    });
  });

  test.runIf(hasMemory)('reads all values of a cgroup, as the kernel prints them', async () => {
    const cgroup = makeCgroup(memory);
    await startIn(cgroup, 'exec sleep 600');
    const { rows, values, errors, ask } = table(everything);
    rows.add(cgroup);
    const said = (): number[] =>
      everything.flatMap((file) => {
        const text = readFileSync(`${cgroup}/${file.path}`, 'utf8');
        if (file.format === 'occupied') return [text === '' ? 0 : 1];
        if (file.format === 'keyed') return file.keys.map((key) => Number(new RegExp(`^${key} (\\d+)$`, 'm').exec(text)?.[1]));
        return [text === 'max\n' ? Infinity : Number(text)];
      });
    // The kernel adds up what its processors have counted only every now and then.
    let seen: number[] = [];
    await until('both to say the same', () => {
      ask();
      seen = [...values.slice(0, rows.columns)];
      return isDeepStrictEqual(seen, said());
    });
    expect(errors[0]).toBe(0);
    expect(seen.some(Number.isNaN)).toBe(false);
    expect(seen[0]).toBeGreaterThan(0);
  });
});
