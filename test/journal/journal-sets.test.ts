import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { Journal } from '../../src/journal/journal.js';
import type { JournalLimits } from '../../src/journal/journal-files.js';
import { Ring, undrainedRecords } from '../../src/journal/journal-ring.js';
import type { JournalRecord } from '../../src/journal/records/record.js';
import { isEvictionRecord, isKeptRecord } from '../../src/journal/kept-records.js';
import { closeJournal } from '../support/close-journal.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

let directory: string;
let state: string;
let lost: number;

beforeEach(() => {
  directory = temporaryDirectory();
  state = join(directory, 'state');
  lost = 0;
});

const ring = (): string => join(directory, 'journal-test');

function journal(limits: JournalLimits = { maxBytes: 1 << 20, maxFiles: 2 }): Journal {
  return new Journal({
    ...{ stateDirectory: state, runtimeDirectory: directory, instance: 'test', node: 'machine', dryRun: false, limits },
    allocate: () => Promise.resolve(),
    lock: () => ({ close: () => undefined }),
    onError: () => undefined,
    onLost: (records) => (lost += records),
    onUnreserved: () => undefined,
    onRing: () => undefined,
  });
}

const decision = (serial: number) => ({ type: 'decision', decision: serial, message: 'evicting batch' });
const outcome = (serial: number) => ({ type: 'outcome', decision: serial, message: 'evicted batch' });
const other = (bytes = 200) => ({ type: 'alert', message: 'x'.repeat(bytes) });

/** In a write of its own, so that each may be the one that is too much. */
async function written(it: Journal, record: JournalRecord): Promise<void> {
  it.record(record);
  await new Promise(setImmediate); // the write is under way
  await vi.waitFor(() => expect(it.waitingMs).toBe(0), { interval: 2, timeout: 20_000 });
}

/** The types in a set of files, oldest first. */
function types(file: 'journal.jsonl' | 'evictions.jsonl'): string[] {
  return records(file).map(({ type }) => type);
}

function records(file: 'journal.jsonl' | 'evictions.jsonl'): { readonly type: string; readonly decision?: number }[] {
  return [`${file}.1`, file]
    .filter((name) => existsSync(join(state, name)))
    .flatMap((name) => readFileSync(join(state, name), 'utf8').trimEnd().split('\n'))
    .map((line) => JSON.parse(line) as { type: string });
}

/** The numbers of the decisions of such records, oldest first. */
function numbers(file: 'journal.jsonl' | 'evictions.jsonl', type: string): unknown[] {
  return records(file).flatMap((record) => (record.type === type ? [record.decision] : []));
}

test.each<[line: string, kept: boolean]>([
  ['decision","node":"machine","dryRun":false', true],
  ['escalation","node":"machine","dryRun":false', true],
  ['outcome","node":"machine","dryRun":false', true],
  ['start","node":"machine","dryRun":false', true],
  ['shutdown","node":"machine","dryRun":false', true],
  ['ended","node":"machine","dryRun":false', true],
  ['kernel-oom","node":"machine","dryRun":false,"limit":"node"', true],
  ['kernel-oom","node":"machine","dryRun":false,"limit":"workload"', false],
  ['kernel-oom","node":"\\"limit\\":\\"node\\"","dryRun":false,"limit":"workload"', false],
  ['ranking","node":"machine","dryRun":false', false],
  ['threshold","node":"machine","dryRun":false', false],
  ['alert","node":"machine","dryRun":false,"message":"\\"type\\":\\"decision\\""', false],
])('%s of a series is kept: %s', (rest, kept) => {
  expect(isEvictionRecord(`{"time":"2026-11-21T08:00:00.000Z","type":"${rest}}`)).toBe(kept);
});

test.each([1, 2, 4, 8, 4096])('record %i of a series is kept', (occurrence) => {
  expect(isKeptRecord(`{"time":"2026-11-21T08:00:00.000Z","type":"outcome","occurrence":${String(occurrence)}}`)).toBe(true);
});

test.each([3, 5, 7, 4095])('record %i of a series is not kept, and is one of evictions', (occurrence) => {
  const line = `{"time":"2026-11-21T08:00:00.000Z","type":"outcome","occurrence":${String(occurrence)}}`;
  expect([isKeptRecord(line), isEvictionRecord(line)]).toEqual([false, true]);
});

