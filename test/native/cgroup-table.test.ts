import { mkdirSync, readFileSync, rmSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { native, type FileSpec } from '../../src/native/index.js';
import { closing, hasMemoryV1, makeCgroup, makeDirectory, memoryV1, openDescriptors, runNode, thrownBy } from './kernel.js';

const { EBADMSG, ENODEV, ENOENT, EMFILE } = constants.errno as Record<string, number>;

const usage: FileSpec = { path: 'memory.usage_in_bytes', format: 'number' };
const stat: FileSpec = { path: 'memory.stat', format: 'keyed', keys: ['total_rss', 'total_inactive_file'] };

const table = (files: readonly FileSpec[], maxOpenFiles?: number) =>
  closing(new native.CgroupTable(files, maxOpenFiles === undefined ? undefined : { maxOpenFiles }));

const inode = (path: string) => statSync(path, { bigint: true }).ino;

/** Everything kept; only the directory; nothing. */
const degrees: [name: string, maxOpenFiles: number][] = [
  ['with all descriptors kept', 100],
  ['with the directory kept', 1],
  ['with nothing kept', 0],
];

describe.runIf(hasMemoryV1).each(degrees)('a table of cgroups, %s', (_name, maxOpenFiles) => {
  test('reads every row in one pass', () => {
    const cgroups = Array.from({ length: 3 }, () => makeCgroup(memoryV1));
    const cgroupTable = table([usage, stat], maxOpenFiles);
    expect(cgroups.map((cgroup) => cgroupTable.add(cgroup))).toEqual([0, 1, 2]);
    expect([cgroupTable.columns, cgroupTable.size]).toEqual([3, 3]);
    cgroupTable.read();
    expect([...cgroupTable.errors.slice(0, 3)]).toEqual([0, 0, 0]);
    expect([...cgroupTable.values.slice(0, 9)].every(Number.isFinite)).toBe(true);
    expect(cgroups.map((_cgroup, row) => cgroupTable.id(row))).toEqual(cgroups.map(inode));
  });

  test('a removed cgroup is ENODEV in its row; the others are read', () => {
    const [gone, stays] = [makeCgroup(memoryV1), makeCgroup(memoryV1)];
    const cgroupTable = table([usage, stat], maxOpenFiles);
    cgroupTable.add(gone);
    cgroupTable.add(stays);
    cgroupTable.read();
    rmdirSync(gone);
    for (let pass = 0; pass < 2; pass++) {
      cgroupTable.read();
      expect([...cgroupTable.errors.slice(0, 2)]).toEqual([ENODEV, 0]);
      expect([...cgroupTable.values.slice(0, 4)]).toEqual([NaN, NaN, NaN, expect.any(Number)]);
    }
  });

  test('a cgroup created again under the same name is another one', () => {
    const cgroup = makeCgroup(memoryV1);
    const cgroupTable = table([usage], maxOpenFiles);
    cgroupTable.add(cgroup);
    cgroupTable.read();
    rmdirSync(cgroup);
    mkdirSync(cgroup);
    cgroupTable.read();
    expect([cgroupTable.errors[0], cgroupTable.values[0]]).toEqual([ENODEV, NaN]);
    expect(cgroupTable.id(0)).not.toBe(inode(cgroup));
    expect(cgroupTable.add(cgroup)).toBe(1);
    cgroupTable.read();
    expect([cgroupTable.errors[1], cgroupTable.id(1)]).toEqual([0, inode(cgroup)]);
  });

  test('a file that the cgroup does not have is ENOENT; the others are read', () => {
    const cgroupTable = table([{ path: 'memory.none', format: 'number' }, usage], maxOpenFiles);
    cgroupTable.add(makeCgroup(memoryV1));
    cgroupTable.read();
    expect([cgroupTable.errors[0], ...cgroupTable.values.slice(0, 2)]).toEqual([ENOENT, NaN, expect.any(Number)]);
  });

  test('keeps no more descriptors than it may', () => {
    const before = openDescriptors();
    const cgroupTable = table([usage, stat], maxOpenFiles);
    for (let row = 0; row < 50; row++) cgroupTable.add(makeCgroup(memoryV1));
    cgroupTable.read();
    expect(openDescriptors() - before).toBeLessThanOrEqual(maxOpenFiles);
    expect([...cgroupTable.errors.slice(0, 50)].every((error) => error === 0)).toBe(true);
    for (let row = 0; row < 50; row++) cgroupTable.remove(row);
    expect(openDescriptors()).toBe(before);
  });
});

describe('a table of cgroups', () => {
  const makeFake = (text: string): string => {
    const directory = makeDirectory();
    writeFileSync(join(directory, 'cgroup.procs'), '');
    writeFileSync(join(directory, 'memory.usage_in_bytes'), text);
    return directory;
  };

  test('garbage in one cgroup is that row’s error', () => {
    const cgroupTable = table([usage]);
    for (const text of ['1\n', 'garbage\n', '', '-5\n', '2\n']) cgroupTable.add(makeFake(text));
    cgroupTable.read();
    expect([...cgroupTable.values.slice(0, 5)]).toEqual([1, NaN, NaN, NaN, 2]);
    expect([...cgroupTable.errors.slice(0, 5)]).toEqual([0, EBADMSG, EBADMSG, EBADMSG, 0]);
  });

  test('a file that comes later is found', () => {
    const directory = makeFake('1\n');
    rmSync(join(directory, 'memory.usage_in_bytes'));
    const cgroupTable = table([usage]);
    cgroupTable.add(directory);
    cgroupTable.read();
    expect(cgroupTable.errors[0]).toBe(ENOENT);
    writeFileSync(join(directory, 'memory.usage_in_bytes'), '8\n');
    cgroupTable.read();
    expect([cgroupTable.errors[0], cgroupTable.values[0]]).toEqual([0, 8]);
  });

  test('grows, and keeps what was read', () => {
    const cgroupTable = table([usage]);
    cgroupTable.add(makeFake('41\n'));
    cgroupTable.read();
    const before = cgroupTable.values;
    for (let row = 1; row < 100; row++) expect(cgroupTable.add(makeFake(`${String(row)}\n`))).toBe(row);
    expect(cgroupTable.values).not.toBe(before);
    expect(cgroupTable.values[0]).toBe(41);
    cgroupTable.read();
    expect([...cgroupTable.values.slice(0, 4)]).toEqual([41, 1, 2, 3]);
    expect([cgroupTable.values[99], cgroupTable.size]).toEqual([99, 100]);
  });

  test('reads only the rows that it is asked for', () => {
    const cgroupTable = table([usage]);
    for (const text of ['1\n', '2\n', '3\n']) cgroupTable.add(makeFake(text));
    cgroupTable.read([2, 0]);
    expect([...cgroupTable.values.slice(0, 3)]).toEqual([1, NaN, 3]);
    cgroupTable.read([]);
    expect(cgroupTable.values[1]).toBeNaN();
  });

  test('a removed row is unknown, and used again by the next', () => {
    const cgroupTable = table([usage]);
    for (const text of ['1\n', '2\n']) cgroupTable.add(makeFake(text));
    cgroupTable.read();
    cgroupTable.remove(0);
    expect([cgroupTable.values[0], cgroupTable.errors[0], cgroupTable.size]).toEqual([NaN, ENODEV, 1]);
    cgroupTable.read();
    expect(cgroupTable.values[0]).toBeNaN();
    expect(cgroupTable.add(makeFake('9\n'))).toBe(0);
    expect(cgroupTable.errors[0]).toBe(0);
    cgroupTable.read();
    expect(cgroupTable.values[0]).toBe(9);
  });

  test.each<[rule: string, row: number]>([
    ['a row that was never used', 1],
    ['a negative one', -1],
    ['a fraction', 0.5],
    ['not a number', NaN],
    ['beyond all rows', 2 ** 40],
  ])('%s is a RangeError', (_rule, row) => {
    const cgroupTable = table([usage]);
    cgroupTable.add(makeFake('1\n'));
    for (const use of [() => cgroupTable.remove(row), () => cgroupTable.id(row), () => cgroupTable.read([row])]) {
      expect(thrownBy(use)).toMatchObject({ name: 'RangeError', code: 'ERR_OUT_OF_RANGE' });
    }
  });

  test('a cgroup that is not there, or no directory, is refused with its path', () => {
    const cgroupTable = table([usage]);
    expect(thrownBy(() => cgroupTable.add('/proc/none'))).toMatchObject({ code: 'ENOENT', syscall: 'open', path: '/proc/none' });
    expect(thrownBy(() => cgroupTable.add('/proc/stat'))).toMatchObject({ code: 'ENOTDIR', path: '/proc/stat' });
    expect(cgroupTable.size).toBe(0);
  });

  test('may be closed twice, and cannot be read then', () => {
    const cgroupTable = table([usage]);
    cgroupTable.close();
    cgroupTable.close();
    expect(thrownBy(() => cgroupTable.read())).toMatchObject({ code: 'EBADF' });
    expect(cgroupTable.size).toBe(0);
  });

  test('does not write into memory that was transferred away', () => {
    const cgroupTable = table([usage]);
    cgroupTable.add(makeFake('1\n'));
    structuredClone(cgroupTable.values, { transfer: [cgroupTable.values.buffer as ArrayBuffer] });
    expect(() => cgroupTable.read()).toThrow(RangeError);
  });

  test('where the process has no descriptor left, adding works, kept rows are read, the others say EMFILE', async () => {
    const [kept, late] = [makeFake('1\n'), makeFake('2\n')];
    const { status, output } = await runNode(`
      const table = new native.CgroupTable([{ path: 'memory.usage_in_bytes', format: 'number' }]);
      table.add(${JSON.stringify(kept)});
      table.read();
      const taken = [];
      try { for (;;) taken.push(fs.openSync('/dev/null')); } catch (error) { if (error.code !== 'EMFILE') throw error; }
      table.add(${JSON.stringify(late)});
      table.read();
      const full = [...table.values.slice(0, 2), ...table.errors.slice(0, 2)];
      for (const fd of taken) fs.closeSync(fd);
      table.read();
      console.log(JSON.stringify([full, [...table.values.slice(0, 2), ...table.errors.slice(0, 2)]]));
    `);
    expect({ status, output: JSON.parse(output) as unknown }).toEqual({
      status: 0,
      output: [
        [1, null, 0, EMFILE],
        [1, 2, 0, 0],
      ],
    });
  });

  test.runIf(hasMemoryV1)('reads what the kernel says', () => {
    const cgroup = makeCgroup(memoryV1);
    const cgroupTable = table([usage, stat]);
    cgroupTable.add(cgroup);
    cgroupTable.read();
    expect(cgroupTable.values[0]).toBe(Number(readFileSync(`${cgroup}/memory.usage_in_bytes`, 'utf8')));
  });
});
