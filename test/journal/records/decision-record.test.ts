import { expect, test } from 'vitest';
import { decisionRecord, rankingRecords } from '../../../src/journal/records/decision-record.js';
import { journalLine, type JournalRecord } from '../../../src/journal/records/record.js';
import { decisionAmong } from '../decision.js';

const WAKE = { source: 'sampler', atNs: 1n } as const;
const bytes = (record: JournalRecord): number => Buffer.byteLength(journalLine(record, { node: 'machine', dryRun: false }));
const places = ({ ranking }: JournalRecord): unknown[] => (ranking as readonly { readonly place: number }[]).map(({ place }) => place);

test.each<[rule: string, candidates: number, place: number, near: number[]]>([
  ['all candidates, if they are few', 8, 1, [1, 2, 3, 4, 5, 6, 7, 8]],
  ['the candidates after the first one', 9, 1, [1, 2, 3, 4, 5, 6, 7, 8]],
  ['some protected candidates before the victim, and some after it', 10_000, 500, [497, 498, 499, 500, 501, 502, 503, 504]],
  ['the candidates before the last one', 20, 20, [13, 14, 15, 16, 17, 18, 19, 20]],
])('a decision has %s', (_rule, candidates, place, near) => {
  const record = decisionRecord(decisionAmong(candidates, { place }), WAKE);
  expect(places(record)).toEqual(near);
  expect(record.counts).toEqual({ ranking: candidates, unreadable: 0 });
});

test('a decision that has all its candidates has no further record', () => {
  expect([...rankingRecords(decisionAmong(8))]).toEqual([]);
});

test('the further records have all candidates in order, and each is far smaller than the limit of the ring', () => {
  const decision = decisionAmong(10_000, { place: 500 });
  const records = [...rankingRecords(decision)];
  expect(records.flatMap(places)).toEqual(decision.ranking.map(({ place }) => place));
  expect(records.map(({ part }) => part)).toEqual(records.map((_, index) => index + 1));
  expect(new Set(records.map(({ parts }) => parts))).toEqual(new Set([records.length]));
  expect(records.every((record) => bytes(record) <= 64 * 1024)).toBe(true);
});

test('with paths as long as the kernel allows and long lists the decision is smaller than 64 KiB, and the rest follows', () => {
  const long = `/${'é'.repeat(2_000)}`;
  const names = Array.from({ length: 2_000 }, (_, index) => `unit-${String(index)}.service`);
  const unreadable = names.map((name) => ({ name, path: long, reason: 'EACCES' }));
  const stop = { kind: 'stop', dependants: names, triggers: [], timers: [], running: [], affected: names, restarts: false } as const;
  const decision = { ...decisionAmong(100, { place: 50, path: long }), unreadable, unit: { evictions: 1, stop, hold: undefined } };
  const record = decisionRecord(decision, WAKE);
  expect(bytes(record)).toBeLessThanOrEqual(64 * 1024);
  expect(places(record)).toContain(50);
  expect(record.counts).toEqual({ ranking: 100, unreadable: 2_000 });
  const [first, ...others] = rankingRecords(decision);
  expect(first?.unreadable).toEqual(unreadable);
  expect((first?.unit as { affected: unknown }).affected).toEqual(names);
  expect(others.some((other) => 'unreadable' in other || 'unit' in other)).toBe(false);
});
