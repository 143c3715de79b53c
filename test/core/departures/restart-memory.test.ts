import { expect, test } from 'vitest';
import { initialState } from '../../../src/core/decide/state.js';
import { takeOver } from '../../../src/core/decide/remembered-state.js';
import { restoredParts, savedParts } from '../../../src/state/saved-parts.js';
import { candidates, Mi, policy, SECOND, threshold, without, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

/**
 * A kubelet that is restarted forgets since when its thresholds are met: a node whose kubelet is restarted once within
 * every grace period never evicts softly, and one under pressure says for a moment that it has none.
 */
const soft = threshold('memory.available', '200Mi', { graceSeconds: 60 });
const all = candidates([workload('batch'), 300n * Mi]);
const sides = [
  { side: 'kubelet', departures: without('restart-memory') },
  { side: 'evictd', departures: policy([]).departures },
] as const;

/** Another evictd takes over at this second. */
function restarted(timeline: Timeline, second: number): void {
  const away = { awayNs: 0n, sleptNs: 0n };
  timeline.state = takeOver(
    timeline.policy,
    { ...initialState, ...restoredParts(savedParts(timeline.state)) },
    away,
    BigInt(second) * SECOND,
  ).state;
}

test('a grace period goes on', () => {
  const outcomes = sides.map(({ departures }) => {
    const timeline = new Timeline(policy([soft], { departures }), all);
    for (const at of [0, 10, 20]) timeline.memory(at, 150n);
    restarted(timeline, 25);
    return [30, 40, 50, 60, 70, 80, 90].find((at) => evicted(timeline.memory(at, 150n)).length > 0);
  });
  expect(outcomes).toEqual([90, 60]);
});

test('a condition stays until its transition period is over', () => {
  const outcomes = sides.map(({ departures }) => {
    const timeline = new Timeline(policy([soft], { departures }), all);
    timeline.memory(0, 150n);
    restarted(timeline, 5);
    return [10, 20, 300].map((at) => timeline.memory(at, 500n));
  });
  expect(outcomes).toEqual([
    [[], [], []],
    [['cleared memory.available'], [], ['MemoryPressure=false']],
  ]);
});

test('an eviction in flight continues in both', () => {
  for (const { departures } of sides) {
    const timeline = new Timeline(policy([threshold('memory.available', '200Mi', { graceSeconds: 1 })], { departures }), all);
    timeline.memory(0, 150n);
    expect(evicted(timeline.memory(1, 150n))).toEqual(['evict batch grace 10']);
    restarted(timeline, 5);
    expect(timeline.memory(10, 150n, { 1: {} })).not.toContain('escalate: grace period over');
    expect(timeline.memory(11, 150n, { 1: {} })).toContain('escalate: grace period over');
    expect(timeline.memory(12, 500n, { 1: { processes: 0, removed: true } })).toContain('killed batch 300Mi');
  }
});
