import { expect, test } from 'vitest';
import { spawnSync } from './spawn.js';

test('a process that has got the id of an ended one is not mistaken for it', () => {
  expect(spawnSync('build\\wine\\process_list_test.exe', { stdio: 'ignore' }).status).toBe(0);
});
