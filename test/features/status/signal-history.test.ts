import { expect, test } from 'vitest';
import { SignalHistory } from '../../../src/features/status/signal-history.js';
import { WHOLE_SHARE } from '../../../src/core/signal/signal.js';
import { observations, SECOND } from '../../core/support.js';

const memory = (available: bigint) => observations(0n, { 'memory.available': available });

test('the history has values with their times, the oldest first, and passes within five seconds count once', () => {
  const history = new SignalHistory();
  history.add(0n, memory(1n));
  history.add(5n * SECOND - 1n, memory(2n));
  history.add(5n * SECOND, memory(3n));
  expect(history.times).toEqual([0n, 5n * SECOND]);
  expect(history.of('memory.available')).toEqual([1, 3]);
});

test('a signal that a tick does not read has no value then, and one that was never read has none', () => {
  const history = new SignalHistory();
  history.add(0n, memory(1n));
  history.add(5n * SECOND, observations(0n, { 'pid.available': 7n }));
  expect(history.of('memory.available')).toEqual([1, NaN]);
  expect(history.of('pid.available')).toEqual([NaN, 7]);
  expect(history.of('nodefs.available')).toEqual([NaN, NaN]);
});

test('pressure is a share from 0 to 1', () => {
  const history = new SignalHistory();
  const half = { available: WHOLE_SHARE / 2n, capacity: WHOLE_SHARE, timeNs: 0n, source: '' };
  history.add(0n, { observed: new Map([['memory.pressure.full', half]]), missing: new Map() });
  expect(history.of('memory.pressure.full')).toEqual([0.5]);
});

test('the history keeps the last sixty values', () => {
  const history = new SignalHistory();
  history.add(-10n * SECOND, observations(0n, { 'pid.available': 7n }));
  for (let at = 0n; at < 62n; at += 1n) history.add(at * 10n * SECOND, memory(at));
  expect(history.times).toHaveLength(60);
  expect(history.times[0]).toBe(20n * SECOND);
  expect(history.of('memory.available')[0]).toBe(2);
  expect(history.of('memory.available').at(-1)).toBe(61);
  expect(new Set(history.of('pid.available'))).toEqual(new Set([NaN]));
});
