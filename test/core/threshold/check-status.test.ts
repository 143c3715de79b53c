import { describe, expect, test } from 'vitest';
import { CHECK_EXIT, checkPressure, type CheckStatus } from '../../../src/core/threshold/check-status.js';
import type { Observations } from '../../../src/core/signal/observation.js';
import { isPressure, WHOLE_SHARE, type ConditionType, type Signal } from '../../../src/core/signal/signal.js';
import type { Threshold } from '../../../src/core/threshold/threshold.js';
import { listed } from '../listed.js';

/** Pressure in percent, amounts of 1000. */
function pressed(available: Partial<Record<Signal, number>>): Observations {
  const { observed, missing } = observations(available);
  const scaled = [...observed].map(([signal, read]) =>
    isPressure(signal)
      ? ([signal, { ...read, available: read.available * 10_000_000n, capacity: WHOLE_SHARE }] as const)
      : ([signal, read] as const),
  );
  return { observed: new Map(scaled), missing };
}

const GRACE = 30_000_000_000n;

function percent(signal: Signal, text: string, gracePeriodNs = 0n): Threshold {
  const fraction = Math.fround(Math.fround(Number(text.slice(0, -1))) / 100);
  return { signal, value: { kind: 'percentage', fraction, text }, gracePeriodNs, minReclaim: undefined };
}

/** Each signal has a capacity of 1000. */
function observations(available: Partial<Record<Signal, number>>, missing: Partial<Record<Signal, string>> = {}): Observations {
  const entries = Object.entries(available) as [Signal, number][];
  return {
    observed: new Map(
      entries.map(([signal, value]) => [signal, { available: BigInt(value), capacity: 1000n, timeNs: 1n, source: 'a test' }]),
    ),
    missing: new Map(Object.entries(missing) as [Signal, string][]),
  };
}

const soft = percent('memory.available', '20%', GRACE);
const hard = percent('memory.available', '10%');
const disk = percent('nodefs.available', '10%');

describe('the status of a check', () => {
  test.each<[rule: string, thresholds: Threshold[], observed: Observations, status: CheckStatus]>([
    ['exactly at the limit is not below it', [soft, hard], observations({ 'memory.available': 200 }), 'ok'],
    ['below a soft limit, without waiting for its grace period', [soft, hard], observations({ 'memory.available': 199 }), 'soft'],
    ['below the hard limit', [soft, hard], observations({ 'memory.available': 99 }), 'hard'],
    ['the worst of several signals', [soft, disk], observations({ 'memory.available': 199, 'nodefs.available': 99 }), 'hard'],
    [
      'a configured signal without a reading',
      [hard, disk],
      observations({ 'memory.available': 500 }, { 'nodefs.available': 'hangs' }),
      'unknown',
    ],
    ['a signal is neither read nor reported missing', [hard], observations({}), 'unknown'],
    ['a hard threshold that is met outranks a missing reading', [hard, disk], observations({ 'memory.available': 99 }), 'hard'],
    [
      'a met soft threshold leaves the status unknown while an unread signal may have a met hard one',
      [soft, disk],
      observations({ 'memory.available': 199 }),
      'unknown',
    ],
    ['a signal without a threshold may be missing', [hard], observations({ 'memory.available': 500 }, { 'pid.available': 'x' }), 'ok'],
    ['there is no threshold', [], observations({ 'memory.available': 0 }), 'ok'],
  ])('%s', (_rule, thresholds, observed, status) => {
    expect(checkPressure(observed, thresholds).status).toBe(status);
  });

  test('the exit codes of a check', () => {
    expect(CHECK_EXIT).toEqual({ ok: 0, soft: 1, hard: 2, unknown: 3 });
  });
});

describe('the conditions of a check', () => {
  test.each<[rule: string, thresholds: Threshold[], observed: Observations, conditions: [ConditionType, boolean | undefined][]]>([
    [
      'only conditions with a threshold are listed',
      [hard],
      observations({ 'memory.available': 500, 'nodefs.available': 0 }),
      [['MemoryPressure', false]],
    ],
    ['a soft threshold sets it, too', [soft], observations({ 'memory.available': 199 }), [['MemoryPressure', true]]],
    ['unknown while a reading is missing', [disk], observations({}), [['DiskPressure', undefined]]],
    [
      'one met signal is enough, whatever the other signal reads',
      [disk, percent('nodefs.inodesFree', '5%')],
      observations({ 'nodefs.inodesFree': 49 }),
      [['DiskPressure', true]],
    ],
  ])('%s', (_rule, thresholds, observed, conditions) => {
    expect(checkPressure(observed, thresholds).conditions).toEqual(conditions.map(([type, status]) => ({ type, status })));
  });
});

