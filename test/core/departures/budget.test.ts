import { expect, test } from 'vitest';
import type { EvictionBudget } from '../../../src/core/budget/eviction-budget.js';
import type { Policy } from '../../../src/core/decide/state.js';
import { standingDecisions, orderedThreshold } from '../../../src/core/decide/standing-order.js';
import type { Workload } from '../../../src/core/workload/workload.js';
import { candidates, Mi, observations, policy, SECOND, threshold, without } from '../support.js';
import { evicted, Timeline } from '../timeline.js';
import { pod } from '../usage.js';

/**
 * A critical workload leaks. Each eviction is effective, and a second later its memory is gone again: the kubelet evicts
 * every other workload, one after the other.
 */
const memory = threshold('memory.available', '100Mi');
const WINDOW: EvictionBudget = { max: 2, windowNs: 600n * SECOND, bands: [] };
const LEAK = { 'memory.available': 50n * Mi };
/** Between two steps each eviction is effective, which these readings do not show. */
const departures = without('node-yield');

function leak(budget: EvictionBudget | undefined, overrides: Partial<Policy> = {}, priorities = [0, 0, 0, 0, 0, 0]): Timeline {
  const all = candidates(
    ...priorities.map((priority, index): [Workload, bigint] => [pod(`w${String(index)}`, { priority }).workload, BigInt(100 - index) * Mi]),
  );
  return new Timeline(policy([memory], { departures, ...(budget && { evictionBudget: budget }), ...overrides }), all);
}

/** One step: the last victim is gone, its memory is consumed again. What consumed it is not the subject here. */
function next(timeline: Timeline, seconds: number, available: Parameters<Timeline['at']>[1] = LEAK): string[] {
  const { evictions } = timeline.state;
  const names = new Set(evictions.map(({ decision }) => decision.victim.workload.name));
  const usages = timeline.candidates.usages.filter(({ workload }) => !names.has(workload.name));
  timeline.candidates = { ...timeline.candidates, usages };
  const gone = Object.fromEntries(
    evictions.map(({ decision: { serial } }) => [serial, { processes: 0, usageBytes: 0n, signalledAtNs: 1n }]),
  );
  const unranked = evictions.map((one) => ({ ...one, decision: { ...one.decision, ranking: [] } }));
  timeline.state = { ...timeline.state, evictions: unranked, baselines: new Map() };
  return timeline.effects(seconds, available, gone);
}

const evictions = (timeline: Timeline, seconds: readonly number[]): string[] => seconds.flatMap((at) => evicted(next(timeline, at)));

test.each<[rule: string, budget: EvictionBudget | undefined, overrides: Partial<Policy>, evictions: number]>([
  ['the budget is the number of victims', WINDOW, {}, 2],
  ['0: none, ever', { ...WINDOW, max: 0 }, {}, 0],
  ['without the departure evictd evicts all of them, as the kubelet does', WINDOW, { departures: { ...departures, budget: false } }, 6],
  ['without a budget evictd evicts all of them', undefined, {}, 6],
])('%s', (_rule, budget, overrides, count) => {
  expect(evictions(leak(budget, overrides), [0, 1, 2, 3, 4, 5, 6])).toHaveLength(count);
});

test('the alert of a used-up budget is raised once per episode', () => {
  const timeline = leak({ ...WINDOW, max: 1 });
  next(timeline, 0);
  expect(next(timeline, 1)).toEqual(['killed w0 100Mi', 'alert budget-exhausted']);
  expect(next(timeline, 2)).toEqual([]);
  next(timeline, 3, { 'memory.available': 200n * Mi });
  expect(next(timeline, 12)).not.toContain('alert budget-exhausted');
  next(timeline, 13, { 'memory.available': 200n * Mi });
  next(timeline, 23, { 'memory.available': 200n * Mi });
  expect(next(timeline, 24)).toContain('alert budget-exhausted');
});

test('evictd evicts again when the first eviction has left the window, and wakes for that', () => {
  const timeline = leak(WINDOW);
  evictions(timeline, [0, 100, 200]);
  next(timeline, 599.5);
  expect(timeline.dueAtNs).toBe(600n * SECOND);
  expect(evicted(next(timeline, 599.999))).toHaveLength(0);
  expect(evicted(next(timeline, 600))).toHaveLength(1);
  expect(evicted(next(timeline, 601))).toHaveLength(0);
});

test('another resource has a budget of its own', () => {
  const timeline = leak({ ...WINDOW, max: 1 });
  timeline.policy = { ...timeline.policy, thresholds: [memory, threshold('pid.available', '100')] };
  next(timeline, 0, { ...LEAK, 'pid.available': 1_000n });
  expect(evicted(next(timeline, 1, { ...LEAK, 'pid.available': 50n }))).toHaveLength(1);
});

