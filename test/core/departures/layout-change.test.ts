import { expect, test } from 'vitest';
import type { Layout } from '../../../src/core/signal/layout.js';
import { Gi, candidates, Mi, policy, threshold, without, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

/** The image filesystem is mounted a while after the start: until then its path lies on the node's. */
const disks = { 'nodefs.available': Gi, 'imagefs.available': 50n * Mi };

function reclaimed(departures: ReturnType<typeof without>, layouts: readonly Layout[]): string[] {
  const overrides = {
    departures,
    evictable: new Set(['ephemeral-storage'] as const),
    collections: new Set(['containers', 'images'] as const),
  };
  const timeline = new Timeline(policy([threshold('imagefs.available', '100Mi')], overrides), candidates([workload('batch'), 300n * Mi]));
  const said = layouts.map((layout, second) =>
    timeline.effects(second, second === layouts.length - 1 ? disks : { ...disks, 'imagefs.available': Gi }, {}, { layout }),
  );
  return said.at(-1) ?? [];
}

test.each([
  { side: 'kubelet: as it was found at the start', departures: without('layout-change'), then: 'reclaim containers, images' },
  { side: 'evictd: as it is now', departures: policy([]).departures, then: 'reclaim images' },
])('$side', ({ departures, then }) => {
  expect(reclaimed(departures, ['single', 'split'])).toContain(then);
});

test.each([
  { side: 'kubelet: nothing is decided until it is known', departures: without('layout-change'), goes: 0 },
  { side: 'evictd: memory does not wait for a disk', departures: policy([]).departures, goes: 1 },
])('$side', ({ departures, goes }) => {
  const timeline = new Timeline(policy([threshold('memory.available', '100Mi')], { departures }), candidates([workload('hog'), 300n * Mi]));
  const said = timeline.effects(0, { 'memory.available': 50n * Mi }, {}, { layout: { error: '/images: not read yet' } });
  expect(evicted(said)).toHaveLength(goes);
});
