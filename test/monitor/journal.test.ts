import { execFileSync } from 'node:child_process';
import { appendFileSync, constants, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Journal } from '../../src/monitor/journal.js';

let directory: string;
let state: string;
let errors: Error[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'evictd-test-journal-'));
  state = join(directory, 'state');
  errors = [];
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function journal(): Journal {
  return new Journal({
    stateDirectory: state,
    runtimeDirectory: directory,
    instance: 'test',
    node: 'machine',
    onError: (error) => errors.push(error),
    onLost: () => undefined,
  });
}

const record = (message: string) => ({ type: 'alert', message });
const lines = (): string[] => readFileSync(join(state, 'journal.jsonl'), 'utf8').trimEnd().split('\n');

test('records become JSON Lines, in order, each with time and node', async () => {
  const it = journal();
  it.record(record('one'));
  it.record(record('two'));
  expect(await it.close(5_000)).toBe(true);
  const [one, two] = lines().map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(one).toMatchObject({ type: 'alert', node: 'machine', message: 'one' });
  expect(one?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(two).toMatchObject({ message: 'two' });
  expect(errors).toEqual([]);
});

test('a torn last line is ended first', async () => {
  mkdirSync(state);
  writeFileSync(join(state, 'journal.jsonl'), '{"type":"decision","torn');
  const it = journal();
  it.record(record('after'));
  await it.close(5_000);
  expect(lines()).toEqual(['{"type":"decision","torn', expect.stringContaining('"after"')]);
});

test('a whole last line gets no empty one behind it', async () => {
  mkdirSync(state);
  appendFileSync(join(state, 'journal.jsonl'), '{}\n');
  const it = journal();
  it.record(record('after'));
  await it.close(5_000);
  expect(lines()).toHaveLength(2);
});

test('a state directory that cannot be written: the error is counted, the records follow at the next start', async () => {
  writeFileSync(state, 'a file where the directory should be');
  const it = journal();
  it.record(record('kept'));
  expect(await it.close(5_000)).toBe(false);
  expect(errors).toHaveLength(1);
  rmSync(state);
  const next = journal();
  expect(next.recovered).toBe(1);
  expect(await next.close(5_000)).toBe(true);
  expect(lines().map((line) => JSON.parse(line) as unknown)).toEqual([expect.objectContaining({ message: 'kept' })]);
  const third = journal();
  expect(third.recovered).toBe(0);
  await third.close(5_000);
});

test('a state directory that hangs keeps nobody waiting, and what waited is written when it answers', async () => {
  mkdirSync(state);
  execFileSync('mkfifo', [join(state, 'journal.jsonl')]); // opening it for writing waits for a reader
  const it = journal();
  it.record(record('waits'));
  expect(await it.close(50)).toBe(false);
  expect(it.waitingMs).toBeGreaterThan(0);
  const reader = await open(join(state, 'journal.jsonl'), constants.O_RDONLY | constants.O_NONBLOCK); // lets the waiting thread go
  await vi.waitFor(() => {
    expect(it.waitingMs).toBe(0);
  });
  await reader.close();
  rmSync(join(state, 'journal.jsonl'));
  const next = journal();
  expect(next.recovered).toBe(1);
  await next.close(5_000);
  expect(lines()[0]).toContain('"waits"');
});

test('records that come while others are written are in the state directory, too, when it is closed', async () => {
  const it = journal();
  it.record(record('first'));
  await new Promise(setImmediate); // it is being written now
  it.record(record('second'));
  expect(await it.close(5_000)).toBe(true);
  expect(lines()).toHaveLength(2);
});

test('a file system that takes a part only: no record twice, none torn, all there when there is room again', async () => {
  mkdirSync(state);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'evictd-test', state]);
  try {
    const it = journal();
    for (let i = 0; i < 40; i += 1) it.record(record(`${String(i)} ${'x'.repeat(4_000)}`));
    expect(await it.close(5_000)).toBe(false);
    expect(errors).not.toHaveLength(0);
    execFileSync('mount', ['-o', 'remount,size=1m', state]);
    const next = journal();
    expect(await next.close(5_000)).toBe(true);
    const numbers = lines().map((line) => Number((JSON.parse(line) as { message: string }).message.split(' ')[0]));
    expect(numbers).toEqual(Array.from({ length: 40 }, (_, i) => i));
  } finally {
    execFileSync('umount', [state]);
  }
});
