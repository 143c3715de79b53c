import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { journalSet } from '../../src/journal/journal.js';
import type { JournalSet } from '../../src/journal/journal-sets.js';
import { addToRing, drainRing } from '../../src/journal/ring-recovery.js';
import { Ring, undrainedRecords } from '../../src/journal/journal-ring.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

let directory: string;
let path: string;

const record = (decision: number): string => JSON.stringify({ type: 'decision', node: 'machine', dryRun: false, decision });
const state = (): string => join(directory, 'state');
const files = (): JournalSet =>
  journalSet({
    stateDirectory: state(),
    limits: { maxBytes: 1 << 20, maxFiles: 2 },
    allocate: () => Promise.resolve(),
    lock: () => ({ close: () => undefined }),
  });
const lines = (): string[] => readFileSync(join(state(), 'journal.jsonl'), 'utf8').trimEnd().split('\n');

beforeEach(() => {
  directory = temporaryDirectory();
  path = join(directory, 'ring');
  const ring = new Ring(path, 8192);
  for (const decision of [1, 2, 3]) ring.append(record(decision));
  ring.drained(1n);
  ring.close();
});

test('records that the state directory does not have are written there once, and stay readable in the ring', async () => {
  expect(await drainRing(path, files(), 5_000)).toEqual({ records: 2, failure: undefined, hangs: false });
  expect(lines()).toEqual([record(2), record(3)]);
  expect(undrainedRecords(path)).toEqual([]);
  expect(await drainRing(path, files(), 5_000)).toMatchObject({ records: 0, failure: undefined });
  const next = new Ring(path, 8192);
  next.close();
  expect(next.before.map(({ text }) => text)).toEqual([1, 2, 3].map(record));
  expect(next.sequence).toBe(3n);
});

test('records that a killed evictd had written without a mark are not written again', async () => {
  mkdirSync(state());
  writeFileSync(join(state(), 'journal.jsonl'), `${record(1)}\n${record(2)}\n`);
  await drainRing(path, files(), 5_000);
  expect(lines()).toEqual([1, 2, 3].map(record));
});

test('records follow a torn line, which is marked', async () => {
  mkdirSync(state());
  writeFileSync(join(state(), 'journal.jsonl'), '{"type":"dec');
  await drainRing(path, files(), 5_000);
  const [cut, mark = '', ...rest] = lines();
  expect([cut, rest]).toEqual(['{"type":"dec', [record(2), record(3)]]);
  expect(JSON.parse(mark)).toMatchObject({ type: 'torn', node: 'machine', dryRun: false, bytes: 12 });
});

test('records that the directory does not take stay in the ring, with the reason', async () => {
  writeFileSync(state(), 'in the way');
  const left = await drainRing(path, files(), 5_000);
  expect(left).toMatchObject({ records: 2, failure: expect.stringMatching(/EEXIST|ENOTDIR/) as string, hangs: false });
  expect(undrainedRecords(path)).toHaveLength(2);
});

test('without a ring there are no records', async () => {
  expect(await drainRing(join(directory, 'absent'), files(), 5_000)).toMatchObject({ records: 0, failure: undefined });
});

test('a new record about an old one is written after it', async () => {
  const release = { type: 'release', decision: 3, message: 'starting b.service again' };
  addToRing(path, [release, { ...release, decision: 2 }], '/node');
  expect(await drainRing(path, files(), 5_000)).toMatchObject({ records: 4, failure: undefined });
  expect(lines().slice(0, 2)).toEqual([record(2), record(3)]);
  expect(
    lines()
      .slice(2)
      .map((line) => JSON.parse(line) as unknown),
  ).toMatchObject([
    { ...release, node: '/node', dryRun: false },
    { ...release, decision: 2 },
  ]);
});
