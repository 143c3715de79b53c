import { expect, test } from 'vitest';
import type { Resource } from '../../../src/core/signal/signal.js';
import { candidates, Mi, policy, threshold, without, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

/**
 * Memory and process ids run out together. The kubelet evicts for memory only, and looks at process ids when that pod
 * is gone.
 */
const thresholds = [threshold('memory.available', '100Mi'), threshold('pid.available', '100')];
const evictable: ReadonlySet<Resource> = new Set<Resource>(['memory', 'pids']);
const all = candidates([workload('batch'), 300n * Mi], [workload('forks', { priority: -1 }), 50n * Mi]);
const short = { 'memory.available': 50n * Mi, 'pid.available': 5n };

test.each([
  { side: 'kubelet', departures: without('each-resource'), first: 1, dying: 0 },
  { side: 'evictd', departures: policy([]).departures, first: 2, dying: 0 },
])('$side evicts $first at once, and never a second workload for one resource while the first is dying', ({ departures, first, dying }) => {
  const timeline = new Timeline(policy(thresholds, { departures, evictable }), all);
  expect(evicted(timeline.effects(0, short))).toHaveLength(first);
  expect(evicted(timeline.effects(0.01, short, { 1: { processes: 1 }, 2: { processes: 1 } }))).toHaveLength(dying);
});
