import { expect, test } from 'vitest';
import {
  FIRST_WATCH,
  nextWatch,
  WATCH_OVERDUE_MS,
  watchSeconds,
  type WatchOutcome,
  type WatchState,
} from '../../../src/core/kubernetes/watch-state.js';

const watching = (failures: number): WatchState => ({ next: { kind: 'watch', resourceVersion: '7' }, failures, waitMs: 0 });

test.each<[rule: string, from: WatchState, outcome: WatchOutcome, next: string, failures: number, waitMs: number]>([
  ['a list is followed by a watch from its version', FIRST_WATCH, { kind: 'listed', resourceVersion: '5' }, 'watch 5', 0, 0],
  ['a list ends no row of failures', watching(3), { kind: 'listed', resourceVersion: '5' }, 'watch 5', 3, 0],
  [
    'a watch that has ended goes on at its last version',
    watching(2),
    { kind: 'ended', resourceVersion: '9', lastedMs: 1_000 },
    'watch 9',
    0,
    0,
  ],
  [
    'a watch that ended at once waits before the next try',
    watching(0),
    { kind: 'ended', resourceVersion: '9', lastedMs: 999 },
    'watch 9',
    1,
    1_500,
  ],
  [
    'a watch that a proxy has cut has not failed, and waits before it goes on',
    watching(4),
    { kind: 'cut', resourceVersion: '9' },
    'watch 9',
    0,
    1_500,
  ],
  ['a version that has expired: the newest list, at once', watching(0), { kind: 'expired' }, 'list ', 1, 0],
  ['a version that expires repeatedly: the newest list, later', watching(1), { kind: 'expired' }, 'list ', 2, 2_500],
  ['a failed list is made again', FIRST_WATCH, { kind: 'failed' }, 'list 0', 1, 1_500],
  [
    'a failed watch continues at the last version that it has seen',
    watching(0),
    { kind: 'failed', resourceVersion: '8' },
    'watch 8',
    1,
    1_500,
  ],
  [
    'a version that a restored cluster never reaches is given up',
    watching(4),
    { kind: 'failed', resourceVersion: '8' },
    'list 0',
    5,
    15_500,
  ],
  ['the wait is at most 30 s', watching(3), { kind: 'failed' }, 'watch 7', 4, 8_500],
  [
    'the wait is at most 30 s, however often a watch has ended',
    { ...FIRST_WATCH, failures: 99 },
    { kind: 'failed' },
    'list 0',
    100,
    15_500,
  ],
  ['the server may ask for a longer wait', watching(0), { kind: 'failed', retryAfterSeconds: 10 }, 'watch 7', 1, 10_000],
  ['the server may not ask for a wait of an hour', watching(0), { kind: 'failed', retryAfterSeconds: 3_600 }, 'watch 7', 1, 30_000],
])('%s', (_rule, from, outcome, next, failures, waitMs) => {
  const state = nextWatch(from, outcome, 0.5);
  expect([`${state.next.kind} ${state.next.resourceVersion}`, state.failures, state.waitMs]).toEqual([next, failures, waitMs]);
});

test('a stale watch is replaced within 60 s', () => {
  const waits = nextWatch(watching(0), { kind: 'failed' }, 1).waitMs;
  expect(watchSeconds(1) * 1_000 + WATCH_OVERDUE_MS + waits).toBeLessThan(60_000);
});
