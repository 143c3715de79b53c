import { expect, test } from 'vitest';
import { nextLookNs, victimLookNs, type Timetable } from '../../src/monitor/next-look.js';

const nothing = {
  dueAtNs: undefined,
  wakeAtNs: undefined,
  victimAtNs: undefined,
  lookAtNs: undefined,
  notBeforeNs: undefined,
  heartbeatAtNs: undefined,
};

test.each<[rule: string, times: Partial<Timetable>, next: bigint]>([
  ['nothing is waiting: the tick', {}, 100n],
  ['the earliest of what is waiting', { dueAtNs: 60n, wakeAtNs: 50n, victimAtNs: 70n }, 50n],
  ['the tick, where it is earlier', { dueAtNs: 101n }, 100n],
  ['what is held up comes when it may', { dueAtNs: 10n, notBeforeNs: 40n }, 40n],
  ['at the very time it may', { dueAtNs: 40n, notBeforeNs: 40n }, 40n],
  ['a tick is not held up', { tickAtNs: 30n, dueAtNs: 10n, notBeforeNs: 40n }, 30n],
  ['a look of the node is not held up either', { lookAtNs: 20n, dueAtNs: 10n, notBeforeNs: 40n }, 20n],
  ['a sign of life is not held up', { heartbeatAtNs: 20n, dueAtNs: 10n, notBeforeNs: 40n }, 20n],
  ['a sign of life that is due after the tick', { heartbeatAtNs: 120n }, 100n],
  ['a look later than the tick', { lookAtNs: 120n }, 100n],
  ['nothing held up: what holds up does not wake', { notBeforeNs: 40n }, 100n],
])('%s', (_rule, times, next) => {
  expect(nextLookNs({ tickAtNs: 100n, ...nothing, ...times })).toBe(next);
});

test.each<[sinceMs: number, laterMs: number]>([
  [0, 1],
  [49, 1],
  [50, 10],
  [999, 10],
  [1000, 50],
])('%d ms after the signal a victim is looked at %d ms later', (sinceMs, laterMs) => {
  const nowNs = 5_000_000_000n;
  expect(victimLookNs(nowNs, nowNs - BigInt(sinceMs) * 1_000_000n) - nowNs).toBe(BigInt(laterMs) * 1_000_000n);
});
