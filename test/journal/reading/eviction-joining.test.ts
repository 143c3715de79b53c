import { expect, test } from 'vitest';
import { resultOf, typeOf, type HistoryEvent, type JournalRecord } from '../../../src/journal/reading/history-event.js';
import { BackwardJoining, ForwardJoining, type Joining } from '../../../src/journal/reading/eviction-joining.js';

const record = (type: string, fields: object = {}): JournalRecord => ({
  time: '2026-11-21T08:00:00.000Z',
  type,
  node: 'machine',
  ...fields,
});
const part = (type: string, decision: number, more: object = {}): JournalRecord =>
  record(type, {
    decision,
    victim: { name: `w${String(decision)}`, path: `/w${String(decision)}`, id: `/w#${String(decision)}` },
    ...more,
  });
const decided = (decision: number, more: object = {}): JournalRecord => part('decision', decision, { dryRun: false, ...more });
const ended = (decision: number, result = 'killed'): JournalRecord => part('outcome', decision, { result });
const start = (...resumed: number[]): JournalRecord =>
  record('start', { dryRun: false, ...(resumed.length > 0 && { resumed: { evictions: resumed.map((decision) => ({ decision })) } }) });

const text = (event: HistoryEvent): string => {
  if (event.kind === 'record') return typeOf(event);
  const { decision, escalation, outcome } = event;
  const serial = (decision ?? escalation ?? outcome)?.decision;
  return `${JSON.stringify(serial)} ${resultOf(event) ?? ''}${decision ? '' : ' (no decision)'}${escalation ? ' (escalated)' : ''}`;
};
const all = (joining: Joining, records: readonly JournalRecord[]): string[] =>
  [...records.flatMap((each) => joining.take(each)), ...joining.end()].map(text);

test.each<[rule: string, records: JournalRecord[], events: string[]]>([
  ['a decision and its outcome are one eviction', [decided(1), record('condition'), ended(1)], ['1 killed', 'condition']],
  ['the order is that of the decisions', [decided(1), decided(2), ended(2), ended(1, 'failed')], ['1 failed', '2 killed']],
  ['an escalation belongs to it', [decided(1), part('escalation', 1), ended(1)], ['1 killed (escalated)']],
  ['an eviction without an outcome is in flight', [decided(1), record('alert')], ['1 in-flight', 'alert']],
  ['a dry run has no outcome', [decided(1, { dryRun: true }), record('alert')], ['1 dry-run', 'alert']],
  ['an eviction of a killed evictd has an unseen outcome', [decided(1), start(), decided(2), ended(2)], ['1 unseen', 'start', '2 killed']],
  ['evictd was stopped before it was over', [decided(1), record('stop')], ['1 unseen', 'stop']],
  ['the next evictd continued the eviction', [decided(1), start(1), record('alert'), ended(1)], ['1 killed', 'start', 'alert']],
  ['the next evictd still continues the eviction', [decided(1), start(1), record('alert')], ['1 in-flight', 'start', 'alert']],
  [
    'the next evictd reports that the eviction was abandoned',
    [decided(1), start(), ended(1, 'abandoned'), decided(2), ended(2)],
    ['1 abandoned', 'start', '2 killed'],
  ],
  [
    'the machine went down, which the next evictd reports soon after its start',
    [decided(1), start(), record('condition'), ended(1, 'lost')],
    ['1 lost', 'start', 'condition'],
  ],
  ['a dry run beside it ends nothing', [decided(1), record('start', { dryRun: true }), ended(1)], ['1 killed', 'start']],
  ['another node starts, which does not end the eviction', [decided(1), { ...start(), node: '/other' }, ended(1)], ['1 killed', 'start']],
  [
    'numbers begin anew: the victim tells them apart',
    [decided(1), start(), part('outcome', 1, { result: 'killed', victim: { id: '/x#9' } })],
    ['1 unseen', 'start', '1 killed (no decision)'],
  ],
  ['the decision was in a file that is gone', [ended(1), decided(2), ended(2)], ['1 killed (no decision)', '2 killed']],
])('%s', (_rule, records, events) => {
  expect(all(new ForwardJoining(true), records)).toEqual(events);
  const seen = all(new BackwardJoining(), records.toReversed());
  // Without its decision an outcome has no place of its own.
  expect(seen.toSorted()).toEqual(events.toSorted());
  if (!events.some((event) => event.includes('no decision'))) expect(seen).toEqual(events.toReversed());
});

test('an eviction that no start record mentions is shown five seconds after the start', () => {
  const joining = new ForwardJoining(true);
  joining.take(decided(1));
  expect(joining.take(start()).map(text)).toEqual([]);
  expect(joining.take(record('condition')).map(text)).toEqual([]);
  expect(joining.take({ ...record('condition'), time: '2026-11-21T08:00:05.000Z' }).map(text)).toEqual([
    '1 unseen',
    'start',
    'condition',
    'condition',
  ]);
});

test('evictions that wait for an outcome do not keep all records in memory', () => {
  const joining = new ForwardJoining(true);
  joining.take(decided(1));
  let reported: string[] = [];
  for (let n = 0; reported.length === 0 && n < 10_000; n++) reported = joining.take(record('alert')).map(text);
  expect(reported[0]).toBe('1 in-flight');
  expect(reported).toHaveLength(1001);
  expect(joining.take(ended(1)).map(text)).toEqual(['1 killed (no decision)']);
  expect(joining.end()).toEqual([]);
});

test('outcomes without decisions do not keep all records in memory when read backwards', () => {
  const joining = new BackwardJoining();
  const reported = Array.from({ length: 1_500 }, (_, n) => joining.take(ended(n))).flat();
  expect(reported).toHaveLength(500);
  expect(joining.end()).toHaveLength(1_000);
});
