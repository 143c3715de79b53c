import { existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openCommandRunner } from '../../src/host/linux/systemd/transient-units.js';
import { Evictd } from '../e2e/evictd.js';
import { hasSystemd, systemd } from '../support/systemd.js';
import { run } from './service.js';

const MIB = 1 << 20;
const SECOND = 1_000_000_000n;
const CRASHES = '/var/crash';

/** A file of this size, written a day ago. */
function oldFile(directory: string, mib: number): string {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, 'evictd-test-core');
  onTestFinished(() => {
    rmSync(path, { force: true });
  });
  writeFileSync(path, Buffer.alloc(mib * MIB, 1));
  systemd('touch', '--date=yesterday', path);
  return path;
}

const freeMib = (): number => {
  const { bavail, bsize } = statfsSync('/');
  return Math.floor((bavail * bsize) / MIB);
};

describe.runIf(hasSystemd)('reclaim (needs systemd)', () => {
  test('runs a command in a unit with limits, and reports its failure', async () => {
    const runner = openCommandRunner();
    const command = (script: string, timeoutSeconds = 60n) =>
      runner.run({
        purpose: 'reclaim',
        name: 'test',
        argv: ['/bin/sh', '-c', script],
        timeoutNs: timeoutSeconds * SECOND,
        memoryMaxBytes: BigInt(32 * MIB),
      });
    expect(await command('exit 0')).toBeUndefined();
    expect(await command('exit 3')).toMatch(/^it failed \(exit-code\): journalctl -u evictd-reclaim-test-/);
    expect(await command('sleep infinity', 2n)).toMatch(/^it failed \(timeout\)/);
    expect(await command('tail /dev/zero')).toMatch(/^it failed \(oom-kill\)/);
    expect(
      await runner.run({ purpose: 'reclaim', name: 'test', argv: ['/no/such/program'], timeoutNs: SECOND, memoryMaxBytes: BigInt(MIB) }),
    ).toMatch(/^it failed/);
    expect(systemd('systemctl', 'list-units', '--all', '--plain', '--no-legend', 'evictd-reclaim-*')).toBe('');
  });

  test('of old core dumps ends the shortage without an eviction', async () => {
    const core = oldFile(CRASHES, 64);
    const config = {
      evictionHard: { 'nodefs.available': `${String(freeMib() + 32)}Mi` },
      monitoringInterval: '1s',
      workloads: [{ systemd: { slices: ['evictdtest.slice'] } }],
      reclaim: [{ step: 'core-dumps', olderThan: '1h' }],
    };
    const evictd = await new Evictd({ config }).guarding();
    const reclaimed = await evictd.recorded('reclaimed');
    expect(reclaimed).toMatchObject({ signal: 'nodefs.available', collections: ['core-dumps'], enough: true, errors: [] });
    const [freed] = reclaimed.yields as readonly { readonly freedBytes: number }[];
    expect(freed?.freedBytes).toBeGreaterThan(48 * MIB);
    expect(existsSync(core)).toBe(false);
    await evictd.until('the shortage ends', () => evictd.journal().some(({ type, met }) => type === 'threshold' && met === false));
    expect(evictd.journal().filter(({ type }) => type === 'decision' || type === 'alert')).toEqual([]);
    expect(await evictd.stop()).toBe(0);
  });

  test('that frees nothing is tried once, and recorded', async () => {
    const config = {
      evictionHard: { 'nodefs.available': `${String(freeMib() + 1024)}Mi` },
      monitoringInterval: '1s',
      reclaim: [{ step: 'core-dumps', olderThan: '1h' }],
    };
    const evictd = await new Evictd({ config }).guarding();
    expect(await evictd.recorded('reclaimed')).toMatchObject({ enough: false });
    await evictd.recorded('alert');
    const ticks = performance.now() + 5_000;
    await evictd.until('several ticks have passed', () => performance.now() > ticks);
    expect(evictd.journal().filter(({ type }) => type === 'reclaim')).toHaveLength(1);
    expect(await evictd.stop()).toBe(0);
  });

  test('by evictd reclaim estimates in a dry run, and removes files then', () => {
    const core = oldFile(CRASHES, 8);
    const file = '/run/evictd-test-reclaim.yaml';
    onTestFinished(() => {
      rmSync(file, { force: true });
    });
    writeFileSync(file, 'reclaim: [{step: core-dumps, olderThan: 1h}, {step: journald, keep: 1Mi}]\n', { mode: 0o600 });
    const evictd = (...args: readonly string[]) => run(process.execPath, '/project/dist/evictd.js', 'reclaim', '--config', file, ...args);
    expect(evictd('--dry-run')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^core-dumps +8MiB, 1 file /m) as string });
    expect(existsSync(core)).toBe(true);
    expect(evictd()).toMatchObject({ status: 0, stderr: '' });
    expect(existsSync(core)).toBe(false);
  });
});
