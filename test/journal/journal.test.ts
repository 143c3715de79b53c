import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { JournalFiles, type JournalLimits } from '../../src/journal/journal-files.js';
import { Journal } from '../../src/journal/journal.js';
import { undrainedRecords } from '../../src/journal/journal-ring.js';
import { native } from '../../src/native/index.js';
import { closeJournal } from '../support/close-journal.js';
import { fullFilesystem } from '../support/full-filesystem.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

let directory: string;
let state: string;
let errors: Error[];
let unreserved: Error[];
let rings: (Error | undefined)[];

beforeEach(() => {
  directory = temporaryDirectory();
  state = join(directory, 'state');
  errors = [];
  unreserved = [];
  rings = [];
});

function journal(limits: Partial<JournalLimits> = {}, instance = 'test', runtimeDirectory = directory): Journal {
  return new Journal({
    stateDirectory: state,
    runtimeDirectory,
    instance,
    node: 'machine',
    dryRun: false,
    onError: (error) => errors.push(error),
    onLost: () => undefined,
    limits: { maxBytes: 1 << 20, maxFiles: 3, ...limits },
    allocate: (fd, offset, length) => native.fallocate(fd, offset, length),
    lock: () => lockOf(join(directory, 'rotation.lock')),
    onUnreserved: (error) => unreserved.push(error),
    onRing: (problem) => rings.push(problem),
  });
}

/** With the options that compose uses. */
function lockOf(path: string): { close(): void } | undefined {
  try {
    return new native.FileLock(path);
  } catch {
    return undefined;
  }
}

const record = (message: string) => ({ type: 'alert', message });
const lines = (): string[] => readFileSync(join(state, 'journal.jsonl'), 'utf8').trimEnd().split('\n');

test('records become JSON Lines in order, each with time and node', async () => {
  const it = journal();
  it.record(record('one'));
  it.record(record('two'));
  expect(await closeJournal(it)).toBe(true);
  const [one, two] = lines().map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(one).toMatchObject({ type: 'alert', node: 'machine', message: 'one' });
  expect(one?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(two).toMatchObject({ message: 'two' });
  expect(errors).toEqual([]);
});

test('a torn last line is ended before the next record', async () => {
  mkdirSync(state);
  writeFileSync(join(state, 'journal.jsonl'), '{"type":"decision","torn');
  const it = journal();
  it.record(record('after'));
  await closeJournal(it);
  expect(lines()).toEqual([
    '{"type":"decision","torn',
    expect.stringMatching(/"type":"torn",.*"bytes":24,/),
    expect.stringContaining('"after"'),
  ]);
});

test('a complete last line is not followed by an empty one', async () => {
  mkdirSync(state);
  appendFileSync(join(state, 'journal.jsonl'), '{}\n');
  const it = journal();
  it.record(record('after'));
  await closeJournal(it);
  expect(lines()).toHaveLength(2);
});

test('with an unwritable state directory the error is counted, and the records follow at the next start', async () => {
  writeFileSync(state, 'a file where the directory should be');
  const it = journal();
  it.record(record('kept'));
  expect(await closeJournal(it)).toBe(false);
  expect(errors).toHaveLength(1);
  rmSync(state);
  const next = journal();
  expect(next.recovered).toBe(1);
  expect(await closeJournal(next)).toBe(true);
  expect(lines().map((line) => JSON.parse(line) as unknown)).toEqual([expect.objectContaining({ message: 'kept' })]);
  const third = journal();
  expect(third.recovered).toBe(0);
  await closeJournal(third);
});

test('a state directory that hangs delays no caller, and the records are written when it answers', async () => {
  mkdirSync(state);
  execFileSync('mkfifo', [join(state, 'journal.jsonl')]); // opening a FIFO for writing waits for a reader
  const it = journal();
  it.record(record('waits'));
  expect(await closeJournal(it, 50)).toBe(false);
  expect(it.waitingMs).toBeGreaterThan(0);
  const reader = await open(join(state, 'journal.jsonl'), constants.O_RDONLY | constants.O_NONBLOCK); // unblocks the waiting thread
  await vi.waitFor(() => {
    expect(it.waitingMs).toBe(0);
  }, 30_000);
  await reader.close();
  rmSync(join(state, 'journal.jsonl'));
  const next = journal();
  expect(next.recovered).toBe(1);
  await closeJournal(next);
  expect(lines()[0]).toContain('"waits"');
});

test('records that are added while others are written are in the state directory when the journal is closed', async () => {
  const it = journal();
  it.record(record('first'));
  await new Promise(setImmediate); // the write is under way
  it.record(record('second'));
  expect(await closeJournal(it)).toBe(true);
  expect(lines()).toHaveLength(2);
});

test.each([
  ['this run', false],
  ['the next run', true],
])(
  'on a filesystem that takes a part of a write %s marks the torn line, and writes every record once when there is space',
  async (_who, restarts) => {
    mkdirSync(state);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'evictd-test', state]);
    try {
      const it = journal();
      for (let i = 0; i < 40; i += 1) it.record(record(`${String(i)} ${'x'.repeat(4_000)}`));
      await vi.waitFor(() => expect(errors).not.toHaveLength(0), 30_000);
      if (restarts) expect(await closeJournal(it)).toBe(false);
      execFileSync('mount', ['-o', 'remount,size=1m', state]);
      const next = restarts ? journal() : it;
      await vi.waitFor(() => expect(isDrained()).toBe(true), { timeout: 20_000 }); // the retry comes after a second
      expect(await closeJournal(next)).toBe(true);
      const torn = lines().findIndex((line) => line.includes('"type":"torn"'));
      expect(torn).toBeGreaterThan(5);
      expect(lines()[torn - 1]).toMatch(/^\{"time".*[^}]$/);
      const numbers = lines()
        .filter((_, index) => index !== torn && index !== torn - 1)
        .map((line) => Number((JSON.parse(line) as { message: string }).message.split(' ')[0]));
      expect(numbers).toEqual(Array.from({ length: 40 }, (_, i) => i));
    } finally {
      execFileSync('umount', [state]);
    }
  },
);

