import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc } from '../../support/property.js';
import { expect, test } from 'vitest';
import { type HistoryFilter, historyOf } from '../../../src/features/history/history-query.js';
import { openJournal } from '../../../src/journal/reading/journal-reader.js';

const ALL: HistoryFilter = {
  since: undefined,
  until: undefined,
  workloads: [],
  signals: [],
  results: [],
  types: [],
  all: true,
  rankings: true,
};
const text = (number: number): string =>
  JSON.stringify({
    time: new Date(1_763_712_000_000 + number).toISOString(),
    type: 'alert',
    alert: 'nothing-evictable',
    message: `żółć {"${String(number)}"}`,
  });

/**
 * What stands between two records: nothing, or so many bytes of one that was cut off, where the file goes on or ends.
 */
const anyFile = fc.array(fc.record({ tornBytes: fc.option(fc.integer({ min: 1, max: 140 }), { nil: undefined }) }), { maxLength: 6 });

test('every complete record is read once and in order, forwards and backwards, whichever file is torn', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyFile, { minLength: 1, maxLength: 4 }), fc.boolean(), async (files, endsTorn) => {
      const directory = mkdtempSync(join(tmpdir(), 'evictd-test-torn-'));
      try {
        let number = 0;
        let torn = 0;
        for (const [index, parts] of files.entries()) {
          let content = Buffer.alloc(0);
          for (const { tornBytes } of parts) {
            const line = Buffer.from(text(number));
            if (tornBytes !== undefined && tornBytes < line.length) {
              content = Buffer.concat([content, line.subarray(0, tornBytes), Buffer.from('\n')]);
              torn += 1;
            }
            content = Buffer.concat([content, line, Buffer.from('\n')]);
            number += 1;
          }
          if (endsTorn) {
            content = Buffer.concat([content, Buffer.from(text(9999)).subarray(0, 50)]);
            torn += 1;
          }
          const age = files.length - 1 - index;
          writeFileSync(join(directory, age === 0 ? 'journal.jsonl' : `journal.jsonl.${String(age)}`), content);
        }
        for (const backwards of [false, true]) {
          const journal = await openJournal({ stateDirectory: directory, runtimeDirectory: join(directory, 'none') });
          const tally = { records: 0, types: new Map(), unreadable: new Map<string, number>() };
          const seen: unknown[] = [];
          for await (const events of historyOf(journal, ALL, backwards, tally, ({ message }) => seen.push(message)))
            expect(events).toBeDefined();
          await journal.close();
          const expected = Array.from({ length: number }, (_, i) => `żółć {"${String(i)}"}`);
          expect(seen).toEqual(backwards ? expected.toReversed() : expected);
          expect([...tally.unreadable.values()].reduce((sum, lines) => sum + lines, 0)).toBe(torn);
        }
      } finally {
        rmSync(directory, { recursive: true });
      }
    }),
    { numRuns: 200 },
  );
}, 180_000); // each writes and reads files, for which a busy machine takes its time
