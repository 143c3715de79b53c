import { withDisks } from '../../../src/core/rank/candidate-usages.js';
import { describe, expect, test } from 'vitest';
import type { DiskHolding } from '../../../src/core/disk/disk-amount.js';
import type { Candidates } from '../../../src/core/workload/workload.js';
import { candidates, Mi, observations, policy, threshold, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

// What a container has written comes back when its runtime has removed it, which begins when it has ended.

const runtime = { endpoint: 'unix:///a', podId: 'p', containers: ['c'], isPod: true, labels: {}, byKubelet: false };
const layer = (mib: bigint): DiskHolding => ({
  uses: { bytes: mib * Mi, inodes: mib },
  frees: { bytes: mib * Mi, inodes: mib },
  atNs: 0n,
});
const containers = (byName: Readonly<Record<string, bigint>>): Candidates =>
  withDisks(
    candidates(...Object.keys(byName).map((name): Parameters<typeof candidates>[0] => [workload(name, { runtime }), 1n])),
    (path) => ({ nodefs: layer(byName[path.slice(1)] ?? 0n) }),
  );

const both = [threshold('nodefs.available', '100Mi'), threshold('nodefs.inodesFree', '100')];
const gone = { 1: { processes: 0, removed: true } };
const full = { 'nodefs.available': 0n, 'nodefs.inodesFree': 0n };

describe('while the runtime removes the files of the victim', () => {
  const loop = (): Timeline => {
    const begun = new Timeline(policy(both), containers({ hog: 300n, web: 200n }));
    expect(evicted(begun.effects(0, full))).toEqual(['evict hog grace 0']);
    begun.candidates = containers({ web: 200n });
    return begun;
  };

  test('no other workload is evicted, neither for bytes nor for inodes', () => {
    const begun = loop();
    expect(begun.effects(1, full, gone)).toEqual([]);
    expect(begun.effects(8, full, gone)).toEqual([]);
    expect(begun.effects(9, { 'nodefs.available': 90n * Mi, 'nodefs.inodesFree': 90n }, gone)).toEqual([]);
    expect(begun.effects(18, { 'nodefs.available': 99n * Mi, 'nodefs.inodesFree': 99n }, gone)).toEqual([]);
  });

  test('the eviction is over when nine tenths of the expected bytes are free', () => {
    const begun = loop();
    expect(begun.effects(1, { 'nodefs.available': 269n * Mi, 'nodefs.inodesFree': 300n }, gone)).not.toContain('killed hog 300Mi');
    expect(begun.effects(2, { 'nodefs.available': 270n * Mi, 'nodefs.inodesFree': 300n }, gone).join()).toContain('killed hog');
  });

  test('a reading of another filesystem does not count as freed space', () => {
    const begun = loop();
    const amounts = { 'nodefs.available': 500n * Mi, 'nodefs.inodesFree': 500n };
    const observed = new Map(
      [...observations(0n, amounts).observed].map(([signal, one]) => [signal, { ...one, source: 'statfs of /other' }]),
    );
    const other = { observe: () => ({ observed, missing: new Map() }) };
    expect(begun.effects(1, amounts, gone, other).join()).not.toContain('killed');
    expect(begun.effects(61.1, amounts, gone, other).join()).toContain('killed hog 0Mi');
  });

  test('after a minute without freed space evictd alerts, and evicts another workload only when the value has moved', () => {
    const begun = loop();
    begun.effects(1, full, gone);
    expect(begun.effects(60.9, full, gone)).toEqual([]); // a runtime may take its time
    expect(begun.effects(61.1, full, gone).join()).toMatch(/killed hog.*alert no-yield/);
    expect(evicted(begun.effects(62, { 'nodefs.available': 4n * Mi, 'nodefs.inodesFree': 500n }))).toEqual([]);
  });

  test('evictd waits up to a minute for the rest after a part has been freed', () => {
    const begun = loop();
    begun.effects(1, full, gone);
    const some = { 'nodefs.available': 50n * Mi, 'nodefs.inodesFree': 500n };
    expect(begun.effects(20, some, gone).join()).not.toContain('killed');
    expect(begun.effects(60.9, some, gone).join()).not.toContain('killed');
    expect(begun.effects(61.1, some, gone).join()).toContain('killed hog');
  });

  test('a minute of waiting is enough where other writers fill the disk as fast as it is freed', () => {
    const begun = loop();
    for (let second = 1n; second <= 60n; second += 3n) {
      expect(begun.effects(Number(second), { 'nodefs.available': second * Mi, 'nodefs.inodesFree': 500n }, gone).join()).not.toContain(
        'killed',
      );
    }
    expect(begun.effects(61.1, { 'nodefs.available': 61n * Mi, 'nodefs.inodesFree': 500n }, gone).join()).toContain('killed hog');
  });
});

test('evictd does not wait for a runtime if the workload deletes its files when it ends: the next eviction is a second later', () => {
  const found = (names: readonly string[]): Candidates =>
    withDisks(candidates(...names.map((name): Parameters<typeof candidates>[0] => [workload(name), 1n])), () => ({ nodefs: layer(300n) }));
  const begun = new Timeline(policy([threshold('nodefs.available', '100Mi')]), found(['a', 'b']));
  const [first = ''] = evicted(begun.effects(0, full));
  begun.candidates = found([first.includes(' a ') ? 'b' : 'a']);
  begun.effects(1, full, gone);
  expect(begun.effects(2.1, full, gone).join()).toContain('killed');
});
