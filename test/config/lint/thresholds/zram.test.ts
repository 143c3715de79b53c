import { expect, test } from 'vitest';
import type { MachineFacts } from '../../../../src/config/lint/machine.js';
import { lintZram } from '../../../../src/config/lint/thresholds/zram.js';
import { listed } from '../../../core/listed.js';
import { Gi, threshold } from '../../../core/support.js';
import { machine, subject } from '../support.js';

const reserve = { totalBytes: 8n * Gi, minFreeBytes: 0n, hugePagesBytes: 0n, kernelBytes: 0n };
const zram: Partial<MachineFacts> = { reserve: { ...reserve, zram: true }, pressureOf: 'machine' };

test.each<[rule: string, facts: Partial<MachineFacts>, reported: boolean]>([
  ['memory in zram counts as available', zram, true],
  ['swap on a disk', { ...zram, reserve }, false],
  ['the kernel’s estimate leaves zram out', { ...zram, estimated: true }, false],
  ['a cgroup counts what zram keeps for it as swap', { ...zram, pressureOf: 'cgroup' }, false],
])('%s', (_rule, facts, reported) => {
  const found = lintZram(subject([threshold('memory.available', '100Mi')]), machine(facts));
  expect(found.map(({ level, code, key }) => `${level} ${code} ${key}`)).toEqual(
    reported ? ['warn EVICTD_LINT_ZRAM evictionHard.memory.available'] : [],
  );
});

test.each<[rule: string, thresholds: Parameters<typeof subject>[0], reported: boolean]>([
  ['there is no memory threshold', [threshold('nodefs.available', '10%')], false],
  [
    'a threshold of kernelAvailable, which counts zram',
    [threshold('memory.available', '100Mi'), threshold('memory.kernelAvailable', '10%')],
    false,
  ],
  ['a joined memory threshold', [listed('memory.pressure.full>40% & memory.available<10%', 'hard')], true],
])('%s', (_rule, thresholds, reported) => {
  expect(lintZram(subject(thresholds), machine(zram))).toHaveLength(reported ? 1 : 0);
});

test('zram is not judged without a machine', () => {
  expect(lintZram(subject([threshold('memory.available', '100Mi')]), undefined)).toEqual([]);
});
