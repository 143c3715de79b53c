import { describe, expect, test } from 'vitest';
import type { StepInput } from '../../../src/core/decide/step-input.js';
import { candidates, Mi, observations, policy, SECOND, threshold, without, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

/** The hog has been killed by the kernel after the signal was read: only the innocent is left to be chosen. */
const left = candidates([workload('innocent'), 1n * Mi]);
const hard = threshold('memory.available', '100Mi', { minReclaim: '50Mi' });
const SHORT = { 'memory.available': 90n * Mi };

const seen = (mebibytes: bigint): Partial<StepInput> => ({
  recheck: () => observations(2n * SECOND, { 'memory.available': mebibytes * Mi }),
});

describe('the shortage ends between the reading of the signal and that of the candidates', () => {
  test('the kubelet evicts the next workload', () => {
    const timeline = new Timeline(policy([hard], { departures: without('recheck') }), left);
    expect(evicted(timeline.effects(1, SHORT, {}, seen(1600n)))).toHaveLength(1);
  });

  test('recheck evicts nothing, and a step follows at once', () => {
    const timeline = new Timeline(policy([hard]), left);
    expect(timeline.effects(1, SHORT, {}, seen(1600n))).toEqual(['met memory.available', 'MemoryPressure=true']);
    expect(timeline.dueAtNs).toBeLessThan(1n * SECOND + SECOND / 100n);
    expect(timeline.effects(1.005, { 'memory.available': 1600n * Mi })).toEqual(['cleared memory.available']);
  });

  test('evictd raises no alert if no workload is left', () => {
    const timeline = new Timeline(policy([hard]), candidates());
    expect(timeline.effects(1, SHORT, {}, seen(1600n))).not.toContain('alert nothing-evictable');
    expect(timeline.effects(2, SHORT, {}, seen(90n))).toContain('alert nothing-evictable');
  });
});

test('a shortage that ended without an eviction owes no min reclaim', () => {
  const timeline = new Timeline(policy([hard]), left);
  timeline.at(1, SHORT, {}, seen(120n));
  expect(timeline.effects(1.005, { 'memory.available': 120n * Mi }, {}, seen(120n))).toEqual(['cleared memory.available']);
});

test('a shortage that goes on causes an eviction in the same step', () => {
  const timeline = new Timeline(policy([hard]), left);
  expect(evicted(timeline.effects(1, SHORT, {}, seen(99n)))).toEqual(['evict innocent grace 0']);
});

test.each([
  { available: 149n, goes: 1 },
  { available: 150n, goes: 0 },
])('the recheck also honours min reclaim that is owed: $available MiB', ({ available, goes }) => {
  const timeline = new Timeline(policy([hard]), candidates());
  timeline.at(1, SHORT);
  timeline.candidates = left;
  expect(evicted(timeline.effects(2, { 'memory.available': 120n * Mi }, {}, seen(available)))).toHaveLength(goes);
});

test.each([
  ['the node cannot be read', () => undefined],
  ['the signal is not among what was read', () => observations(2n * SECOND, {})],
])('%s does not end the shortage', (_, recheck) => {
  const timeline = new Timeline(policy([hard]), left);
  expect(evicted(timeline.effects(1, SHORT, {}, { recheck }))).toHaveLength(1);
});
