import { expect, test } from 'vitest';
import type { PolicyBudget } from '../../../src/core/disruption/disruption-budget.js';
import type { Policy } from '../../../src/core/decide/state.js';
import { candidates, policy, SECOND, workload } from '../support.js';
import { Timeline } from '../timeline.js';

const two: PolicyBudget = {
  name: 'web',
  match: { name: 'web-*' },
  limit: { of: 'minAvailable', value: 2, isPercentage: false },
  unhealthyPolicy: 'IfHealthyBudget',
  os: 'linux',
};
const WEB = [1, 2, 3].map((index) => [workload(`web-${String(index)}`), 1n] as [ReturnType<typeof workload>, bigint]);
const DB = workload('db', { protection: { kind: 'critical' } });

function run(overrides: Partial<Policy> = {}): Timeline {
  return new Timeline(policy([], { disruptionBudgets: [two], ...overrides }), candidates(...WEB, [DB, 1n]));
}
const drain = (timeoutSeconds?: number) => ({
  request: {
    kind: 'drain',
    graceNs: 5n * SECOND,
    ...(timeoutSeconds !== undefined && { timeoutNs: BigInt(timeoutSeconds) * SECOND }),
  } as const,
});
const left = ({ state }: Timeline): (string | undefined)[] | undefined =>
  state.drain?.pending.map(({ name, waits }) => (waits ? `${name} waits` : name));

test('one after the other, as they come back; what is protected stays', () => {
  const made = run();
  expect(made.said(1, {}, {}, drain())).toEqual(['drain begin 3/3', 'evict web-1 grace 5']);
  expect(left(made)).toEqual(['web-1', 'web-2 waits', 'web-3 waits']);
  // The outcome of the first is at once the turn of the second: its processes are back.
  expect(made.said(2, {}, { 1: { processes: 0 } })).toEqual(['killed web-1 0Mi', 'evict web-2 grace 5']);
  expect(made.said(3, {}, { 2: { processes: 0 } })).toEqual(['killed web-2 0Mi', 'evict web-3 grace 5']);
  expect(made.said(4, {}, { 3: { processes: 0 } })).toEqual(['killed web-3 0Mi', 'drain end drained 0/3']);
  expect(made.state.drain).toMatchObject({ over: 'drained', total: 3 });
});

test('while no workload is ended at all, it is for the same workloads, and waits', () => {
  const made = run({ hasWorkloadSource: false });
  expect(made.said(1, {}, {}, drain())).toEqual(['drain begin 3/3']);
  expect(left(made)).toEqual(['web-1 waits', 'web-2 waits', 'web-3 waits']);
});

test('it looks once a second whether a budget permits the next one', () => {
  const made = run();
  made.said(1, {}, {}, drain());
  made.candidates = candidates(...WEB.slice(1), [DB, 1n]);
  expect(made.said(2, {}, { 1: { processes: 0 } })).toEqual(['killed web-1 0Mi']);
  const { asked } = made;
  expect(made.said(2.5, {})).toEqual([]);
  expect(made.asked).toBe(asked);
  expect(made.dueAtNs).toBe(3n * SECOND);
  made.candidates = candidates(...WEB, [DB, 1n]);
  expect(made.said(3, {})).toEqual(['evict web-2 grace 5']);
});

test('a timeout ends it, and what has got SIGTERM is finished', () => {
  const made = run();
  made.said(1, {}, {}, drain(2));
  expect(made.said(3, {}, { 1: {} })).toEqual(['drain end timeout 3/3']);
  expect(made.said(6, {}, { 1: {} })).toEqual(['escalate: grace period over']);
  expect(made.said(7, {}, { 1: { processes: 0 } })).toEqual(['killed web-1 0Mi']);
  expect(made.state.drain?.over).toBe('timeout');
});

test('a workload that could not be ended is tried again', () => {
  const made = run({ disruptionBudgets: [] });
  made.candidates = candidates(...WEB.slice(0, 1));
  made.said(1, {}, {}, drain());
  expect(made.said(2, {}, { 1: { error: 'EPERM' } })).toEqual(['failed web-1 0Mi']);
  expect(left(made)).toEqual(['web-1 waits']);
  expect(made.said(63, {})).toEqual(['evict web-1 grace 5']);
});

test('a workload that ends by itself is done; uncordon ends the drain, and a second one changes nothing', () => {
  const made = run();
  made.said(1, {}, {}, drain());
  expect(made.said(1.5, {}, {}, drain(1))).toEqual([]);
  made.candidates = candidates(...WEB.slice(0, 2));
  made.said(3, {});
  expect(left(made)).toEqual(['web-1', 'web-2 waits']);
  expect(made.said(4, {}, {}, { request: { kind: 'uncordon' } })).toEqual(['drain uncordon 2/3']);
  expect(made.state.drain).toBeUndefined();
  expect(made.said(6, {})).toEqual([]);
});

test('cordon ends nothing', () => {
  const made = run();
  expect(made.said(1, {}, {}, { request: { kind: 'cordon' } })).toEqual(['drain cordon 0/0']);
  expect(made.said(9, {})).toEqual([]);
  expect(made.state.drain?.over).toBe('cordoned');
});

test('the least important first', () => {
  const made = run({ disruptionBudgets: [{ ...two, match: {} }] });
  made.candidates = candidates([workload('a', { priority: 5 }), 1n], [workload('b', { priority: -1 }), 1n], [workload('c'), 1n]);
  expect(made.said(1, {}, {}, drain())).toEqual(['drain begin 3/3', 'evict b grace 5']);
});
