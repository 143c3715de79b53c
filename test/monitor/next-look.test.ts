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
  ['without a waiting action the tick is next', {}, 100n],
  ['the earliest of what is waiting', { dueAtNs: 60n, wakeAtNs: 50n, victimAtNs: 70n }, 50n],
  ['the tick, where it is earlier', { dueAtNs: 101n }, 100n],
  ['a delayed action is next when its delay is over', { dueAtNs: 10n, notBeforeNs: 40n }, 40n],
  ['an action that is due exactly at the end of the delay is next', { dueAtNs: 40n, notBeforeNs: 40n }, 40n],
  ['a tick is not delayed', { tickAtNs: 30n, dueAtNs: 10n, notBeforeNs: 40n }, 30n],
  ['a poll of the node is not delayed either', { lookAtNs: 20n, dueAtNs: 10n, notBeforeNs: 40n }, 20n],
  ['a sign of life is not delayed', { heartbeatAtNs: 20n, dueAtNs: 10n, notBeforeNs: 40n }, 20n],
  ['a sign of life that is due after the tick', { heartbeatAtNs: 120n }, 100n],
  ['a look later than the tick', { lookAtNs: 120n }, 100n],
  ['a delay without an action does not wake the loop', { notBeforeNs: 40n }, 100n],
])('%s', (_rule, times, next) => {
  expect(nextLookNs({ tickAtNs: 100n, ...nothing, ...times })).toBe(next);
});

test.each<[rule: string, sinceMs: number, tookMs: number, laterMs: number]>([
  ['at once after the signal', 0, 0, 1],
  ['less often the longer it takes', 80, 0, 10],
  ['every 50 ms at most', 1000, 0, 50],
  ['a look that takes long leaves four times as long to others', 0, 5, 20],
  ['a look that takes very long', 0, 30, 50],
])('an ending victim is read again %s', (_rule, sinceMs, tookMs, laterMs) => {
  const ms = (count: number): bigint => BigInt(count) * 1_000_000n;
  const nowNs = 5_000_000_000n;
  expect(victimLookNs(nowNs, nowNs - ms(sinceMs), ms(tookMs)) - nowNs).toBe(ms(laterMs));
});
