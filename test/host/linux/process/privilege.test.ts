import { expect, test } from 'vitest';
import { canSignalOthers } from '../../../../src/host/linux/process/own-process.js';

// Lines of /proc/self/status as 6.18 writes them: of root, of an unprivileged user, and of root without CAP_KILL (setpriv
// --bounding-set -kill).
test.each<[user: string, capEff: string, may: boolean]>([
  ['root', '000001ffffffffff', true],
  ['the process has no capability', '0000000000000000', false],
  ['root without CAP_KILL', '000001ffffffffdf', false],
  ['CAP_KILL alone', '0000000000000020', true],
])('%s', (_who, capEff, may) => {
  expect(canSignalOthers(`Name:\tnode\nCapPrm:\t000001ffffffffff\nCapEff:\t${capEff}\nCapBnd:\t000001ffffffffff\n`)).toBe(may);
});

test('without the line in its status a process cannot signal others', () => {
  expect(canSignalOthers('')).toBe(false);
});
