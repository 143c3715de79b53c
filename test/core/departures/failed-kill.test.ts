import { expect, test } from 'vitest';
import type { Effect } from '../../../src/core/decide/effect.js';
import { candidates, Mi, policy, SECOND, threshold, without, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

/**
 * A pod that cannot be killed (a runtime that does not answer, processes in D) counts as evicted for the kubelet, which
 * then waits up to 30 s for it to go, and chooses the same one again: the node dies meanwhile, and the counter shows
 * evictions that freed nothing.
 */
const hard = threshold('memory.available', '100Mi');
const all = candidates([workload('stuck'), 300n * Mi], [workload('web'), 50n * Mi]);
const failed = { 1: { processes: 3, error: 'EPERM' } };

function run(departures: ReturnType<typeof without>): { timeline: Timeline; effects: Effect[]; again: string[] } {
  const timeline = new Timeline(policy([hard], { departures }), all);
  expect(evicted(timeline.memory(0, 50n))).toEqual(['evict stuck grace 0']);
  const effects = timeline.at(0.01, { 'memory.available': 50n * Mi }, failed);
  return { timeline, effects, again: evicted(timeline.memory(31, 50n)) };
}

const counted = (effects: readonly Effect[]): boolean[] =>
  effects.flatMap((effect) => (effect.kind === 'outcome' ? [effect.outcome.counted] : []));
const chosen = (effects: readonly Effect[]): string[] =>
  effects.flatMap((effect) => (effect.kind === 'evict' ? [effect.decision.victim.workload.name] : []));

test('the kubelet counts a failed kill, waits, and chooses the same pod again', () => {
  const { timeline, effects, again } = run(without('failed-kill'));
  expect(counted(effects)).toEqual([true]);
  expect(timeline.state.failedKills.size).toBe(0);
  const kubelet = new Timeline(policy([hard], { departures: { ...without('failed-kill'), 'each-resource': false } }), all);
  kubelet.memory(0, 50n);
  expect(chosen(kubelet.at(0.01, { 'memory.available': 50n * Mi }, failed))).toEqual([]);
  expect(kubelet.notBeforeNs).toBe(30n * SECOND + 10_000_000n);
  expect(evicted(kubelet.memory(30.01, 50n))).toEqual(['evict stuck grace 0']);
  expect(again).not.toContain('evict web grace 0');
});

test('evictd does not count a failed kill, and chooses the next workload in the step that the outcome triggers', () => {
  const { timeline, effects } = run(policy([]).departures);
  expect(counted(effects)).toEqual([false]);
  expect(chosen(effects)).toEqual(['web']);
  expect(timeline.notBeforeNs).toBeUndefined();
});
