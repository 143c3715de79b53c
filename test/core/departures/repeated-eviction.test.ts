import { expect, test } from 'vitest';
import type { Effect } from '../../../src/core/decide/effect.js';
import { takeOver } from '../../../src/core/decide/remembered-state.js';
import { carriedOut, orderedThreshold, standingDecisions } from '../../../src/core/decide/standing-order.js';
import { initialState, type Policy, type State } from '../../../src/core/decide/state.js';
import { step } from '../../../src/core/decide/step.js';
import { savedParts } from '../../../src/state/saved-parts.js';
import { fromJson, toJson } from '../../../src/storage/tagged-json.js';
import { candidates, input, Mi, observations, policy, SECOND, threshold, workload } from '../support.js';
import { Timeline } from '../timeline.js';

/**
 * Departure budget. A workload that is started again after its eviction, and leaks again, does not use up the budget of
 * the others: it counts once.
 */
const memory = threshold('memory.available', '100Mi');

type Sizes = Readonly<Record<string, number>>;

class Restarting extends Timeline {
  /** Each start of a workload has another id at the same path. */
  starts: Record<string, number> = {};

  constructor(max: number, overrides: Partial<Policy> = {}) {
    super(policy([memory], { evictionBudget: { max, windowNs: 600n * SECOND, bands: [] }, ...overrides }), candidates());
  }

  /** The names of the workloads that are evicted, and alerts, when these are there with so many MiB. */
  look(seconds: number, available: number, sizes: Sizes): string[] {
    this.candidates = candidates(
      ...Object.entries(sizes).map(([name, mebibytes]): [ReturnType<typeof workload>, bigint] => {
        const id = `/apps/${name}#${String(this.starts[name] ?? 0)}`;
        return [workload(name, { id, path: `/apps/${name}`, priority: name === 'x' ? -1 : 0 }), BigInt(mebibytes) * Mi];
      }),
    );
    const gone = this.state.evictions.map(({ decision: { serial } }) => [serial, { processes: 0, usageBytes: 0n, signalledAtNs: 1n }]);
    const effects: readonly Effect[] = this.at(
      seconds,
      { 'memory.available': BigInt(available) * Mi },
      Object.fromEntries(gone) as Record<number, object>,
    );
    return effects.flatMap((effect) => {
      if (effect.kind === 'alert') return [effect.alert];
      return effect.kind === 'evict' ? [`${effect.decision.victim.workload.name}${effect.decision.repeats ? ' again' : ''}`] : [];
    });
  }

  /** x uses 80 MiB and is evicted; it is gone a second later, and starts again. */
  evictX(seconds: number): string[] {
    const victims = this.look(seconds, 99, { x: 80, ...this.others });
    this.look(seconds + 1, 170, this.others);
    this.starts.x = (this.starts.x ?? 0) + 1;
    return victims;
  }

  others: Sizes = { a: 10, b: 11, c: 12, d: 13 };

  get counted(): readonly (string | undefined)[] {
    return (this.state.evictionTimes.get('memory') ?? []).map(({ victim }) => victim);
  }
}

test('a workload that leaks again is evicted each time, and the other workloads have the rest of the budget', () => {
  const timeline = new Restarting(2);
  expect([0, 10, 20, 30, 40, 50].map((second) => timeline.evictX(second))).toEqual([['x'], ...Array<string[]>(5).fill(['x again'])]);
  expect(timeline.counted).toEqual(['/apps/x']);
  expect(timeline.look(200, 90, timeline.others)).toEqual(['d']);
  timeline.others = { a: 10, b: 11, c: 12 };
  timeline.look(201, 120, timeline.others);
  expect(timeline.look(300, 90, timeline.others)).toEqual(['budget-exhausted']);
});

