import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ResetFile } from '../../src/state/reset-file.js';
import { Turns } from '../../src/storage/turns.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

test.each<[rule: string, text: string, resets: number]>([
  ['names of boots', '["a","b"]', 2],
  ['a file of another shape', '["a",{"b":1}]', 0],
  ['a file that was cut off', '["a"', 0],
])('earlier boots that went down: %s', async (_rule, text, resets) => {
  const path = join(temporaryDirectory(), 'resets.json');
  writeFileSync(path, text);
  expect(await new ResetFile(path, 'this', new Turns()).read()).toEqual({ resets, isNamed: false });
});
