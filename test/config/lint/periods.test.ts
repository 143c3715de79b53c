import { describe, expect, test } from 'vitest';
import type { Signal } from '../../../src/core/signal/signal.js';
import { lintEntries } from '../../../src/config/lint/entries.js';
import { lintPeriods } from '../../../src/config/lint/periods.js';
import { lintReadings } from '../../../src/config/lint/thresholds/readings.js';
import { SECOND, threshold } from '../../core/support.js';
import { machine, subject } from './support.js';

describe('grace periods of disk thresholds', () => {
  test.each<[rule: string, signal: Signal, graceSeconds: number, reported: boolean]>([
    ['the grace period is as long as the interval', 'nodefs.available', 10, false],
    ['the grace period is shorter than the interval, and the signal is not read before', 'nodefs.available', 9, true],
    ['inodes too', 'nodefs.inodesFree', 1, true],
    ['memory is read when the grace period ends', 'memory.available', 1, false],
    ['a threshold without a grace period is hard', 'nodefs.available', 0, false],
  ])('%s', (_rule, signal, graceSeconds, reported) => {
    const found = lintPeriods(subject([threshold(signal, '10%', { graceSeconds })]));
    expect(found.map(({ level, code }) => [level, code])).toEqual(reported ? [['info', 'EVICTD_LINT_GRACE_PERIOD']] : []);
  });
});

test.each<[rule: string, pressureTransitionPeriodNs: bigint, reported: RegExp | undefined]>([
  ['a transition period as long as the interval', 10n * SECOND, undefined],
  ['a shorter period', 10n * SECOND - 1n, /is shorter than the monitoring interval/],
  ['none', 0n, /no node condition is ever true/],
  ['a period below 0', -SECOND, /no node condition is ever true/],
])('%s', (_rule, pressureTransitionPeriodNs, reported) => {
  const found = lintPeriods(subject([threshold('memory.available', '1Gi')], { pressureTransitionPeriodNs }));
  expect(found.map(({ level, code }) => [level, code])).toEqual(reported ? [['info', 'EVICTD_LINT_TRANSITION_PERIOD']] : []);
  if (reported) expect(found[0]?.message).toMatch(reported);
});

describe("a workload's own termination grace", () => {
  test.each<[rule: string, seconds: bigint | undefined, graceSeconds: number, reported: boolean]>([
    ['within evictionMaxPodGracePeriod', 10n, 30, false],
    ['beyond it', 11n, 30, true],
    ['none', undefined, 30, false],
    ['a hard eviction leaves none anyway', 60n, 0, false],
  ])('%s', (_rule, seconds, graceSeconds, reported) => {
    const rules = [{ match: { name: 'db' }, ...(seconds === undefined ? {} : { terminationGracePeriodNs: seconds * SECOND }) }];
    const found = lintPeriods(subject([threshold('memory.available', '1Gi', { graceSeconds })], { rules }));
    expect(found.map(({ code, key }) => [code, key])).toEqual(
      reported ? [['EVICTD_LINT_TERMINATION_GRACE', 'rules[0].terminationGracePeriodSeconds']] : [],
    );
  });
});

describe('an entry for a threshold that does not exist', () => {
  const hard = threshold('memory.available', '1Gi');
  test.each<[rule: string, written: Readonly<Record<string, string>>, keys: readonly string[]]>([
    ['min reclaim of a hard threshold', { 'evictionMinimumReclaim.memory.available': '1Gi' }, []],
    ['min reclaim of none', { 'evictionMinimumReclaim.pid.available': '10' }, ['evictionMinimumReclaim.pid.available']],
    [
      'a grace period of a hard threshold',
      { 'evictionSoftGracePeriod.memory.available': '1s' },
      ['evictionSoftGracePeriod.memory.available'],
    ],
    [
      'a soft threshold with its grace period is complete',
      { 'evictionSoftGracePeriod.memory.available': '1s', 'evictionSoft.memory.available': '2Gi' },
      [],
    ],
    [
      'a grace period without effect, because the soft threshold is switched off',
      { 'evictionSoftGracePeriod.memory.available': '1s', 'evictionSoft.memory.available': '0%' },
      ['evictionSoftGracePeriod.memory.available'],
    ],
  ])('%s', (_rule, written, keys) => {
    expect(lintEntries(subject([hard], { written: new Map(Object.entries(written)) })).map(({ key }) => key)).toEqual(keys);
  });
});

describe('signals that this machine does not have', () => {
  const both = [threshold('nodefs.inodesFree', '5%'), threshold('nodefs.inodesFree', '10%', { graceSeconds: 1 })];
  test('a signal that cannot be read is reported once', () => {
    const found = lintReadings(subject(both), machine({ unreadable: new Map([['nodefs.inodesFree', '/data: ENOENT']]) }));
    expect(found).toMatchObject([
      { level: 'warn', code: 'EVICTD_SIGNAL_UNREADABLE', message: 'nodefs.inodesFree cannot be read: /data: ENOENT' },
    ]);
  });

  test('a container filesystem that cannot be read is reported without a threshold', () => {
    const found = lintReadings(subject(both), machine({ unreadable: new Map([['containerfs.available', 'not supported']]) }));
    expect(found).toMatchObject([
      { code: 'EVICTD_SIGNAL_UNREADABLE', message: 'containerfs.* cannot be read: not supported', key: 'filesystems.containerfs' },
    ]);
  });

  test('a signal that does not exist is not reported', () => {
    const found = lintReadings(subject(both), machine({ absent: new Map([['nodefs.inodesFree', 'btrfs makes inodes as needed']]) }));
    expect(found).toMatchObject([{ level: 'info', code: 'EVICTD_LINT_UNREACHABLE' }]);
  });

  const own = { 'evictionHard.allocatableMemory.available': '0%' };
  test.each<[rule: string, signal: Signal, written: Readonly<Record<string, string>>, hint: string, key: string]>([
    ['0% switches it off', 'nodefs.inodesFree', {}, 'set it to 0% to disable its threshold', 'evictionHard.nodefs.inodesFree'],
    [
      'a threshold that is not copied',
      'allocatableMemory.available',
      {},
      'enforceNodeAllocatable: []',
      'evictionHard.allocatableMemory.available',
    ],
    ['beside 0% it is the copy', 'allocatableMemory.available', own, 'enforceNodeAllocatable: []', 'evictionHard.memory.available'],
  ])('the hint says what to do: %s', (_rule, signal, written, hint, key) => {
    const looked = subject([threshold(signal, '1Gi')], { written: new Map(Object.entries(written)) });
    const found = lintReadings(looked, machine({ unreadable: new Map([[signal, 'EIO']]) }));
    expect(found).toMatchObject([{ key, hint: expect.stringContaining(hint) as unknown }]);
  });

  test('a copied threshold whose signal does not exist can be switched off, too', () => {
    const found = lintReadings(
      subject([threshold('allocatableMemory.available', '1Gi')]),
      machine({ absent: new Map([['allocatableMemory.available', '/a does not exist']]) }),
    );
    expect(found).toMatchObject([{ level: 'info', hint: expect.stringContaining('enforceNodeAllocatable: []') as unknown }]);
  });

  test('a signal without a threshold is not reported', () => {
    expect(lintReadings(subject([]), machine({ unreadable: new Map([['nodefs.inodesFree', 'ENOENT']]) }))).toEqual([]);
  });
});
