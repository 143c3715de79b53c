import { expect, test } from 'vitest';
import { earlierDecisions } from '../../src/journal/journal-ring.js';

const line = (type: string, decision?: number, more: object = {}): string =>
  JSON.stringify({ time: '2026-11-21T08:27:58.769Z', type, node: 'machine', ...(decision === undefined ? {} : { decision }), ...more });

test.each<[rule: string, texts: string[], unfinished: number[], over: number[], last: number]>([
  ['nothing', [], [], [], 0],
  ['a decision without an outcome', [line('decision', 1)], [1], [], 1],
  ['a decision with its outcome', [line('decision', 1), line('escalation', 1), line('outcome', 1)], [], [1], 1],
  ['an outcome whose decision was overwritten', [line('outcome', 3)], [], [3], 3],
  ['two decisions, one with an outcome', [line('decision', 1), line('decision', 2), line('outcome', 1)], [2], [1], 2],
  ['a number that is given out once more', [line('decision', 1), line('outcome', 1), line('start'), line('decision', 1)], [1], [], 1],
  ['a dry run has no outcomes', [line('decision', 4, { dryRun: true })], [], [], 4],
  ['a line that is not a record', ['{"type":"oversize"}', 'x', line('start')], [], [], 0],
])('%s', (_rule, texts, unfinished, over, last) => {
  const before = earlierDecisions(texts);
  expect([[...before.unfinished.keys()], [...before.over], before.last]).toEqual([unfinished, over, last]);
});