const numbers = (...names: string[]): number[] =>
  names.flatMap((name) =>
    readFileSync(join(state, name), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => Number((JSON.parse(line) as { message: string }).message.split(' ')[0])),
  );
const counting = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);

/** Whether the ring notes that the state directory has everything. */
const isDrained = (): boolean => undrainedRecords(join(directory, 'journal-test')).length === 0;

/** The last record that the state directory has, by the ring's header (docs/journal.md). */
function drainedUpTo(): bigint {
  const file = openSync(join(directory, 'journal-test'), 'r');
  const number = Buffer.alloc(8);
  readSync(file, number, 0, 8, 16);
  closeSync(file);
  return number.readBigUInt64LE();
}

/** One write each, so that every one of them may be the one that is too much. */
async function write(it: Journal, from: number, to: number): Promise<void> {
  for (let number = from; number < to; number += 1) {
    const before = drainedUpTo();
    it.record(record(`${String(number)} ${'x'.repeat(4_000)}`));
    await vi.waitFor(() => expect(drainedUpTo()).toBeGreaterThan(before), { interval: 2, timeout: 20_000 });
  }
}

test('a full file becomes .1, .1 becomes .2, and the oldest is deleted, without a gap and no file too large', async () => {
  const it = journal({ maxBytes: 64 * 1024 });
  await write(it, 0, 60);
  expect(await closeJournal(it)).toBe(true);
  expect(readdirSync(state).sort()).toEqual(['journal.jsonl', 'journal.jsonl.1', 'journal.jsonl.2', 'journal.jsonl.next']);
  for (const name of readdirSync(state)) expect(statSync(join(state, name)).size).toBeLessThanOrEqual(64 * 1024);
  const kept = numbers('journal.jsonl.2', 'journal.jsonl.1', 'journal.jsonl');
  expect(kept).toEqual(counting(60 - kept.length, 60));
  expect(kept.length).toBeGreaterThan(30);
  expect(errors).toEqual([]);
});

test('fewer files are kept after a restart with a smaller number', async () => {
  const many = journal({ maxBytes: 64 * 1024, maxFiles: 5 });
  await write(many, 0, 70);
  await closeJournal(many);
  expect(readdirSync(state)).toContain('journal.jsonl.4');
  const few = journal({ maxBytes: 64 * 1024, maxFiles: 2 });
  await write(few, 70, 90);
  await closeJournal(few);
  expect(readdirSync(state).sort()).toEqual(['journal.jsonl', 'journal.jsonl.1', 'journal.jsonl.next']);
});

