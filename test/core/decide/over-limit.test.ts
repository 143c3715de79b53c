import { expect, test } from 'vitest';
import type { VictimReading } from '../../../src/core/decide/eviction.js';
import { candidates, policy, SECOND, threshold } from '../support.js';
import { evicted, Timeline } from '../timeline.js';
import { pod, resources } from '../usage.js';

const SURVIVED = { processes: 3, error: 'EPERM' };
const plenty = { 'memory.available': 10n };

function loop(): Timeline {
  const usages = [pod('big', { pod: { limits: resources({ 'ephemeral-storage': '10' }) }, stats: { ephemeralStorageBytes: 100n } })];
  return new Timeline(policy([threshold('memory.available', '1')], { localStorageCapacityIsolation: true }), { ...candidates(), usages });
}

test.each<[rule: string, reading: Partial<VictimReading>, pauseSeconds: number]>([
  ['that survived its kill is passed over for a minute', SURVIVED, 60],
  ['that could not be signalled is passed over for a second', { processes: undefined, error: 'EMFILE' }, 1],
  ['that ended before the signal and is still listed is passed over for a second', { processes: undefined, vanished: true }, 1],
])('a workload over its limits %s', (_rule, reading, pauseSeconds) => {
  const timeline = loop();
  expect(evicted(timeline.effects(0, plenty))).toEqual(['evict big grace 0']);
  expect(evicted(timeline.effects(0.01, plenty, { 1: reading }))).toEqual([]);
  expect(timeline.dueAtNs).toBe(BigInt(pauseSeconds) * SECOND + 10_000_000n);
  expect(evicted(timeline.effects(pauseSeconds, plenty))).toEqual([]);
  expect(evicted(timeline.effects(pauseSeconds + 0.01, plenty))).toEqual(['evict big grace 0']);
});

test('a workload over its limits is not evicted again while it is dying', () => {
  const timeline = loop();
  expect(evicted(timeline.effects(0, plenty))).toEqual(['evict big grace 0']);
  expect(evicted(timeline.effects(0.01, plenty, { 1: { processes: 3 } }))).toEqual([]);
  expect(timeline.state.evictions).toHaveLength(1);
});

test('a dry run names a workload over its limits once, and again after it was within them', () => {
  const timeline = loop();
  timeline.policy = { ...timeline.policy, dryRun: true };
  const over = timeline.candidates;
  expect(evicted(timeline.effects(0, plenty))).toEqual(['evict big grace 0 dry']);
  expect(evicted(timeline.effects(1, plenty))).toEqual([]);
  timeline.candidates = candidates();
  expect(evicted(timeline.effects(2, plenty))).toEqual([]);
  timeline.candidates = over;
  expect(evicted(timeline.effects(3, plenty))).toEqual(['evict big grace 0 dry']);
});

test("an eviction for a workload's own limit is not a shortage of the node, and does not use the budget", () => {
  const timeline = loop();
  timeline.policy = { ...timeline.policy, evictionBudget: { max: 1, windowNs: 600n * SECOND, bands: [] } };
  expect(evicted(timeline.effects(0, plenty))).toEqual(['evict big grace 0']);
  expect(timeline.state.evictionTimes.size).toBe(0);
});
