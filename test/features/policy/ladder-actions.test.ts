import { writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { LimitedCommand } from '../../../src/core/systemd/limited-command.js';
import { testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';
import { freezable, freezers, isV2, ladder, targetOf } from './ladder.js';

const SECOND = 1_000_000_000n;
const MIB = 1024n * 1024n;
const forNs = 60n * SECOND;

function holder(mib: number): Promise<TestCgroup> {
  const cgroup = testCgroup();
  onTestFinished(() => cgroup.cleanup());
  return cgroup.spawn('/bin/sh', ['-c', `head -c ${String(mib)}m /dev/zero | tail -c ${String(mib)}m | sleep 600`]).then(async () => {
    const usage = isV2 ? 'memory.current' : 'memory.usage_in_bytes';
    await eventually('the memory is held', () => BigInt(cgroup.read(usage)) >= BigInt(mib) * MIB);
    return cgroup;
  });
}

describe.each(freezers)('freeze with %s', (name) => {
  const workload = freezable(name);

  test('stops the processes until they are released', async () => {
    const { act } = ladder();
    const { target, isFrozen } = workload();
    expect(await act({ action: 'freeze', target, forNs })).toEqual({ result: 'done' });
    await eventually('it is frozen', isFrozen);
    expect(await act({ action: 'thaw', target, reason: 'time' })).toEqual({ result: 'done' });
    expect(isFrozen()).toBe(false);
  });

  test('by two policies lasts until the last one releases the cgroup', async () => {
    const { act } = ladder();
    const { target, isFrozen } = workload();
    for (const policy of ['a', 'b']) expect(await act({ action: 'freeze', target, forNs }, policy)).toEqual({ result: 'done' });
    await eventually('it is frozen', isFrozen);
    await act({ action: 'thaw', target, reason: 'time' }, 'a');
    expect(isFrozen()).toBe(true);
    await act({ action: 'thaw', target, reason: 'time' }, 'b');
    expect(isFrozen()).toBe(false);
  });

  test('does not release what another program has frozen', async () => {
    const { act } = ladder();
    const { target, isFrozen } = workload();
    const other = ladder();
    await other.act({ action: 'freeze', target, forNs });
    await eventually('it is frozen', isFrozen);
    expect(await act({ action: 'freeze', target, forNs })).toEqual({ result: 'failed', error: 'it is frozen already' });
    await act({ action: 'thaw', target, reason: 'time' });
    expect(isFrozen()).toBe(true);
  });

  test('does not touch a cgroup that was made again under its name, evictd itself, and the root', async () => {
    const { target, isFrozen } = workload();
    const { act } = ladder();
    expect(await act({ action: 'freeze', target: { ...target, id: `${target.path}#1` }, forNs })).toMatchObject({ result: 'failed' });
    const own = ladder({ own: `${target.path}/below` });
    expect(await own.act({ action: 'freeze', target, forNs })).toEqual({ result: 'refused', error: 'evictd itself is in it' });
    expect(isFrozen()).toBe(false);
  });
});

test('a workload that shares its freezer with others is not frozen', async () => {
  const cgroup = testCgroup();
  onTestFinished(() => cgroup.cleanup());
  await cgroup.spawn('sleep', ['600']);
  const { act } = ladder();
  const result = await act({ action: 'freeze', target: targetOf(cgroup), forNs });
  // On v2 it is never shared.
  expect(result).toEqual(
    isV2 ? { result: 'done' } : { result: 'failed', error: 'no cgroup of a freezer holds its processes and no others' },
  );
});

describe.runIf(!isV2)('cgroup v1', () => {
  test('has neither memory.high nor memory.reclaim, so the action fails with that reason', async () => {
    const { act } = ladder();
    const target = { id: '/x#1', name: 'x', path: '/x' };
    expect(await act({ action: 'throttle', target, memoryHigh: { kind: 'usage' }, forNs })).toEqual({
      result: 'failed',
      error: 'cgroup v1 has no memory.high',
    });
    expect(await act({ action: 'reclaim', memoryBytes: MIB, withinNs: SECOND, targets: [{ ...target, excessBytes: MIB }] })).toEqual({
      result: 'failed',
      error: 'cgroup v1 has no memory.reclaim',
    });
  });
});

describe.runIf(isV2)('throttle', () => {
  test('limits a workload to its usage, a part of it or an amount, until it is released', async () => {
    const cgroup = await holder(32);
    const target = targetOf(cgroup);
    const { act } = ladder();
    for (const [memoryHigh, least, most] of [
      [{ kind: 'usage' }, 32n * MIB, 40n * MIB],
      [{ kind: 'share', ratio: 0.5 }, 16n * MIB, 20n * MIB],
      [{ kind: 'quantity', bytes: 64n * MIB }, 64n * MIB, 64n * MIB],
    ] as const) {
      expect(await act({ action: 'throttle', target, memoryHigh, forNs })).toEqual({ result: 'done' });
      const high = BigInt(cgroup.read('memory.high'));
      expect(high >= least && high <= most, String(high)).toBe(true);
      await act({ action: 'unthrottle', target, reason: 'time' });
      expect(cgroup.read('memory.high')).toBe('max\n');
    }
  });

  test('restores the limit of the operator, and never raises it', async () => {
    const cgroup = await holder(8);
    const target = targetOf(cgroup);
    cgroup.write('memory.high', String(64n * MIB));
    const { act } = ladder();
    const high = { action: 'throttle', target, memoryHigh: { kind: 'quantity', bytes: 128n * MIB }, forNs } as const;
    expect(await act(high)).toEqual({ result: 'failed', error: `its memory.high is ${String(64n * MIB)} already` });
    expect(await act({ ...high, memoryHigh: { kind: 'usage' } })).toEqual({ result: 'done' });
    await act({ action: 'unthrottle', target, reason: 'time' });
    expect(cgroup.read('memory.high')).toBe(`${String(64n * MIB)}\n`);
  });
});

describe.runIf(isV2)('reclaim', () => {
  const cached = async (mib: number): Promise<TestCgroup> => {
    const cgroup = testCgroup();
    onTestFinished(() => cgroup.cleanup());
    const file = `/var/tmp/evictd-test-cache-${String(process.pid)}`;
    onTestFinished(() => {
      writeFileSync(file, '');
    });
    const { ended } = await cgroup.spawn('/bin/sh', [
      '-c',
      `head -c ${String(mib)}m /dev/urandom > ${file} && sync ${file} && cat ${file} > /dev/null`,
    ]);
    await ended;
    return cgroup;
  };

  test('frees the requested amount from one workload after the other, and reports how much', async () => {
    const first = await cached(24);
    const { act } = ladder();
    const usage = (): bigint => BigInt(first.read('memory.current'));
    const before = usage();
    const gone = { id: '/evictd-test-none#1', name: 'gone', path: '/evictd-test-none', excessBytes: 64n * MIB };
    const targets = [gone, { ...targetOf(first), excessBytes: 64n * MIB }];
    const { result, freedBytes = 0n } = await act({ action: 'reclaim', memoryBytes: 16n * MIB, withinNs: 30n * SECOND, targets });
    expect({ result, freedBytes }).toEqual({ result: 'done', freedBytes: 16n * MIB });
    expect(before - usage() >= 15n * MIB, `${String(before)} ${String(usage())}`).toBe(true);
  });

  test('never takes more than a workload uses above its request', async () => {
    const cgroup = await cached(24);
    const { act } = ladder();
    const targets = [{ ...targetOf(cgroup), excessBytes: 4n * MIB }];
    expect(await act({ action: 'reclaim', memoryBytes: 16n * MIB, withinNs: 30n * SECOND, targets })).toEqual({
      result: 'done',
      freedBytes: 4n * MIB,
    });
  });

  test('does not begin after its time, and fails where no workload has memory to reclaim', async () => {
    const cgroup = await cached(8);
    const { act } = ladder();
    const targets = [{ ...targetOf(cgroup), excessBytes: 4n * MIB }];
    expect(await act({ action: 'reclaim', memoryBytes: MIB, withinNs: 0n, targets })).toEqual({ result: 'timed-out', freedBytes: 0n });
    const gone = { id: '/evictd-test-none#1', name: 'gone', path: '/evictd-test-none', excessBytes: MIB };
    const failed = await act({ action: 'reclaim', memoryBytes: MIB, withinNs: SECOND, targets: [gone] });
    expect(failed).toMatchObject({
      result: 'failed',
      error: '/evictd-test-none: it was removed, or this kernel has no memory.reclaim (Linux 5.19)',
    });
  });
});

describe('run', () => {
  const command = { action: 'run', command: ['/bin/x', 'y'], timeoutNs: 60n * SECOND, steps: [] } as const;

  test('gives the program the policy, its scope and condition, and limits', async () => {
    const ran: LimitedCommand[] = [];
    const { act } = ladder({ runner: { run: (given) => (ran.push(given), Promise.resolve({ result: 'succeeded' })) } });
    expect(await act(command)).toEqual({ result: 'done' });
    expect(ran).toEqual([
      {
        ...{ purpose: 'policy' as const, name: 'test', argv: ['/bin/x', 'y'], timeoutNs: 60n * SECOND, memoryMaxBytes: 256n * MIB },
        environment: {
          ...{ EVICTD_POLICY: 'test', EVICTD_SCOPE: '', EVICTD_CONDITION: 'swap.available < 10%' },
          ...{ EVICTD_READINGS: '', EVICTD_STEPS: '' },
        },
      },
    ]);
  });

  test('gives the program what the steps before it have freed', async () => {
    const ran: LimitedCommand[] = [];
    const { act } = ladder({ runner: { run: (given) => (ran.push(given), Promise.resolve({ result: 'succeeded' })) } });
    const steps = [
      { action: 'notify', tookNs: 0n },
      { action: 'reclaim', tookNs: SECOND, gainedBytes: 182n * MIB },
      { action: 'freeze', tookNs: SECOND, gainedBytes: -MIB },
    ] as const;
    await act({ ...command, steps });
    expect(ran[0]?.environment?.EVICTD_STEPS).toBe('notify, reclaim 182MiB, freeze -1MiB');
  });

  test.each<[rule: string, timeoutNs: bigint, result: string]>([
    ['fails', 60n * SECOND, 'failed'],
    ['takes its whole time', 0n, 'timed-out'],
  ])('reports a program that %s', async (_rule, timeoutNs, result) => {
    const { act } = ladder({ runner: { run: () => Promise.resolve({ result: 'failed', error: 'it failed (why)' }) } });
    expect(await act({ ...command, timeoutNs })).toEqual({ result, error: 'it failed (why)' });
  });

  test('reports a runner that throws as a failure', async () => {
    expect(await ladder().act(command)).toEqual({ result: 'failed', error: 'no program is run here' });
  });
});

test('the action notify does nothing itself', async () => {
  expect(await ladder().act({ action: 'notify' })).toEqual({ result: 'done' });
});
