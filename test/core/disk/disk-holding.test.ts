import { describe, expect, test } from 'vitest';
import type { DiskHolding, DiskHoldings } from '../../../src/core/disk/disk-amount.js';
import type { Outcome } from '../../../src/core/decide/eviction.js';
import { describeRanked, rank } from '../../../src/core/rank/rank.js';
import { usagesFor, countedBy, withDisks } from '../../../src/core/rank/candidate-usages.js';
import type { Candidates } from '../../../src/core/workload/workload.js';
import { candidates, Mi, observations, policy, threshold, workload } from '../support.js';
import { Timeline } from '../timeline.js';

const NONE = { bytes: 0n, inodes: 0n };
const holding = (uses: bigint, frees = uses): DiskHolding => ({
  uses: { bytes: uses * Mi, inodes: uses },
  frees: { bytes: frees * Mi, inodes: frees },
  atNs: 0n,
});
/** Workloads by what they hold on nodefs. */
const holders = (byName: Readonly<Record<string, DiskHoldings>>): Candidates =>
  withDisks(
    candidates(...Object.keys(byName).map((name): Parameters<typeof candidates>[0] => [workload(name), 1n])),
    (path) => byName[path.slice(1)] ?? {},
  );

test('workloads are sorted by priority, and then by what each would free on the filesystem', () => {
  const found = holders({
    small: { nodefs: holding(1n) },
    large: { nodefs: holding(9n, 2n) },
    idle: { nodefs: holding(0n) },
    db: { nodefs: holding(99n, 0n) },
    batch: { nodefs: holding(3n, 1n) },
  });
  const usages = usagesFor('nodefs.available', found).map((usage) =>
    usage.workload.name === 'batch' ? { ...usage, workload: { ...usage.workload, priority: -1 } } : usage,
  );
  const ranked = rank('nodefs.available', 'single', usages, policy([]).departures);
  expect(ranked.map(({ workload: { name }, usage, protection }) => [name, usage, protection?.kind])).toEqual([
    ['batch', 3n * Mi, undefined],
    ['large', 9n * Mi, undefined],
    ['small', Mi, undefined],
    ['db', 99n * Mi, 'frees-nothing'],
    ['idle', 0n, 'frees-nothing'],
  ]);
  expect(ranked.map(({ holding: has = holding(0n) }) => countedBy('nodefs.inodesFree', has.frees))).toEqual([1n, 2n, 1n, 0n, 0n]);
  expect(ranked[1] && describeRanked(ranked[1], 'ephemeral-storage')).toBe('uses 9MiB, frees 2MiB, has no request, priority 0');
});

test('the disk usage of workloads is measured where a disk is short, and for no other resource', () => {
  const requested: string[] = [];
  const found = withDisks(candidates([workload('a'), 1n], [workload('b'), 1n]), (path) => {
    requested.push(path);
    return { nodefs: holding(300n) };
  });
  const both = [threshold('memory.available', '100Mi'), threshold('pid.available', '100'), threshold('nodefs.available', '100Mi')];
  const timeline = new Timeline(policy(both), found);
  expect(timeline.effects(0, { 'memory.available': 0n, 'pid.available': 0n })).toContain('evict a grace 0');
  expect(requested).toEqual([]);
  expect(timeline.effects(1, { 'nodefs.available': 0n })).toContain('evict a grace 0');
  expect(requested).toEqual(['/a', '/b']);
});

