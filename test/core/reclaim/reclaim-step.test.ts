import { expect, test } from 'vitest';
import type { ReclaimStep } from '../../../src/core/reclaim/reclaim-step.js';
import { candidates, Mi, onDisk, policy, SECOND, threshold, workload } from '../support.js';
import { Timeline } from '../timeline.js';

const limits = { timeoutNs: 60n * SECOND, memoryMaxBytes: 128n * Mi };
const journald: ReclaimStep = { name: 'journald', kind: 'journald', keepBytes: 100n * Mi, ...limits };
const prune: ReclaimStep = { name: 'prune', kind: 'command', command: ['/bin/prune'], signals: ['nodefs.available'], ...limits };
const disk = new Set(['memory', 'ephemeral-storage'] as const);
const all = onDisk(candidates([workload('batch'), 300n * Mi]));

function gave(
  collection: string,
  bytes: bigint,
): { reclaimed: { errors: []; yields: { collection: string; bytes: bigint; inodes: bigint }[] } } {
  return { reclaimed: { errors: [], yields: [{ collection, bytes, inodes: 0n }] } };
}

const short = (mebibytes: bigint) => ({ 'nodefs.available': mebibytes * Mi });

test("the node's own reclaim comes first, then the configured steps in their order", () => {
  const timeline = new Timeline(
    policy([threshold('nodefs.available', '100Mi', { graceSeconds: 0 })], {
      evictable: disk,
      collections: new Set(['images']),
      reclaimSteps: [journald, { ...journald, name: 'package-cache', kind: 'package-cache' }],
    }),
    all,
  );
  expect(timeline.effects(0, short(50n)).at(-1)).toBe('reclaim images, journald, package-cache');
});

test('commands run for soft thresholds of their signals, and hard thresholds do not wait for commands', () => {
  const said = (limit: ReturnType<typeof threshold>): string[] => {
    const timeline = new Timeline(policy([limit], { evictable: disk, reclaimSteps: [prune] }), all);
    timeline.effects(0, { [limit.signal]: 50n * Mi });
    return timeline.effects(2, { [limit.signal]: 49n * Mi });
  };
  expect(said(threshold('nodefs.available', '100Mi', { graceSeconds: 1 }))).toEqual(['reclaim prune']);
  expect(said(threshold('imagefs.available', '100Mi', { graceSeconds: 1 }))).toEqual(['evict batch grace 10']);
  const hard = new Timeline(policy([threshold('nodefs.available', '100Mi')], { evictable: disk, reclaimSteps: [prune] }), all);
  expect(hard.effects(0, short(50n)).at(-1)).toBe('evict batch grace 0');
});

test('steps also run without an evictable workload, and an alert follows', () => {
  const timeline = new Timeline(
    policy([threshold('nodefs.available', '100Mi')], { hasWorkloadSource: false, reclaimSteps: [journald] }),
    all,
  );
  expect(timeline.effects(0, short(50n)).at(-1)).toBe('reclaim journald');
  expect(timeline.effects(1, short(60n), {}, gave('journald', 10n * Mi))).toEqual(['reclaimed too little', 'alert no-workload-source']);
});

test('a step that has run is not tried again before the value has changed by a twentieth of the threshold', () => {
  const timeline = new Timeline(policy([threshold('nodefs.available', '100Mi')], { reclaimSteps: [journald] }), candidates());
  timeline.effects(0, short(50n));
  timeline.effects(1, short(50n), {}, gave('journald', 0n));
  expect(timeline.effects(2, short(50n))).toEqual([]);
  expect(timeline.effects(3, short(46n))).toEqual([]);
  expect(timeline.effects(4, short(45n))).toEqual(['reclaim journald']);
  timeline.effects(5, short(45n), {}, gave('journald', 0n));
  expect(timeline.effects(6, short(41n))).toEqual([]);
});

test('a hard threshold waits a minute for a reclaim, and a late result evicts no other workload', () => {
  const timeline = new Timeline(
    policy([threshold('nodefs.available', '100Mi', { graceSeconds: 1 }), threshold('nodefs.available', '60Mi')], {
      evictable: disk,
      reclaimSteps: [prune],
    }),
    all,
  );
  timeline.effects(0, short(90n));
  expect(timeline.effects(2, short(89n))).toEqual(['reclaim prune']);
  expect(timeline.effects(30, short(50n))).toEqual(['met nodefs.available']);
  expect(timeline.effects(61, short(49n))).toEqual([]);
  expect(timeline.effects(62, short(48n))).toEqual(['evict batch grace 0']);
  expect(timeline.effects(62, short(48n), { 1: { processes: 1 } }, gave('prune', 0n))).toEqual(['reclaimed too little']);
});

test('a dry run reclaims nothing', () => {
  const timeline = new Timeline(
    policy([threshold('nodefs.available', '100Mi')], { dryRun: true, evictable: disk, reclaimSteps: [journald] }),
    all,
  );
  expect(timeline.effects(0, short(50n)).at(-1)).toBe('evict batch grace 0 dry');
});

test('steps do not reclaim memory', () => {
  const timeline = new Timeline(policy([threshold('memory.available', '100Mi')], { reclaimSteps: [journald] }), all);
  expect(timeline.memory(0, 50n).at(-1)).toBe('evict batch grace 0');
});

test('a step runs again in a later episode, whatever the value', () => {
  const timeline = new Timeline(policy([threshold('nodefs.available', '100Mi')], { reclaimSteps: [journald] }), candidates());
  timeline.effects(0, short(99n));
  timeline.effects(1, short(101n), {}, gave('journald', 2n * Mi));
  expect(timeline.effects(5, short(99n))).not.toContain('reclaim journald'); // the episode goes on
  timeline.effects(6, short(400n));
  timeline.effects(100, short(400n));
  expect(timeline.effects(200, short(99n)).at(-1)).toBe('reclaim journald');
});

test('a reclaim that ends while evictions wait evicts nothing', () => {
  const timeline = new Timeline(
    policy([threshold('nodefs.available', '100Mi', { graceSeconds: 1 }), threshold('nodefs.available', '60Mi')], {
      evictable: disk,
      reclaimSteps: [prune],
    }),
    onDisk(candidates([workload('batch'), 300n * Mi], [workload('web'), 200n * Mi])),
  );
  timeline.effects(0, short(90n));
  expect(timeline.effects(2, short(89n))).toEqual(['reclaim prune']);
  timeline.effects(30, short(50n));
  expect(timeline.effects(62, short(48n))).toEqual(['evict batch grace 0']);
  for (const seconds of [63, 65, 75, 85, 124])
    timeline.effects(seconds, short(48n), { 1: { processes: 0, usageBytes: 0n, removed: true } });
  expect([...timeline.state.withoutYield.keys()]).toEqual(['nodefs.available']);
  expect(timeline.effects(125, short(48n), {}, gave('prune', 0n))).toEqual(['reclaimed too little']);
});
