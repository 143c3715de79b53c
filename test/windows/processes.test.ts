import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { child, entryOf, family, lives } from './children.js';
import { native } from './native.js';

/** 100 ns since 1601. */
const sinceEpochMs = (createdAt: bigint): number => Number(createdAt / 10_000n) - 11_644_473_600_000;

describe('processes()', () => {
  test('has this process: name, program, creation time, plausible memory and processor time', () => {
    const own = entryOf(process.pid);
    expect(own).toMatchObject({ pid: process.pid, errno: 0, critical: false, name: basename(process.execPath) });
    expect(own?.path.toLowerCase()).toBe(process.execPath.toLowerCase());
    const age = Date.now() - sinceEpochMs(own?.createdAt ?? 0n);
    expect(Math.abs(age / 1000 - process.uptime())).toBeLessThan(10);
    expect(own?.workingSetBytes).toBeGreaterThan(10n << 20n);
    expect(own?.cpuTimeNs).toBeGreaterThan(0n);
  });

  test('commitment of a process is 0 under Wine', () => {
    expect(entryOf(process.pid)?.privateBytes).toBe(0n);
  });

  test('a child is younger than its parent, and has its parent id', async () => {
    const [parent, own] = await family();
    expect([parent.parentPid, own.parentPid]).toEqual([process.pid, parent.pid]);
    const times = [entryOf(process.pid)?.createdAt ?? 0n, parent.createdAt, own.createdAt];
    expect([...times].sort((a, b) => (a < b ? -1 : 1))).toEqual(times);
  });

  test('an ended process is not listed, even with an open handle', async () => {
    const one = await child();
    const held = new native.ProcessHandle(one.pid, one.createdAt, () => undefined);
    held.terminate(1);
    await eventually('the process is not listed', () => !lives(one));
    held.close();
  });
});
