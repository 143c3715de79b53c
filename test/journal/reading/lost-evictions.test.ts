import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lostEvictions } from '../../../src/journal/reading/lost-evictions.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const record = (type: string, fields: object): object => ({ time: '2026-11-21T08:00:00.000Z', type, node: 'machine', ...fields });
const start = (bootId: string, fields: object = {}): object => record('start', { bootId, dryRun: false, ...fields });
const part = (type: string, decision: number, fields: object = {}): object =>
  record(type, { decision, dryRun: false, victim: { name: 'w', path: '/w', id: `/w#${String(decision)}` }, ...fields });
const decided = (decision: number, fields?: object): object => part('decision', decision, fields);
const ended = (decision: number): object => part('outcome', decision);
const goesOn = { resumed: { evictions: [{ decision: 1 }] } };

/** @param older  the records of evictions.jsonl.1, .2 and so on */
async function lostIn(records: readonly object[], ...older: (readonly object[])[]): Promise<unknown[]> {
  const directory = temporaryDirectory();
  for (const [age, file] of [records, ...older].entries()) {
    const name = age === 0 ? 'evictions.jsonl' : `evictions.jsonl.${String(age)}`;
    writeFileSync(join(directory, name), file.map((each) => `${JSON.stringify(each)}\n`).join(''));
  }
  return (await lostEvictions(directory, 'machine', 'now')).map(({ decision }) => decision);
}

test.each<[rule: string, records: object[], lost: number[]]>([
  ['an eviction was in flight when the machine went down', [start('before'), decided(1), decided(2), ended(1)], [2]],
  ['over', [start('before'), decided(1), ended(1)], []],
  ['a run of this boot has already begun', [start('before'), decided(1), start('now')], [1]],
  ['an earlier run of this boot', [start('before'), start('now'), decided(1)], []],
  ['a run that was killed before the last one', [start('before'), decided(1), start('before'), decided(2)], [2]],
  ['the last run went on with it', [start('before'), decided(1), start('before', goesOn)], [1]],
  ['a dry run', [start('before'), decided(1, { dryRun: true })], []],
  ['an eviction of another node', [start('before'), decided(1, { node: '/other' })], []],
  ['found out already', [start('before'), decided(1), start('now'), ended(1), start('now')], []],
  ['the beginning of the run is in an older file', [decided(1)], [1]],
])('%s', async (_rule, records, lost) => {
  expect(await lostIn(records)).toEqual(lost);
});

test.each<[rule: string, files: [newest: object[], ...older: object[][]], lost: number[]]>([
  ['the start of this boot began a new file', [[start('now')], [start('before'), decided(1)]], [1]],
  ['the last run fills several files', [[ended(3)], [decided(2), decided(3)], [start('before'), decided(1)]], [1, 2]],
  [
    'an outcome in a newer file',
    [
      [ended(1), start('now')],
      [start('before'), decided(1)],
    ],
    [],
  ],
  ['a run before the last one', [[start('before')], [start('before'), decided(1)]], []],
])('in rotated files: %s', async (_rule, files, lost) => {
  expect(await lostIn(...files)).toEqual(lost);
});

test('no eviction was in flight where there is no file', async () => {
  expect(await lostEvictions(temporaryDirectory(), 'machine', 'now')).toEqual([]);
});
