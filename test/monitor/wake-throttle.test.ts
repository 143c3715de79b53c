import { expect, test } from 'vitest';
import { WakeThrottle } from '../../src/monitor/wake-throttle.js';

const MS = 1_000_000n;

/** The wakes that are handled at once among those that arrive at these times, in ms, and decide nothing. */
function handledAtOnce(throttle: WakeThrottle, ...atMs: number[]): number[] {
  return atMs.filter((ms) => {
    const nowNs = 1_000_000n * MS + BigInt(ms) * MS;
    if (throttle.notBeforeNs(nowNs) > nowNs) return false;
    throttle.handled(nowNs, false);
    return true;
  });
}
const every = (ms: number): number[] => Array.from({ length: 1_000 / ms }, (_, index) => index * ms);

test('eight wakes in a row that decide nothing are handled at once, and the next one waits 5 ms', () => {
  const throttle = new WakeThrottle();
  expect(handledAtOnce(throttle, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 5, 5)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 5]);
});

test('one wake of a storm is handled every 5 ms', () => {
  expect(handledAtOnce(new WakeThrottle(), ...every(1))).toHaveLength(200 + 7);
});

test('wakes that are further apart are never delayed', () => {
  expect(handledAtOnce(new WakeThrottle(), ...every(5))).toHaveLength(200);
});

test('after a decision there is no delay', () => {
  const throttle = new WakeThrottle();
  handledAtOnce(throttle, ...every(1));
  const nowNs = 1_001_000n * MS;
  throttle.handled(nowNs, true);
  expect(throttle.notBeforeNs(nowNs)).toBe(nowNs);
});
