import { expect, test } from 'vitest';
import type { EndedWorkload } from '../../../src/features/shutdown/shutdown-progress.js';
import { shutdownBegun, shutdownAborted, shutdownOver, workloadEnded } from '../../../src/features/shutdown/shutdown-record.js';
import { SECOND, workload } from '../../core/support.js';

const ended = (name: string, of: Partial<EndedWorkload> = {}): EndedWorkload => ({
  serial: 1,
  workload: workload(name),
  group: 0,
  requestedAtNs: 0n,
  gracePeriodNs: 10n * SECOND,
  killsAtNs: 10n * SECOND,
  killedAtNs: undefined,
  result: 'ended',
  afterNs: 1_234_567_890n,
  ...of,
});
const survived: Partial<EndedWorkload> = { result: 'survived', killedAtNs: 10n * SECOND, afterNs: 11n * SECOND, processesLeft: 2 };

test.each<[of: Partial<EndedWorkload>, message: string]>([
  [{}, 'web ended after 1.234s of 10s'],
  [{ result: 'killed', afterNs: 10n * SECOND }, 'web did not end within 10s: killed, ended after 10s'],
  [{ result: 'already-ended' }, 'web had ended before SIGTERM'],
  [{ result: 'evicted' }, 'web was evicted while it was ending; ended after 1.234s of 10s'],
  [survived, 'web did not end within 10s, and could not be killed: 2 processes left'],
  [{ ...survived, result: 'signalled', killedAtNs: undefined }, 'web got SIGTERM; the shutdown does not wait for it'],
  [{ result: 'survived', error: 'EPERM' }, 'web did not end within 10s, and could not be killed (EPERM)'],
])('%o', (of, message) => {
  expect(workloadEnded(ended('web', of), 0).message).toBe(message);
});

test('the record has the workloads to end, by group, and the first ten of many', () => {
  const group = (priority: number, names: readonly string[]) => ({
    priority,
    gracePeriodNs: 20n * SECOND,
    workloads: names.map((name) => ({ workload: workload(name), gracePeriodNs: 5n * SECOND })),
  });
  const begins = (...groups: ReturnType<typeof group>[]) => shutdownBegun({ groups, leftAlone: [], unreadable: [] });
  expect(begins(group(0, ['batch', 'web']), group(10, []), group(20, ['db']))).toMatchObject({
    message: 'the machine is shutting down: workloads end in this order: batch, web within 20s (group 0), then db within 20s (group 20)',
    neededSeconds: 10,
  });
  expect(begins(group(0, [])).message).toBe('the machine is shutting down: no workload has to end');
  const many = Array.from({ length: 12 }, (_, index) => `w${String(index)}`);
  expect(begins(group(0, many)).message).toContain('w9 and 2 more within 20s');
});

test.each<[of: readonly EndedWorkload[], late: readonly string[], message: string]>([
  [[], [], 'the machine may go down: no workload was ended'],
  [[ended('a'), ended('b')], [], 'the machine may go down: 2 ended in 3s, all in time'],
  [
    [ended('a'), ended('b', { result: 'signalled' })],
    [],
    'the machine may go down: 1 ended in 3s, all in time; got SIGTERM, not waited for: b',
  ],
  [
    [ended('a'), ended('b', { result: 'killed' }), ended('c', survived)],
    ['d'],
    'the machine may go down: 2 ended in 3s, not in time: b, c; still running: c; started too late to get SIGTERM: d',
  ],
])('the record of the end: %#', (of, late, message) => {
  const course = { tookNs: 3n * SECOND, ended: of, ending: [] };
  expect(
    shutdownOver(
      course,
      late.map((name) => workload(name)),
    ).message,
  ).toBe(message);
});

test('the record of an aborted shutdown has the workloads that ended, and those with SIGTERM sent', () => {
  const course = { tookNs: SECOND, ended: [ended('a'), ended('b', survived)], ending: [ended('c')] };
  expect(shutdownAborted({ phase: 'called-off' }, course)).toMatchObject({
    message: 'the shutdown was cancelled: ended, and not started again: a; got SIGTERM, still running: c',
    ended: [{ name: 'a' }],
    signalled: [{ name: 'c' }],
  });
  expect(shutdownAborted({ phase: 'interrupted' }, { ...course, ended: [], ending: [] }).message).toBe(
    'evictd was stopped and ends no more workloads: no workload has ended',
  );
});
