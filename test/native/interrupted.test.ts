import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { native } from '../../src/native/index.js';
import { closing, isEmulated } from './kernel.js';

// EINTR itself: native/test/interrupted_test.cc.
test.runIf(!isEmulated)('the threads of the addon receive no signals', () => {
  closing(
    new native.Sampler(
      { files: [{ path: '/proc/loadavg', format: 'loadavg' }], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 1000, limits: [] },
      () => undefined,
    ),
  );
  closing(new native.MemoryReaper());
  closing(new native.FilesystemStats('/')).request();
  // All but SIGKILL, SIGSTOP and glibc's own two.
  const blockable = (1n << 64n) - 1n - (1n << 8n) - (1n << 18n) - (1n << 31n) - (1n << 32n);
  const blocked = new Map<string, bigint>();
  for (const task of readdirSync('/proc/self/task')) {
    const status = readFileSync(`/proc/self/task/${task}/status`, 'utf8');
    const name = /^Name:\t(.*)$/m.exec(status)?.[1] ?? '';
    if (name.startsWith('evictd-')) blocked.set(name, BigInt(`0x${/^SigBlk:\t(\w+)$/m.exec(status)?.[1] ?? '0'}`) & blockable);
  }
  expect([...blocked.keys()]).toEqual(expect.arrayContaining(['evictd-waiter', 'evictd-armer', 'evictd-reaper', 'evictd-statfs']));
  for (const [name, mask] of blocked) expect(mask, name).toBe(blockable);
});
