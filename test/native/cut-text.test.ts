import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { native, type FileSpec } from '../../src/native/index.js';
import { after, closing, makeDirectory, openDescriptors, thrownBy } from './kernel.js';

const STAT = 'anon 4096\nfile 123456\ninactive_file 65536\nshmem 0\n';
const PRESSURE = 'some avg10=1.23 avg60=0.45 avg300=0.06 total=123456789\nfull avg10=0.12 avg60=0.34 avg300=0.56 total=98765432\n';

type Format = FileSpec extends infer Spec ? (Spec extends FileSpec ? Omit<Spec, 'path'> : never) : never;
const keyed = (...keys: string[]): Format => ({ format: 'keyed', keys });

const texts: [name: string, format: Format, text: string][] = [
  ['/proc/meminfo of this machine', keyed('MemTotal', 'MemAvailable', 'SwapFree', 'Mapped'), readFileSync('/proc/meminfo', 'latin1')],
  ['memory.stat', keyed('anon', 'inactive_file', 'shmem'), STAT],
  ['memory.events', keyed('low', 'high', 'max', 'oom', 'oom_kill'), 'low 0\nhigh 12\nmax 345\noom 6\noom_kill 7\noom_group_kill 0\n'],
  ['a pressure file', { format: 'pressure' }, PRESSURE],
  ['memory.max', { format: 'number' }, '9223372036854771712\n'],
  ['memory.max without a limit', { format: 'number' }, 'max\n'],
  ['/proc/loadavg', { format: 'loadavg' }, '0.50 1.25 2.00 3/1234 56789\n'],
];

/** Reads what it is shown as a file of that format. In memory: it is shown thousands of texts. */
function textReader(format: Format): (text: Uint8Array) => { values: number[]; error: number } {
  const directory = mkdtempSync('/dev/shm/evictd-test-');
  const path = join(directory, 'file');
  const file = openSync(path, 'w+');
  after(() => {
    closeSync(file);
    rmSync(directory, { recursive: true });
  });
  const reader = closing(new native.FileReader([{ ...format, path }]));
  return (text) => {
    ftruncateSync(file, 0);
    writeSync(file, text, 0, text.length, 0);
    reader.read();
    return { values: [...reader.values], error: reader.errors[0] ?? 0 };
  };
}

describe('a kernel file that is truncated', () => {
  test.each(texts)('anywhere gives the values of the whole text or none and an error: %s', (_name, format, text) => {
    const read = textReader(format);
    const bytes = Buffer.from(text, 'latin1');
    const whole = read(bytes);
    expect([whole.error, whole.values.some(Number.isNaN)]).toEqual([0, false]);
    const wrong: object[] = [];
    for (let length = 0; length < text.length; length++) {
      const { values, error } = read(bytes.subarray(0, length));
      const invented = values.some((value, field) => !Number.isNaN(value) && value !== whole.values[field]);
      const silent = error === 0 && values.some(Number.isNaN);
      if (invented || silent) wrong.push({ cut: text.slice(0, length).slice(-20), values, error });
    }
    expect(wrong).toEqual([]);
  });

  test('gives only process ids that are in it', () => {
    const directory = makeDirectory();
    const text = '1234567\n2345\n34\n';
    const handle = closing(new native.CgroupHandle(directory));
    const named = new Set<number>();
    for (let length = 0; length <= text.length; length++) {
      writeFileSync(join(directory, 'cgroup.procs'), text.slice(0, length));
      for (const pid of handle.processes()) named.add(pid);
    }
    expect([...named].sort((a, b) => a - b)).toEqual([34, 2345, 1234567]);
  });
});

/** The same for each run: mulberry32. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('garbage in a kernel file', () => {
  test.each(texts)('%s gives no negative number and none beyond 64 bits, and unknown values are an error', (_name, format, text) => {
    const read = textReader(format);
    const random = generator(1);
    const wrong: object[] = [];
    for (let i = 0; i < 500; i++) {
      const bytes = Buffer.from(text, 'latin1');
      for (let strewn = Math.ceil(random() * 4); strewn > 0; strewn--) bytes[Math.floor(random() * bytes.length)] = random() * 256;
      const { values, error } = read(bytes);
      const believed = values.some((value) => value < 0 || (value > 2 ** 64 && value !== Infinity));
      if (believed || (error === 0 && values.some(Number.isNaN))) wrong.push({ text: bytes.toString('latin1'), values, error });
    }
    expect(wrong).toEqual([]);
  });

  test('in place of a cgroup is refused by watches, which leave nothing behind', () => {
    const directory = makeDirectory();
    for (const name of ['cgroup.events', 'memory.events', 'cpu.pressure'])
      writeFileSync(join(directory, name), '\0garbage 99999999999999999999999\xff');
    execFileSync('mkfifo', [join(directory, 'memory.events.local')]);
    const ignore = () => undefined;
    const attempts: (() => unknown)[] = [
      () => new native.MemcgEvents(directory, 'cgroup.events', ignore),
      () => new native.MemcgEvents(directory, 'memory.events', ignore),
      () => new native.MemcgEvents(directory, 'memory.events.local', ignore),
      () => new native.PsiTrigger(join(directory, 'cpu.pressure'), { kind: 'some', stallUs: 100_000, windowUs: 2_000_000 }, ignore),
    ];
    expect(thrownBy(attempts[0] ?? ignore).code).toBe('EPERM'); // epoll refuses a file of a disk; and the waiter is there now
    const before = openDescriptors();
    expect(attempts.map((attempt) => thrownBy(attempt).code)).toEqual(['EPERM', 'EPERM', 'ESPIPE', 'EPERM']);
    expect([openDescriptors(), native.watchCount()]).toEqual([before, 0]);
  });
});