test('the space of a file and of the next one is reserved, and their size is that of their records', async () => {
  const it = journal();
  it.record(record('one'));
  await closeJournal(it);
  const [file, next] = ['journal.jsonl', 'journal.jsonl.next'].map((name) => statSync(join(state, name)));
  expect(file?.size).toBeLessThan(1000);
  expect(file && file.blocks * 512).toBeGreaterThanOrEqual(1 << 20);
  expect(next?.size).toBe(0);
  expect(next && next.blocks * 512).toBeGreaterThanOrEqual(1 << 20);
  expect(unreserved).toEqual([]);
});

test('two writers of one journal lose no record when it is rotated', async () => {
  // One file per record: how full a file gets depends on how many records are written together, and surplus files are
  // deleted.
  const limits = { maxBytes: 64 * 1024, maxFiles: 120 };
  const [one, other] = [journal(limits), journal(limits, 'other')];
  for (let number = 0; number < 60; number += 1) {
    one.record(record(`${String(number)} ${'x'.repeat(4_000)}`));
    other.record(record(`${String(100 + number)} ${'x'.repeat(4_000)}`));
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  expect(await Promise.all([closeJournal(one), closeJournal(other)])).toEqual([true, true]);
  const names = readdirSync(state).filter((name) => name !== 'journal.jsonl.next');
  expect(names.length).toBeGreaterThan(1);
  expect(numbers(...names).sort((a, b) => a - b)).toEqual([...counting(0, 60), ...counting(100, 160)]);
});

test('a file that was renamed is replaced by a new one', async () => {
  const it = journal();
  await write(it, 0, 1);
  renameSync(join(state, 'journal.jsonl'), join(state, 'moved'));
  await write(it, 1, 2);
  await closeJournal(it);
  expect([numbers('moved'), numbers('journal.jsonl')]).toEqual([[0], [1]]);
});

test('records that an earlier run has written without a mark are not written again', async () => {
  const killed = journal();
  killed.record(record('0 written'));
  killed.record(record('1 not written'));
  const ring = readFileSync(join(directory, 'journal-test')); // as after a SIGKILL
  await closeJournal(killed);
  const [first] = lines();
  writeFileSync(join(state, 'journal.jsonl'), `${first ?? ''}\n`);
  writeFileSync(join(directory, 'journal-test'), ring);
  const next = journal();
  expect(next.recovered).toBe(2);
  next.record(record('2 of the next run'));
  expect(await closeJournal(next)).toBe(true);
  expect(numbers('journal.jsonl')).toEqual([0, 1, 2]);
});

test('no record is written if the earlier run has written all', async () => {
  const killed = journal();
  killed.record(record('0 written'));
  const ring = readFileSync(join(directory, 'journal-test'));
  await closeJournal(killed);
  writeFileSync(join(directory, 'journal-test'), ring);
  const next = journal();
  expect(next.recovered).toBe(1);
  expect(await closeJournal(next)).toBe(true);
  expect(numbers('journal.jsonl')).toEqual([0]);
  expect(isDrained()).toBe(true);
});

test('on a full disk the reserved space is used, and then the oldest records make room', async () => {
  mkdirSync(state);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=320k', 'evictd-test', state]);
  try {
    const it = journal({ maxBytes: 64 * 1024, maxFiles: 3 });
    await write(it, 0, 1);
    await vi.waitFor(() => expect(statSync(join(state, 'journal.jsonl.next')).blocks * 512).toBe(64 * 1024), { timeout: 20_000 });
    expect(() => {
      writeFileSync(join(state, 'filler'), Buffer.alloc(1 << 20));
    }).toThrow('ENOSPC');
    await write(it, 1, 100);
    expect(await closeJournal(it)).toBe(true);
    expect(errors).toEqual([]);
    const names = ['journal.jsonl.2', 'journal.jsonl.1', 'journal.jsonl'].filter((name) => readdirSync(state).includes(name));
    const kept = numbers(...names);
    expect(kept).toEqual(counting(100 - kept.length, 100));
    expect(kept.length).toBeGreaterThan(14);
  } finally {
    execFileSync('umount', [state]);
  }
});

test('a filesystem that cannot reserve is reported once, and still written', async () => {
  mkdirSync(state);
  execFileSync('mount', ['-t', 'ramfs', 'evictd-test', state]);
  try {
    const it = journal({ maxBytes: 64 * 1024 });
    await write(it, 0, 40);
    expect(await closeJournal(it)).toBe(true);
    expect(unreserved).toMatchObject([{ code: 'EOPNOTSUPP' }]);
    expect(numbers('journal.jsonl.2', 'journal.jsonl.1', 'journal.jsonl')).toEqual(counting(0, 40));
  } finally {
    execFileSync('umount', [state]);
  }
});

test('without space for the ring records go to the state directory, and the ring is made when there is space', async () => {
  const full = fullFilesystem(8 * 1024);
  full.fill();
  const it = journal({}, 'test', full.directory);
  expect(rings).toMatchObject([{ code: 'ENOSPC' }]);
  it.record(record('one'));
  await vi.waitFor(() => expect(lines()).toHaveLength(1), 30_000);
  it.retry();
  full.free();
  it.retry();
  it.retry();
  expect(rings).toMatchObject([{ code: 'ENOSPC' }, undefined]);
  it.record(record('two'));
  expect(undrainedRecords(join(full.directory, 'journal-test'))).toMatchObject([{ text: expect.stringContaining('"two"') as string }]);
  expect(await closeJournal(it)).toBe(true);
  expect(lines()).toHaveLength(2);
  expect(errors).toEqual([]);
});

test('a failed write removes nothing that another evictd writes meanwhile', async () => {
  const full = fullFilesystem(8 * 1024);
  state = full.directory;
  const files = new JournalFiles(
    state,
    { maxBytes: 1 << 30, maxFiles: 3 },
    () => Promise.resolve(),
    () => undefined,
  );
  await files.open();
  const failing = files.append(`${'x'.repeat(16 << 20)}\n`); // more than the file can take
  let written = 0;
  for (const end = performance.now() + 100; performance.now() < end; written += 1)
    appendFileSync(join(state, 'journal.jsonl'), `${String(written)}\n`);
  await expect(failing).rejects.toThrow(/ENOSPC|wrote only \d+ of/);
  await files.close();
  const there = new Set(lines());
  expect(counting(0, written).filter((number) => !there.has(String(number)))).toEqual([]);
});

test('a torn line of another evictd is ended before the next record', async () => {
  const it = journal();
  await write(it, 0, 1);
  appendFileSync(join(state, 'journal.jsonl'), '{"time":"of another');
  await write(it, 1, 2);
  await closeJournal(it);
  expect(lines()).toEqual([
    expect.stringContaining('"0 xxx'),
    '{"time":"of another',
    expect.stringMatching(/"type":"torn",.*"bytes":19,/),
    expect.stringContaining('"1 xxx'),
  ]);
});

describe('a journal killed in the middle of a rotation, with the full file under both names', () => {
  const interrupted = async (): Promise<void> => {
    const it = journal({ maxBytes: 64 * 1024 });
    await write(it, 0, 15); // one more is too much
    await closeJournal(it);
    linkSync(join(state, 'journal.jsonl'), join(state, 'journal.jsonl.1'));
  };
  const files = (): string[] => readdirSync(state).filter((name) => name.startsWith('journal.jsonl'));

  test('has the rotation completed by the next evictd', async () => {
    await interrupted();
    const next = journal({ maxBytes: 64 * 1024 });
    await write(next, 15, 20);
    await closeJournal(next);
    expect(files()).toEqual(['journal.jsonl', 'journal.jsonl.1', 'journal.jsonl.next']);
    expect(numbers('journal.jsonl.1', 'journal.jsonl')).toEqual(counting(0, 20));
    expect(statSync(join(state, 'journal.jsonl.1')).nlink).toBe(1);
  });

  test('loses nothing on a full disk', async () => {
    const full = fullFilesystem(320);
    state = full.directory;
    await interrupted();
    rmSync(join(state, 'journal.jsonl.next'));
    full.fill();
    const next = journal({ maxBytes: 64 * 1024 });
    for (let number = 15; number < 18; number += 1) next.record(record(`${String(number)} ${'x'.repeat(4_000)}`));
    await closeJournal(next);
    expect(wholeNumbers(['journal.jsonl']).slice(0, 15)).toEqual(counting(0, 15));
    full.free();
    const third = journal({ maxBytes: 64 * 1024 });
    await write(third, 18, 20);
    await closeJournal(third);
    expect(wholeNumbers(files())).toEqual(counting(0, 20));
  });

  test('does not overwrite a file with another link, which a person has kept', async () => {
    const full = fullFilesystem(320);
    state = full.directory;
    const it = journal({ maxBytes: 64 * 1024 });
    await write(it, 0, 20);
    await closeJournal(it);
    const kept = readFileSync(join(state, 'journal.jsonl.1'));
    linkSync(join(state, 'journal.jsonl.1'), join(state, 'kept'));
    rmSync(join(state, 'journal.jsonl.next'));
    full.fill();
    const next = journal({ maxBytes: 64 * 1024 });
    for (let number = 20; number < 40; number += 1) next.record(record(`${String(number)} ${'x'.repeat(4_000)}`));
    await closeJournal(next);
    expect(readFileSync(join(state, 'kept')).equals(kept)).toBe(true);
  });
});

/** Of all files, each record once: a file may have two names, and lines may be torn. */
function wholeNumbers(names: readonly string[]): number[] {
  const texts = names.filter((name) => !name.endsWith('.next')).flatMap((name) => readFileSync(join(state, name), 'utf8').split('\n'));
  const messages = texts.flatMap((line) => /"message":"(\d+) x{4000}"\}$/.exec(line)?.[1] ?? []);
  return [...new Set(messages.map(Number))].sort((a, b) => a - b);
}

