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

test.each<[rule: string, sinceMs: number, tookMs: number, laterMs: number]>([
  ['at once after the signal', 0, 0, 1],
  ['less often the longer it takes', 80, 0, 10],
  ['at most every 50 ms', 1000, 0, 50],
  ['a look that takes long leaves four times as long to others', 0, 5, 20],
  ['a look that takes very long', 0, 30, 50],
])('an ending victim is looked at: %s', (_rule, sinceMs, tookMs, laterMs) => {
  const ms = (count: number): bigint => BigInt(count) * 1_000_000n;
  const nowNs = 5_000_000_000n;
  expect(victimLookNs(nowNs, nowNs - ms(sinceMs), ms(tookMs)) - nowNs).toBe(ms(laterMs));
});