test('a workload that is evicted repeatedly pushes no older eviction out, also across kill -9', async () => {
  const ofVictim = (record: JournalRecord, path: string) => ({ ...record, victim: { name: 'it', path }, more: 'x'.repeat(200) });
  const limits = { maxBytes: 4096, maxFiles: 2 };
  let it = journal(limits);
  await written(it, ofVictim(decision(1), '/other'));
  await written(it, ofVictim(outcome(1), '/other'));
  for (let serial = 2; serial <= 40; serial += 1) {
    await written(it, ofVictim(decision(serial), '/flapping'));
    if (serial === 20) it = journal(limits); // the one before never closes its ring
    await written(it, ofVictim(outcome(serial), '/flapping'));
  }
  expect(await closeJournal(it)).toBe(true);
  expect(numbers('evictions.jsonl', 'decision')).toEqual([1, 2, 3, 5, 9, 17, 33]);
  expect(numbers('evictions.jsonl', 'outcome')).toEqual([1, 2, 3, 5, 9, 17, 33]);
  expect(numbers('journal.jsonl', 'outcome')).not.toContain(1);
  expect(numbers('journal.jsonl', 'outcome')).toContain(40);
});

test('other records do not push out a decision and its outcome', async () => {
  const it = journal({ maxBytes: 4096, maxFiles: 2 });
  for (const record of [decision(1), outcome(1), ...Array.from({ length: 10 }, () => other(1500))]) await written(it, record);
  expect(await closeJournal(it)).toBe(true);
  expect(new Set(types('journal.jsonl'))).toEqual(new Set(['alert']));
  expect(types('evictions.jsonl')).toEqual(['decision', 'outcome']);
});

test('the files of evictions have a size limit, too', async () => {
  const it = journal({ maxBytes: 4096, maxFiles: 2 });
  for (let serial = 1; serial <= 10; serial += 1) await written(it, { ...decision(serial), more: 'x'.repeat(1500) });
  expect(await closeJournal(it)).toBe(true);
  expect(readdirSync(state)).toContain('evictions.jsonl.1');
  expect(types('evictions.jsonl').length).toBeLessThan(10);
});

test.each<[rule: string, before: 'journal.jsonl' | 'evictions.jsonl']>([
  ['evictions.jsonl gets what only journal.jsonl has', 'journal.jsonl'],
  ['journal.jsonl gets what only evictions.jsonl has', 'evictions.jsonl'],
])('after kill -9 between the two writes %s, and no record is there twice', async (_rule, before) => {
  const line = `{"time":"2026-11-21T08:00:00.000Z","type":"decision","node":"machine","dryRun":false,"decision":1}`;
  const killed = new Ring(ring(), 4 * 1024 * 1024);
  killed.append(line);
  killed.close();
  mkdirSync(state);
  writeFileSync(join(state, before), `${line}\n`);
  const next = journal();
  expect(next.recovered).toBe(1);
  next.record(outcome(1));
  expect(await closeJournal(next)).toBe(true);
  for (const file of ['journal.jsonl', 'evictions.jsonl'] as const) expect(types(file)).toEqual(['decision', 'outcome']);
  expect(undrainedRecords(ring())).toEqual([]);
});

test('the ring keeps a decision until journal and eviction file have it', async () => {
  mkdirSync(state);
  execFileSync('mkfifo', [join(state, 'evictions.jsonl')]); // opening a FIFO for writing waits for a reader
  const it = journal();
  it.record(decision(1));
  it.record(other());
  await vi.waitFor(() => expect(types('journal.jsonl')).toEqual(['decision', 'alert']), 20_000);
  expect(await closeJournal(it, 200)).toBe(false);
  expect(undrainedRecords(ring()).map(({ text }) => (JSON.parse(text) as { type: string }).type)).toEqual(['decision', 'alert']);
  const reader = await open(join(state, 'evictions.jsonl'), constants.O_RDONLY | constants.O_NONBLOCK); // unblocks the waiting thread
  await vi.waitFor(() => {
    expect(it.waitingMs).toBe(0);
  }, 30_000);
  await reader.close();
});

test('a state directory that hangs blocks one thread, because the second write waits for the first', async () => {
  mkdirSync(state);
  execFileSync('mkfifo', [join(state, 'journal.jsonl')]);
  const it = journal();
  it.record(decision(1));
  expect(await closeJournal(it, 500)).toBe(false);
  expect(readdirSync(state)).toEqual(['journal.jsonl']);
  const reader = await open(join(state, 'journal.jsonl'), constants.O_RDONLY | constants.O_NONBLOCK); // unblocks the waiting thread
  await vi.waitFor(() => {
    expect(it.waitingMs).toBe(0);
  }, 30_000);
  await reader.close();
});

test('while the state directory cannot be written, other records push a decision out of neither the ring nor memory', async () => {
  writeFileSync(state, 'a file where the directory should be');
  const it = journal();
  it.record(decision(1));
  for (let index = 0; index < 180; index += 1) it.record(other(100_000)); // 18 MB
  expect(lost).toBeGreaterThan(0);
  expect(undrainedRecords(ring())[0]?.text).toContain('"type":"decision"');
  rmSync(state);
  expect(await closeJournal(it)).toBe(true);
  expect(types('journal.jsonl')).not.toContain('decision');
  expect(types('evictions.jsonl')).toEqual(['decision']);
});