describe('the signals of a check', () => {
  test('are in their order, each with its thresholds, hard before soft', () => {
    const { signals } = checkPressure(observations({ 'nodefs.available': 500, 'memory.available': 150 }), [disk, soft, hard]);
    expect(signals.map(({ signal, thresholds }) => [signal, ...thresholds.map(({ kind, value, met }) => [kind, value, met])])).toEqual([
      ['memory.available', ['hard', 100n, false], ['soft', 200n, true]],
      ['nodefs.available', ['hard', 100n, false]],
    ]);
  });

  test('include a signal that is read without a threshold, and no signal that is neither read nor configured', () => {
    const { signals } = checkPressure(observations({ 'pid.available': 5 }, { 'nodefs.available': 'x' }), []);
    expect(signals.map(({ signal }) => signal)).toEqual(['pid.available']);
  });

  test('have the reason for a missing reading, no verdict, and no value for a percentage', () => {
    const { signals } = checkPressure(observations({}, { 'memory.available': 'ENOENT' }), [hard]);
    expect(signals).toMatchObject([{ reason: 'ENOENT', observation: undefined, thresholds: [{ value: undefined, met: undefined }] }]);
  });

  test('that this node does not have show the reason and are not met, and the status is not unknown', () => {
    const inodes = percent('nodefs.inodesFree', '5%');
    const absent = new Map([['nodefs.inodesFree', 'btrfs'] as const]);
    const check = checkPressure({ ...observations({}), absent }, [inodes]);
    expect(check).toMatchObject({ status: 'ok', signals: [{ reason: 'btrfs', observation: undefined, thresholds: [{ met: false }] }] });
  });
});

describe('entries of the threshold list in a check', () => {
  const THRASHING = 'memory.available<10% & memory.pressure.full>40%';
  test.each<[rule: string, entry: Threshold, observed: Observations, status: CheckStatus, met: boolean | undefined]>([
    ['all operands are met', listed(THRASHING, 'hard'), pressed({ 'memory.available': 50, 'memory.pressure.full': 41 }), 'hard', true],
    [
      'a check does not wait for the time of an entry',
      listed(THRASHING, 'soft', 60),
      pressed({ 'memory.available': 50, 'memory.pressure.full': 41 }),
      'soft',
      true,
    ],
    ['one operand is not met', listed(THRASHING, 'hard'), pressed({ 'memory.available': 50, 'memory.pressure.full': 40 }), 'ok', false],
    ['one operand cannot be read, the other is met', listed(THRASHING, 'hard'), pressed({ 'memory.available': 50 }), 'unknown', undefined],
    ['one operand cannot be read, the other is not met', listed(THRASHING, 'hard'), pressed({ 'memory.available': 500 }), 'ok', false],
    [
      'an entry that only alerts counts in the result, too',
      listed('io.pressure.full>5%', 'soft', 1),
      pressed({ 'io.pressure.full': 6 }),
      'soft',
      true,
    ],
  ])('%s', (_rule, entry, observed, status, met) => {
    const check = checkPressure(observed, [entry]);
    expect([check.status, check.entries.map((each) => each.met)]).toEqual([status, [met]]);
    expect(check.signals.flatMap(({ thresholds }) => thresholds)).toEqual([]);
  });

  test('are not met if this node does not have an operand', () => {
    const absent = new Map([['swap.available', 'no swap'] as const]);
    const check = checkPressure({ ...pressed({ 'memory.available': 50 }), absent }, [
      listed('memory.available<10% & swap.available<10%', 'hard'),
    ]);
    expect(check).toMatchObject({ status: 'ok', entries: [{ met: false }] });
  });

  test('have no condition if they only alert', () => {
    const both = [listed('io.pressure.full>5%', 'hard'), listed('memory.pressure.full>5%', 'hard')];
    expect(checkPressure(pressed({ 'io.pressure.full': 6, 'memory.pressure.full': 6 }), both).conditions).toEqual([
      { type: 'MemoryPressure', status: true },
    ]);
  });
});
