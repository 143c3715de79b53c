import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Evictd } from './evictd.js';
import { guarding, testNode } from './node.js';

const lockedKib = (pid: number): number => Number(/^VmLck:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1]);

describe('the machine code of a running evictd', () => {
  test('is locked in memory', async () => {
    const evictd = await new Evictd({ config: guarding(testNode()) }).guarding();
    expect(lockedKib(evictd.pid)).toBeGreaterThan(10 * 1024);
    expect(await evictd.stop()).toBe(0);
  });

  test('is not locked by a dry run', async () => {
    const evictd = await new Evictd({ config: guarding(testNode()), args: ['--dry-run'] }).guarding();
    expect(lockedKib(evictd.pid)).toBe(0);
  });

  test('is locked as far as permitted, which evictd logs once', async () => {
    const through = ['setpriv', '--bounding-set', '-ipc_lock', '--inh-caps', '-ipc_lock', 'prlimit', '--memlock=2097152:2097152'];
    const evictd = await new Evictd({ config: guarding(testNode()), through }).guarding();
    const warning = await evictd.logged(/^EVICTD_TEXT_UNLOCKED$/);
    expect(warning).toMatchObject({
      level: 'warn',
      msg: expect.stringMatching(/ENOMEM .*\(grant CAP_IPC_LOCK, or set LimitMEMLOCK=infinity\)$/) as string,
    });
    expect(lockedKib(evictd.pid)).toBeLessThanOrEqual(2048);
    expect(await evictd.stop()).toBe(0);
  });
});
