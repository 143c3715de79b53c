import { expect, test } from 'vitest';
import { candidates, Mi, onDisk, policy, SECOND, threshold, without, workload } from '../support.js';
import { Timeline } from '../timeline.js';

/**
 * The image filesystem is full and the collections empty it. Memory stands below a soft threshold whose grace period of
 * an hour has just begun: the kubelet looks at every threshold without its grace period, finds the memory, and evicts a
 * pod for a disk that has room again.
 */
const thresholds = [threshold('imagefs.available', '100Mi'), threshold('memory.available', '500Mi', { graceSeconds: 3600 })];
const all = onDisk(candidates([workload('batch'), 300n * Mi]));
const collected = { reclaimed: { errors: [] } };

function loop(departures: ReturnType<typeof without>): Timeline {
  const evictable = new Set(['memory', 'ephemeral-storage'] as const);
  return new Timeline(policy(thresholds, { departures, evictable, collections: new Set(['containers', 'images']) }), all);
}

test.each([
  { side: 'kubelet', departures: without('reclaim-scope'), then: ['reclaimed too little', 'evict batch grace 0'] },
  { side: 'evictd', departures: policy([]).departures, then: ['reclaimed enough'] },
])('$side', ({ departures, then }) => {
  const timeline = loop(departures);
  const first = timeline.effects(0, { 'imagefs.available': 50n * Mi, 'memory.available': 400n * Mi });
  expect(first.at(-1)).toBe('reclaim containers, images');
  expect(timeline.effects(1, { 'imagefs.available': 900n * Mi, 'memory.available': 400n * Mi }, {}, collected)).toEqual(then);
});

test.each<[rule: string, available: bigint | undefined, enough: boolean]>([
  ['exactly the threshold is enough', 100n, true],
  ['below it is not', 99n, false],
  ['a node that cannot be read was not relieved', undefined, false],
])('%s', (_rule, mebibytes, enough) => {
  const timeline = loop(policy([]).departures);
  timeline.effects(0, { 'imagefs.available': 50n * Mi, 'memory.available': 900n * Mi });
  const said = timeline.effects(1, mebibytes === undefined ? undefined : { 'imagefs.available': mebibytes * Mi }, {}, collected);
  expect(said[0]).toBe(enough ? 'reclaimed enough' : 'reclaimed too little');
  expect(said.length).toBe(enough ? 1 : 2);
});

test('while a reclaim runs no workload is evicted for its resource, but other resources do not wait', () => {
  const timeline = loop(policy([]).departures);
  timeline.policy = policy([threshold('imagefs.available', '100Mi'), threshold('memory.available', '100Mi')], {
    evictable: new Set(['memory', 'ephemeral-storage'] as const),
    collections: new Set(['images'] as const),
  });
  timeline.effects(0, { 'imagefs.available': 50n * Mi, 'memory.available': 900n * Mi });
  const said = timeline.effects(1, { 'imagefs.available': 40n * Mi, 'memory.available': 50n * Mi });
  expect(said).toEqual(['met memory.available', 'MemoryPressure=true', 'evict batch grace 0']);
});

test('a memory shortage during a disk reclaim is handled in a step right after it', () => {
  const timeline = loop(policy([]).departures);
  timeline.policy = { ...timeline.policy, thresholds: [threshold('imagefs.available', '100Mi'), threshold('memory.available', '100Mi')] };
  timeline.effects(0, { 'imagefs.available': 50n * Mi, 'memory.available': 900n * Mi });
  const now = { 'imagefs.available': 900n * Mi, 'memory.available': 50n * Mi };
  expect(timeline.effects(1, now, {}, collected)).toEqual(['reclaimed enough']);
  expect(timeline.dueAtNs).toBe(SECOND);
  expect(timeline.effects(1, now)).toContain('evict batch grace 0');
});

test('when bytes and inodes are short together one reclaim runs, and the other waits for it', () => {
  const timeline = loop(policy([]).departures);
  timeline.policy = policy([threshold('imagefs.available', '100Mi'), threshold('imagefs.inodesFree', '100')], {
    evictable: new Set(['ephemeral-storage', 'inodes'] as const),
    collections: new Set(['images'] as const),
  });
  const short = { 'imagefs.available': 50n * Mi, 'imagefs.inodesFree': 5n };
  expect(timeline.effects(0, short).filter((said) => said.startsWith('reclaim'))).toEqual(['reclaim images']);
  expect(timeline.effects(1, short).filter((said) => said.startsWith('reclaim'))).toEqual([]);
  expect(timeline.state.reclaiming?.threshold.signal).toBe('imagefs.available');
  expect(timeline.effects(2, { 'imagefs.available': 900n * Mi, 'imagefs.inodesFree': 5n }, {}, collected)).toEqual(['reclaimed enough']);
  expect(timeline.effects(3, { 'imagefs.available': 900n * Mi, 'imagefs.inodesFree': 5n }).at(-1)).toBe('reclaim images');
});

test('evictd decides by the reading after the reclaim, the kubelet by the one before', () => {
  const limits = [without('reclaim-scope'), policy([]).departures].map((departures) => {
    const timeline = loop(departures);
    timeline.at(0, { 'imagefs.available': 50n * Mi, 'memory.available': 900n * Mi });
    const effects = timeline.at(1, { 'imagefs.available': 60n * Mi }, {}, collected);
    const causes = effects.flatMap((effect) => (effect.kind === 'evict' ? [effect.decision.cause] : []));
    return causes.map((cause) => (cause.kind === 'threshold' ? cause.observation.available / Mi : undefined));
  });
  expect(limits).toEqual([[50n], [60n]]);
});

test('a dry run reclaims nothing', () => {
  const timeline = loop(policy([]).departures);
  timeline.policy = { ...timeline.policy, dryRun: true };
  expect(timeline.effects(0, { 'imagefs.available': 50n * Mi }).at(-1)).toBe('evict batch grace 0 dry');
  expect(timeline.state.reclaiming).toBeUndefined();
});