test.each<[rule: string, victim: object, evictions: number]>([
  ['a workload that ended by itself does not count', { vanished: true }, 3],
  ['a workload that could not be signalled does not count', { processes: undefined, error: 'EMFILE' }, 3],
  ['a workload that survived SIGKILL counts', { processes: 1, error: 'EIO' }, 2],
])('%s', (_rule, victim, count) => {
  const timeline = leak(WINDOW);
  const first = evicted(timeline.effects(0, LEAK));
  expect([...first, ...evicted(timeline.effects(1, LEAK, { 1: victim })), ...evictions(timeline, [2, 3, 4])]).toHaveLength(count);
});

test('a dry run does not use up the budget', () => {
  const timeline = leak({ ...WINDOW, max: 1 }, { dryRun: true });
  expect(evicted(timeline.effects(0, LEAK))).toHaveLength(1);
  timeline.effects(1, { 'memory.available': 200n * Mi });
  timeline.effects(11, { 'memory.available': 200n * Mi });
  expect(evicted(timeline.effects(12, LEAK))).toHaveLength(1);
});

test('a standing order uses the budget, and none is armed when the budget is used up', () => {
  const timeline = leak({ ...WINDOW, max: 1 });
  const near = observations(0n, { 'memory.available': 150n * Mi });
  const order = () => {
    const ordered = orderedThreshold(timeline.policy, near);
    if (ordered === undefined) throw new Error('no threshold');
    const input = { nowNs: SECOND, layout: 'single', observations: near, candidates: timeline.candidates } as const;
    return standingDecisions(timeline.policy, timeline.state, ordered, input);
  };
  const [ordered] = order();
  if (ordered === undefined) throw new Error('no order');
  timeline.effects(1, LEAK, {}, { ordered });
  timeline.effects(2, { 'memory.available': 150n * Mi }, { 1: { processes: 0, usageBytes: 0n } });
  expect(order()).toEqual([]);
  expect(evictions(timeline, [3, 4])).toEqual([]);
});

const BANDS = { ...WINDOW, max: 4, bands: [{ minPriority: 1_000, max: 1 }] };

test('a band limits the evictions of its workloads, and other workloads still have the rest of the budget', () => {
  const timeline = leak(BANDS, {}, [1_000, 1_000, 1_002]);
  expect(evictions(timeline, [0, 1])).toEqual(['evict w0 grace 0']);
  expect(next(timeline, 2)).toEqual([]);
  const low = candidates([pod('low', { priority: 999 }).workload, 10n * Mi]);
  timeline.candidates = { ...timeline.candidates, usages: [...timeline.candidates.usages, ...low.usages] };
  expect(evictions(timeline, [3, 4])).toEqual(['evict low grace 0']);
});

test('evictions below a band do not count in the band, but all count in the whole budget', () => {
  const timeline = leak(BANDS, {}, [0, 0, 0, 1_000, 1_000]);
  expect(evictions(timeline, [0, 1, 2, 3, 4, 5])).toEqual(['w0', 'w1', 'w2', 'w3'].map((name) => `evict ${name} grace 0`));
});

test('the alert names the band that is used up', () => {
  const timeline = leak(BANDS, {}, [1_000, 1_001]);
  next(timeline, 0);
  next(timeline, 1);
  next(timeline, 2, { 'memory.available': 200n * Mi });
  next(timeline, 12, { 'memory.available': 200n * Mi });
  const alert = timeline.at(20, LEAK).find(({ kind }) => kind === 'alert');
  expect(alert).toMatchObject({ alert: 'budget-exhausted', budget: { minPriority: 1_000, max: 1, freeInNs: 580n * SECOND } });
});

test('when an operator resumes evictions the budget counts from zero, and the alert may be raised again', () => {
  const timeline = leak({ ...WINDOW, max: 1 });
  evictions(timeline, [0, 1]);
  expect(timeline.effects(2, LEAK, {}, { resumed: {} })).toEqual(['resume', 'evict w1 grace 0']);
  expect(next(timeline, 3)).toEqual(['killed w1 99Mi', 'alert budget-exhausted']);
  const [effect] = timeline.at(4, LEAK, {}, { resumed: {} });
  expect(effect).toEqual({ kind: 'resume', lifted: { evictions: new Map([['memory', 1]]), withoutYield: [], leak: false, pauses: [] } });
});

test("an operator's resume also ends the pause after an eviction without effect", () => {
  const timeline = leak(undefined);
  timeline.state = { ...timeline.state, withoutYield: new Map([['memory.available', 75n * Mi]]) };
  expect(timeline.effects(0, LEAK)).toContain('alert no-yield');
  expect(timeline.effects(1, LEAK, {}, { resumed: {} })).toEqual(['resume', 'evict w0 grace 0']);
});
