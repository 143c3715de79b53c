import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { answerPath, readAnswer, writeAnswer } from '../../src/state/request-answer.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

test('an answer is read as it was written; one of another shape is refused', () => {
  const path = answerPath(temporaryDirectory(), 'machine', 'reload');
  expect(readAnswer(path)).toBeUndefined();
  const answer = { pid: 12, beganNs: 1n << 60n, refused: ['line'], warnings: [], message: 'done' };
  writeAnswer(path, answer);
  expect(readAnswer(path)).toEqual(answer);
  writeFileSync(path, '{"pid":12,"beganNs":"0x10"}');
  expect(() => readAnswer(path)).toThrow('beganNs: Invalid input');
});