test('a record after the end of the journal is written into no file that has the number of its descriptor', async () => {
  const it = journal();
  await closeJournal(it);
  const others = Array.from({ length: 50 }, (_, number) => join(directory, `other-${String(number)}`));
  const open = others.map((path) => openSync(path, 'w'));
  it.record(record('late'));
  expect(await it.flush(5_000)).toBe(true);
  expect(lines()).toHaveLength(1);
  expect(others.filter((path) => statSync(path).size > 0)).toEqual([]);
  expect(errors).toEqual([]);
  for (const file of open) closeSync(file);
});

describe('occurrence', () => {
  const of = (type: string, decision: number) => ({ type, decision, victim: { path: '/a' }, message: '' });
  const written = (): unknown[] => {
    const records = lines().map((line) => JSON.parse(line) as Record<string, unknown>);
    return records.map(({ type, decision, occurrence }) => [type, decision, occurrence]);
  };

  test('a ranking has the number of its decision, also after the outcome, and is not counted', async () => {
    const it = journal();
    it.record(of('decision', 1));
    it.record(of('decision', 2));
    it.recordLater([of('ranking', 2), of('ranking', 2)]);
    it.record(of('outcome', 2));
    await new Promise(setImmediate);
    it.record(of('decision', 3));
    await closeJournal(it);
    expect(written().filter((each) => (each as unknown[])[0] === 'ranking')).toEqual([
      ['ranking', 2, 2],
      ['ranking', 2, 2],
    ]);
    expect(written()).toContainEqual(['decision', 3, 3]);
  });

  test('a decision that an earlier run has recorded is not recorded again, as prepared or as decided', async () => {
    const earlier = journal();
    earlier.record(of('decision', 1));
    await closeJournal(earlier);
    const it = journal();
    const line = it.line(of('decision', 1));
    it.record(of('decision', 1));
    it.recordPrepared(line);
    it.record(of('outcome', 1));
    it.record(of('decision', 2));
    await closeJournal(it);
    expect(written()).toEqual([
      ['decision', 1, undefined],
      ['outcome', 1, undefined],
      ['decision', 2, 2],
    ]);
  });

  test('a decision that an earlier run has prepared has its number, and so has its outcome', async () => {
    const earlier = journal();
    earlier.record(of('decision', 1));
    const line = earlier.line(of('decision', 2));
    await closeJournal(earlier);
    const it = journal();
    it.recordPrepared(line);
    it.record(of('outcome', 2));
    it.record(of('decision', 3));
    await closeJournal(it);
    expect(lines()).toContain(line);
    expect(written()).toEqual([
      ['decision', 1, undefined],
      ['decision', 2, 2],
      ['outcome', 2, 2],
      ['decision', 3, 3],
    ]);
  });
});
