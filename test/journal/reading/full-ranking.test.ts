import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { BackwardJoining, ForwardJoining } from '../../../src/journal/reading/eviction-joining.js';
import type { HistoryEvent, JournalRecord } from '../../../src/journal/reading/history-event.js';
import type { Json } from '../../../src/core/name/json-text.js';
import { historyOf } from '../../../src/features/history/history-query.js';
import { openJournal } from '../../../src/journal/reading/journal-reader.js';
import { Journal } from '../../../src/journal/journal.js';
import { ringPath, undrainedRecords } from '../../../src/journal/journal-ring.js';
import { decisionRecord, rankingRecords } from '../../../src/journal/records/decision-record.js';
import { closeJournal } from '../../support/close-journal.js';
import { eventually } from '../../support/eventually.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';
import { decisionAmong } from '../decision.js';

const MANY = 10_000;
const WAKE = { source: 'sampler', atNs: 1n } as const;
const outcome = { type: 'outcome', decision: 1, result: 'killed', message: 'evicted' } as const;
let directory: string;

beforeEach(() => {
  directory = temporaryDirectory();
});

function open(stateDirectory = join(directory, 'state')): Journal {
  return new Journal({
    stateDirectory,
    runtimeDirectory: directory,
    instance: 'machine',
    node: 'machine',
    dryRun: false,
    onError: () => undefined,
    onLost: () => undefined,
    limits: { maxBytes: 64 << 20, maxFiles: 2 },
    allocate: () => Promise.resolve(),
    lock: () => undefined,
    onUnreserved: () => undefined,
    onRing: () => undefined,
  });
}

async function evictions(backwards: boolean, rankings = true): Promise<HistoryEvent[]> {
  const filter = { since: undefined, until: undefined, workloads: [], signals: [], results: [], types: [], all: false, rankings };
  const journal = await openJournal({ stateDirectory: join(directory, 'state'), runtimeDirectory: directory });
  const events: HistoryEvent[] = [];
  for await (const some of historyOf(journal, filter, backwards, { records: 0, types: new Map(), unreadable: new Map() }))
    events.push(...some);
  await journal.close();
  return events.filter(({ kind }) => kind === 'eviction');
}
const placesIn = (event: HistoryEvent | undefined): unknown[] => {
  const ranking = event?.kind === 'eviction' ? event.decision?.ranking : undefined;
  return (ranking as readonly { readonly place: number }[]).map(({ place }) => place);
};
const FULL = Array.from({ length: MANY }, (_, index) => index + 1);

test('a decision among 10,000 candidates is in the ring when it is recorded, and its whole ranking is in the journal', async () => {
  const decision = decisionAmong(MANY, { place: 500 });
  const journal = open();
  journal.record(decisionRecord(decision, WAKE));
  journal.recordLater(rankingRecords(decision));
  const [first] = undrainedRecords(ringPath(directory, 'machine'));
  expect(JSON.parse(first?.text ?? '')).toMatchObject({ type: 'decision', victim: { id: decision.victim.workload.id } });
  journal.record({ ...outcome, victim: { id: decision.victim.workload.id } }); // before the ranking is written
  expect(await closeJournal(journal, 20_000)).toBe(true);
  expect(journal.lost).toBe(0);
  for (const backwards of [false, true]) {
    const found = await evictions(backwards);
    expect(found).toMatchObject([{ decision: { decision: 1 }, outcome: { result: 'killed' } }]);
    expect(placesIn(found[0])).toEqual(FULL);
    expect(placesIn((await evictions(backwards, false))[0])).toEqual([497, 498, 499, 500, 501, 502, 503, 504]);
  }
});

test('a long ranking pushes no record out of the ring while the state directory takes no records', async () => {
  const decision = decisionAmong(MANY);
  const journal = open('/dev/null/state');
  journal.record(decisionRecord(decision, WAKE));
  const records = [...rankingRecords(decision)];
  journal.recordLater(records);
  await eventually('all of it was given to the journal', () => {
    const texts = undrainedRecords(ringPath(directory, 'machine')).map(({ text }) => text);
    return texts.length > 10 && texts;
  });
  for (let round = 0; round < 3; round += 1) journal.recordLater(records);
  await closeJournal(journal, 1);
  const texts = undrainedRecords(ringPath(directory, 'machine')).map(({ text }) => JSON.parse(text) as JournalRecord);
  expect(texts[0]?.type).toBe('decision');
  expect(texts.length).toBeLessThan(records.length);
});

const line = (record: { readonly type: string; readonly victim?: Json }): JournalRecord => ({
  time: '2026-11-21T08:00:00.000Z',
  node: 'machine',
  dryRun: false,
  ...record,
});
const parts = (): JournalRecord[] => {
  const decision = decisionAmong(100);
  return [decisionRecord(decision, WAKE), ...rankingRecords(decision)].map(line);
};
const end = line({ ...outcome, victim: parts()[0]?.victim });
const next = line({ type: 'start' });

test.each<[rule: string, records: (all: JournalRecord[]) => JournalRecord[], candidates: number]>([
  ['all parts before the outcome', (all) => [...all, end], 100],
  ['the outcome in between', ([decision, first, ...rest]) => [decision, first, end, ...rest].filter((record) => record !== undefined), 100],
  ['evictd was killed before it wrote the ranking', ([decision]) => [decision, next, end].filter((record) => record !== undefined), 8],
  ['evictd was killed while it wrote it', (all) => [...all.slice(0, -1), next, end], 64],
  ['no outcome', (all) => all, 100],
])('%s: the decision has the candidates that were recorded', (_rule, records, candidates) => {
  const all = records(parts());
  const forward = new ForwardJoining(true);
  const backward = new BackwardJoining();
  const found = [
    [...all.flatMap((each) => forward.take(each)), ...forward.end()],
    [...all.toReversed().flatMap((each) => backward.take(each)), ...backward.end()],
  ].map((events) => events.filter(({ kind }) => kind === 'eviction'));
  for (const events of found) {
    expect(events).toHaveLength(1);
    expect(placesIn(events[0])).toEqual(FULL.slice(0, candidates));
  }
});

test('an eviction that lacks a part of its ranking does not delay later ones for ever', () => {
  const joining = new ForwardJoining(true);
  for (const each of [...parts().slice(0, -1), end]) joining.take(each);
  const events = joining.take(next);
  expect(events.map(({ kind }) => kind)).toEqual(['eviction', 'record']);
});

test('a part of a ranking whose decision is in a deleted file is not shown', () => {
  const [, part] = parts();
  if (part === undefined) throw new Error('no part');
  expect([...new ForwardJoining(true).take(part), ...new BackwardJoining().take(part)]).toEqual([]);
  const backward = new BackwardJoining();
  backward.take(part);
  expect(backward.end()).toEqual([]);
});
