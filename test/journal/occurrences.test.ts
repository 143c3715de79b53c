import { expect, test } from 'vitest';
import { Occurrences } from '../../src/journal/occurrences.js';
import type { JournalRecord } from '../../src/journal/records/record.js';

const HOUR_MS = 3_600_000;
const record = (type: string, fields: object): JournalRecord => ({ type, message: '', ...fields });
const decision = (path: string, serial = 1) => record('decision', { decision: serial, victim: { path } });
const kill = (cgroup: string, limit: string) => record('kernel-oom', { cgroup, limit });
const start = record('start', {});

test.each<[rule: string, records: (readonly [record: JournalRecord, atMs: number])[], occurrences: (number | undefined)[]]>([
  [
    'evictions of one workload are a series',
    [
      [decision('/a'), 0],
      [decision('/a'), 1],
      [decision('/a'), 2],
    ],
    [undefined, 2, 3],
  ],
  [
    'between those of others',
    [
      [decision('/a'), 0],
      [decision('/b'), 1],
      [decision('/a'), 2],
    ],
    [undefined, undefined, 2],
  ],
  [
    'an eviction an hour after the last one begins a new series',
    [
      [decision('/a'), 0],
      [decision('/a'), HOUR_MS],
    ],
    [undefined, 2],
  ],
  [
    'a later eviction begins a new series',
    [
      [decision('/a'), 0],
      [decision('/a'), HOUR_MS + 1],
    ],
    [undefined, undefined],
  ],
  [
    'the series goes on after the clock was set back',
    [
      [decision('/a'), 9 * HOUR_MS],
      [decision('/a'), 0],
    ],
    [undefined, 2],
  ],
  [
    'starts',
    [
      [start, 0],
      [start, 1],
    ],
    [undefined, 2],
  ],
  [
    'OOM kills for lack of memory of the node',
    [
      [kill('/a', 'node'), 0],
      [kill('/a', 'node'), 1],
      [kill('/b', 'node'), 2],
    ],
    [undefined, 2, undefined],
  ],
  [
    'OOM kills by a limit are not kept',
    [
      [kill('/a', 'workload'), 0],
      [kill('/a', 'workload'), 1],
    ],
    [undefined, undefined],
  ],
  [
    'an outcome has the number of its decision, not that of the last decision',
    [
      [decision('/a', 1), 0],
      [decision('/a', 2), 1],
      [decision('/a', 3), 2],
      [record('outcome', { decision: 2 }), 3],
      [record('outcome', { decision: 1 }), 4],
    ],
    [undefined, 2, 3, 2, undefined],
  ],
])('%s', (_rule, records, occurrences) => {
  const it = new Occurrences();
  expect(records.map(([each, atMs]) => it.numbered(each, atMs).occurrence)).toEqual(occurrences);
});

test('a record that is prepared has the number that it would get, and is not counted', () => {
  const it = new Occurrences();
  it.numbered(decision('/a', 1), 0);
  expect(it.prepared(decision('/a', 2), 1).occurrence).toBe(2);
  expect(it.prepared(decision('/a', 2), HOUR_MS + 1).occurrence).toBeUndefined();
  expect(it.numbered(decision('/a', 2), 1).occurrence).toBe(2);
});