describe('an eviction for a disk', () => {
  const loop = (found: Candidates): Timeline => new Timeline(policy([threshold('nodefs.available', '100Mi')]), found);
  const full = { 'nodefs.available': 0n };
  const gone = { 1: { processes: 0, usageBytes: 0n } };
  const outcomeOf = (effects: ReturnType<Timeline['at']>): Outcome | undefined =>
    effects.flatMap((effect) => (effect.kind === 'outcome' ? [effect.outcome] : []))[0];

  test('waits for measurements: no workload is evicted, and no alert is raised', () => {
    const timeline = loop(holders({ a: { nodefs: 'measuring' } }));
    expect(timeline.effects(0, full)).toEqual(['met nodefs.available', 'DiskPressure=true']);
    timeline.candidates = holders({ a: { nodefs: holding(300n) }, b: { nodefs: holding(400n, 0n) } });
    expect(timeline.effects(1, full)).toEqual(['evict a grace 0']);
  });

  describe('while a workload that may rank before the victim is being measured', () => {
    const found = (hog: DiskHoldings, priority: number): Candidates => {
      const { usages, ...rest } = holders({ hog, db: { nodefs: holding(6n) } });
      return { ...rest, usages: usages.map((usage, at) => (at === 0 ? { ...usage, workload: { ...usage.workload, priority } } : usage)) };
    };
    const measuring: DiskHoldings = { nodefs: 'measuring' };

    test.each([-1000, 0])('no workload is evicted before the measurement, and then that workload is (priority %d)', (priority) => {
      const timeline = loop(found(measuring, priority));
      expect(timeline.effects(0, full)).not.toContain('evict db grace 0');
      expect(timeline.effects(59, full)).toEqual([]);
      timeline.candidates = found({ nodefs: holding(40n) }, priority);
      expect(timeline.effects(59.5, full)).toEqual(['evict hog grace 0']);
    });

    test('evictd evicts the victim after a minute at the latest', () => {
      const timeline = loop(found(measuring, -1000));
      timeline.at(0, full);
      timeline.at(59.9, full);
      expect(timeline.effects(60, full)).toEqual(['evict db grace 0']);
      expect(timeline.state.measurementAwaitedSince.size).toBe(0); // a later measurement has a minute of its own
    });

    test('evictd does not wait for a workload that cannot rank before the victim, or may not be evicted', () => {
      expect(loop(found(measuring, 1)).effects(0, full)).toContain('evict db grace 0');
      const gone = {
        ...found(measuring, -1000),
        veto: ({ name }: { name: string }) => (name === 'hog' ? ({ kind: 'vacant' } as const) : undefined),
      };
      expect(loop(gone).effects(0, full)).toContain('evict db grace 0');
    });

    test('the minute begins again after a time without waiting', () => {
      const timeline = loop(found(measuring, -1000));
      timeline.at(0, full);
      timeline.at(50, { 'nodefs.available': 500n * Mi });
      timeline.at(61, full);
      expect(timeline.state.measurementAwaitedSince.size).toBe(1);
      expect(timeline.effects(62, full)).toEqual([]);
    });
  });

  test('reports the freed bytes once the filesystem was read after the end of the victim', () => {
    const timeline = loop(holders({ a: { nodefs: holding(300n) } }));
    timeline.at(0, full);
    expect(timeline.at(0.1, full, gone)).toEqual([]);
    const before = observations(50_000_000n, { 'nodefs.available': 80n * Mi }); // it says so, but is from before
    expect(timeline.at(0.2, undefined, gone, { observe: () => before })).toEqual([]);
    const outcome = outcomeOf(timeline.at(0.3, { 'nodefs.available': 290n * Mi }, gone));
    expect(outcome).toMatchObject({ result: 'killed', expectedBytes: 300n * Mi, freedBytes: 290n * Mi });
  });

  test('is not followed by another one if nothing is free within a second', () => {
    const timeline = loop(holders({ a: { nodefs: holding(300n) }, b: { nodefs: holding(200n) } }));
    expect(timeline.effects(0, full)).toContain('evict a grace 0');
    expect(timeline.effects(0.5, full, gone)).toEqual([]);
    expect(timeline.effects(1.4, full, gone)).toEqual([]);
    expect(timeline.effects(1.5, full, gone)).toEqual(['killed a 0Mi', 'alert no-yield']);
    timeline.candidates = holders({ b: { nodefs: holding(200n) } });
    expect(timeline.effects(20, full)).toEqual([]);
    expect(timeline.effects(30, { 'nodefs.available': 49n * Mi })).toEqual([]);
    expect(timeline.effects(40, { 'nodefs.available': 50n * Mi })).toEqual([]);
    expect(timeline.effects(50, { 'nodefs.available': 50n * Mi })).toEqual(['evict b grace 0']);
  });

  test('goes on while files are freed one after the other, and no other workload is evicted meanwhile', () => {
    const timeline = loop(holders({ a: { nodefs: holding(300n) }, b: { nodefs: holding(200n) } }));
    expect(timeline.effects(0, full)).toContain('evict a grace 0');
    expect(timeline.effects(0.5, { 'nodefs.available': 20n * Mi }, gone)).toEqual([]);
    expect(timeline.effects(1.4, { 'nodefs.available': 80n * Mi }, gone)).toEqual([]);
    expect(timeline.effects(2.3, { 'nodefs.available': 90n * Mi }, gone)).toEqual([]);
    timeline.candidates = holders({ b: { nodefs: holding(200n) } });
    expect(timeline.effects(3.2, { 'nodefs.available': 280n * Mi }, gone)).toContain('killed a 280Mi');
  });

  test('is not ineffective because little memory is freed', () => {
    const found = holders({ a: { nodefs: holding(300n) } });
    const timeline = loop({
      ...found,
      usages: found.usages.map((usage) => ({
        ...usage,
        stats: usage.stats && { ...usage.stats, workingSetBytes: 500n * Mi, usageBytes: 500n * Mi },
      })),
    });
    timeline.at(0, full);
    timeline.at(0.1, full, { 1: { processes: 0, usageBytes: 499n * Mi } });
    expect(outcomeOf(timeline.at(0.2, { 'nodefs.available': 280n * Mi }, { 1: { processes: 0, usageBytes: 499n * Mi } }))?.result).toBe(
      'killed',
    );
  });
});

test('an empty usage has no bytes and no inodes', () => {
  expect([countedBy('nodefs.available', NONE), countedBy('nodefs.inodesFree', NONE)]).toEqual([0n, 0n]);
});
