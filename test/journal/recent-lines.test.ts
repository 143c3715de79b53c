import { expect, test } from 'vitest';
import { journalLine } from '../../src/journal/records/record.js';
import { RecentLines } from '../../src/journal/recent-lines.js';

const line = (type: string, message = ''): string => journalLine({ type, message }, { node: 'machine', dryRun: false });

test('the recent lines are those that an operator needs, the oldest first', () => {
  const recent = new RecentLines();
  const shown = [line('decision'), line('outcome'), line('alert'), line('kernel-oom')];
  for (const text of [line('threshold'), ...shown, line('ranking'), line('hook')]) recent.add(text);
  expect(recent.all).toEqual(shown);
});

test('the recent lines are at most 32', () => {
  const recent = new RecentLines();
  for (let at = 0; at < 40; at += 1) recent.add(line('alert', String(at)));
  expect(recent.all).toHaveLength(32);
  expect(recent.all[0]).toContain('"message":"8"');
});