test('with the budget used up a workload that was evicted before and grows again is still evicted, and no other one is', () => {
  const timeline = new Restarting(1);
  timeline.evictX(0);
  expect(timeline.look(10, 99, { x: 60, ...timeline.others })).toEqual(['x again']);
  timeline.look(11, 150, timeline.others);
  expect(timeline.look(100, 90, timeline.others)).toEqual(['budget-exhausted']);
});

test.each<[rule: string, available: number, sizes: Sizes]>([
  ['the workload has not grown', 90, { x: 2, a: 60 }],
  ['other workloads have grown more', 60, { x: 30, a: 90 }],
  ['memory outside the workloads has grown more', 40, { x: 30, a: 10 }],
])('with the budget used up and %s, no workload is evicted', (_rule, available, sizes) => {
  const timeline = new Restarting(1);
  timeline.evictX(0);
  expect(timeline.look(100, available, { ...timeline.others, ...sizes })).toEqual(['budget-exhausted']);
});

test('a repeated eviction uses the budget if another workload is the one that grows', () => {
  const timeline = new Restarting(2);
  timeline.evictX(0);
  expect(timeline.look(100, 90, { ...timeline.others, x: 5, a: 80 })).toEqual(['x']);
  expect(timeline.counted).toEqual(['/apps/x', '/apps/x']);
});

test('a repeated eviction counts at the time of the last one, so that no window has more victims', () => {
  const timeline = new Restarting(2);
  timeline.evictX(0);
  timeline.evictX(590);
  expect(timeline.look(700, 90, timeline.others)).toEqual(['d']);
  timeline.others = { a: 10, b: 11, c: 12 };
  timeline.look(701, 120, timeline.others);
  expect(timeline.look(1189, 90, timeline.others)).toEqual(['budget-exhausted']);
  expect(timeline.look(1190, 90, timeline.others)).toEqual(['c']);
});

test('several workloads that restart count once each, and the one that grew most is evicted', () => {
  const timeline = new Restarting(2);
  timeline.evictX(0);
  expect(timeline.look(70, 99, timeline.others)).toEqual(['d']);
  const { d: _, ...others } = timeline.others as { d: number };
  timeline.look(71, 112, others);
  timeline.starts.d = 1;
  expect(timeline.look(100, 60, { ...others, x: 30, d: 40 })).toEqual(['d again']);
  expect(timeline.counted).toEqual(['/apps/x', '/apps/d']);
});

test('a repeated eviction by standing order counts once, too', () => {
  const timeline = new Restarting(2);
  timeline.evictX(0);
  timeline.look(8, 120, { x: 50, ...timeline.others });
  const found = timeline.candidates;
  const nowNs = 9n * SECOND;
  const readings = observations(nowNs, { 'memory.available': 110n * Mi });
  const near = orderedThreshold(timeline.policy, readings);
  const [prepared] = near
    ? standingDecisions(timeline.policy, timeline.state, near, { nowNs, layout: 'single', observations: readings, candidates: found })
    : [];
  if (prepared === undefined) throw new Error('there is no order');
  const times = { crossedAtNs: 10n * SECOND, signalledAtNs: 10n * SECOND };
  const ordered = carriedOut(prepared, { available: 99n * Mi, usage: 71n * Mi, ...times });
  const { effects, state } = step(timeline.policy, timeline.state, input(10n * SECOND, readings, { candidates: () => found, ordered }));
  expect(effects[0]).toMatchObject({ kind: 'evict', decision: { repeats: true } });
  expect(state.evictionTimes.get('memory')).toMatchObject([{ victim: '/apps/x', atNs: 10n * SECOND }]);
});

test('after a restart of evictd a repeated eviction still counts once', () => {
  const timeline = new Restarting(1);
  timeline.evictX(0);
  const saved = fromJson(toJson(savedParts(timeline.state))) as State;
  timeline.state = takeOver(timeline.policy, { ...initialState, ...saved }, { awayNs: 1n, sleptNs: 0n }, 5n * SECOND).state;
  expect(timeline.look(10, 99, { x: 60, ...timeline.others })).toEqual(['x again']);
});
