import { expect, test } from 'vitest';
import type { Workload } from '../../../src/core/workload/workload.js';
import { candidates, Mi, policy, threshold, without } from '../support.js';
import { evicted, Timeline } from '../timeline.js';
import { pod } from '../usage.js';

/**
 * The disk is filled by a file that belongs to no workload (a core dump, a log that was deleted and is still open). The
 * kubelet evicts pod after pod, and not one byte comes back.
 */
const disk = threshold('nodefs.available', '100Mi');
const all = candidates(...['a', 'b', 'c'].map((name, index): [Workload, bigint] => [pod(name, { priority: index + 1 }).workload, 1n]));
const killed = (serial: number): Record<number, object> => ({ [serial]: { processes: 0, usageBytes: 0n } });

function evictions(departures: ReturnType<typeof without>, readings: readonly bigint[]): string[] {
  const timeline = new Timeline(policy([disk], { departures, evictable: new Set(['ephemeral-storage']) }), all);
  return readings.flatMap((mebibytes, index) => {
    const gone = index === 0 ? {} : killed(timeline.state.decisions);
    const names = new Set(timeline.state.evictions.map(({ decision }) => decision.victim.workload.name));
    timeline.candidates = {
      ...timeline.candidates,
      usages: timeline.candidates.usages.filter(({ workload: { name } }) => !names.has(name)),
    };
    return evicted(timeline.effects(index * 10, { 'nodefs.available': mebibytes * Mi }, gone));
  });
}

test.each<[rule: string, mebibytes: bigint[], kubelet: number, evictd: number]>([
  ['no memory comes back: the kubelet evicts again', [50n, 50n, 50n], 3, 1],
  ['less than nothing comes back: it is not asked again on that value', [50n, 40n, 40n], 3, 1],
  ['the victim freed something, and more is needed', [50n, 60n, 70n], 3, 3],
  ['memory falls further for other reasons: evictd does not evict again', [50n, 50n, 45n, 5n], 3, 1],
  ['half of the missing memory is free: evictd evicts again', [50n, 50n, 75n, 75n], 3, 2],
  ['half of the missing memory is free for a moment: evictd does not evict again', [50n, 50n, 75n, 60n, 75n, 60n], 3, 1],
  ['no more is missing for a moment: evictd does not evict again', [50n, 50n, 100n, 50n, 100n, 50n], 3, 1],
  ['less than half of the missing memory is free: evictd does not evict again', [50n, 50n, 74n, 60n], 3, 1],
  ['next to nothing is missing: a twentieth of the threshold is the relief', [97n, 97n, 99n, 99n], 3, 1],
])('%s', (_rule, mebibytes, kubelet, evictd) => {
  expect(evictions(without('no-yield'), mebibytes)).toHaveLength(kubelet);
  expect(evictions(policy([]).departures, mebibytes)).toHaveLength(evictd);
});

test('an eviction without yield raises one alert', () => {
  const timeline = new Timeline(policy([disk], { evictable: new Set(['ephemeral-storage']) }), all);
  timeline.effects(0, { 'nodefs.available': 50n * Mi });
  expect(timeline.effects(10, { 'nodefs.available': 50n * Mi }, killed(1))).toEqual(['killed a 0Mi', 'alert no-yield']);
  expect(timeline.effects(20, { 'nodefs.available': 50n * Mi })).toEqual([]);
});
