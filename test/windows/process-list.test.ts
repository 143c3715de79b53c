import { expect, test } from 'vitest';
import { spawnSync } from './spawn.js';

test('whoever has the number of a process by the time that it is asked is not taken for it', () => {
  expect(spawnSync('build\\wine\\process_list_test.exe', { stdio: 'ignore' }).status).toBe(0);
});
