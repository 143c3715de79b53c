import { fc } from '../support/property.js';
import { describe, expect, test } from 'vitest';
import { initialState } from '../../src/core/decide/state.js';
import { step } from '../../src/core/decide/step.js';
import { savedStateText, heldIn, restoreState, withoutHeld, type SavedState, type Clocks } from '../../src/state/saved-state.js';
import type { Hold } from '../../src/core/systemd/unit-hold.js';
import { fromJson } from '../../src/storage/tagged-json.js';
import { savedParts, savedStateProblem, significance } from '../../src/state/saved-parts.js';
import { anyPolicy, anyStepInputs } from '../core/arbitrary.js';
import { candidates, input, Mi, policy, SECOND, threshold, workload } from '../core/support.js';
import { Timeline } from '../core/timeline.js';

const owner = { node: 'machine', cgroupId: '', bootId: 'this-boot' };
const hard = threshold('memory.available', '100Mi');
const at = (monotonicSeconds: number, bootSeconds = monotonicSeconds): Clocks => ({
  monotonicNs: BigInt(monotonicSeconds) * SECOND,
  bootNs: BigInt(bootSeconds) * SECOND,
});

/** One eviction in flight since second 100. SIGKILL was sent, and what the others hold is known. */
function bequest(): SavedState {
  const evictionBudget = { max: 5, windowNs: 600n * SECOND, bands: [] };
  const timeline = new Timeline(
    policy([hard], { evictionBudget }),
    candidates([workload('batch'), 300n * Mi], [workload('web'), 20n * Mi]),
  );
  timeline.memory(100, 50n);
  const amounts = new Map([['some', 5n]]);
  const outside = () => ({ cgroups: amounts, counters: amounts, othersAtMost: 0n, unread: [], above: new Set(['/']) });
  timeline.at(100, { 'memory.available': 50n * Mi }, { 1: {} }, { outside });
  const times = { crossingNs: 1n, wakeNs: 2n, decisionNs: 3n, signalNs: 4n, killNs: 4n };
  return {
    state: savedParts(timeline.state),
    signals: new Map([[1, { times, sent: 'killNs' }]]),
    sections: { held: { units: ['a.service'], sinceNs: 5n } },
  };
}
const left = (then: Clocks, own = owner): string => savedStateText(own, then, bequest());

test('a saved state is restored: the parts, the times of signals, and the sections', () => {
  const { state, signals, sections, abandoned, discarded } = restoreState(left(at(101)), owner, policy([hard]), at(103));
  expect(discarded).toBeUndefined();
  expect(state).toMatchObject({ decisions: 1, conditions: ['MemoryPressure'], lastStepNs: 100n * SECOND, evictions: [{ phase: 'dying' }] });
  expect([...state.reported.values()]).toEqual([{ threshold: hard, timesMet: 1, clearSinceNs: undefined }]);
  expect(signals).toEqual(bequest().signals);
  expect(sections).toEqual(bequest().sections);
  expect(abandoned.size).toBe(0);
});

test('a pause by an operator is restored with the same end, and is written at once', () => {
  const pause = { reason: 'disk swap', workload: { name: 'db', path: '/db' }, beganBootNs: 1n, endsBootNs: 9n * SECOND, atNs: 1n };
  const saved = bequest();
  const state = { ...saved.state, pauses: new Map([['/db', pause]]) };
  const restored = restoreState(savedStateText(owner, at(101), { ...saved, state }), owner, policy([hard]), at(103, 1203));
  expect(restored.state.pauses).toEqual(state.pauses);
  expect(significance(state)).not.toBe(significance(saved.state));
});

test('the time that the machine slept counts for saved times', () => {
  const { state, abandoned } = restoreState(left(at(101, 1101)), owner, policy([hard]), at(103, 1203));
  expect(state.lastStepNs).toBe(0n); // 100 of the 102 s were sleep
  expect([...abandoned]).toEqual([[1, 'no evictd ran for 102 s']]);
});

test('the state of an evictd with the former format is restored', () => {
  const saved = bequest();
  const waiting = { name: 'web', path: '/web', taint: 'k=v:NoExecute', createdNs: 1n, dueNs: 900n * SECOND };
  const taintEvictions = new Map([['/web#7', waiting]]);
  // savedStateText writes what it gets: the former format had no brief form.
  const former = savedStateText(owner, at(101), { ...saved, state: { ...saved.state, taintEvictions } }).replace(
    '"format":4',
    '"format":3',
  );
  const { state, discarded } = restoreState(former, owner, policy([hard]), at(103));
  expect(discarded).toBeUndefined();
  expect([...state.taintEvictions.keys()]).toEqual(['/web#7']);
  expect(state.taintEvictions.get('/web#7')).toMatchObject({ name: 'web', path: '/web', taint: 'k=v:NoExecute' });
});

describe('a saved state that is discarded, and evictd still starts', () => {
  test.each<[rule: string, text: string, own: typeof owner, now: Clocks, reason: RegExp]>([
    ['a state of another boot', left(at(101)), { ...owner, bootId: 'another' }, at(103), /^it is of another boot$/],
    ['a state of an unknown boot', left(at(101), { ...owner, bootId: '' }), { ...owner, bootId: '' }, at(103), /is not known$/],
    ['a state of another node', left(at(101)), { ...owner, node: '/web' }, at(103), /^it is of another node \("machine"\)$/],
    ['a state of another node cgroup of that name', left(at(101)), { ...owner, cgroupId: '5' }, at(103), /^it is of another node cgroup/],
    ['a state from a later time', left(at(101)), owner, at(100), /clocks are ahead/],
    ['a state from a later time, by the clock that includes sleep', left(at(101, 200)), owner, at(103, 199), /clocks are ahead/],
    [
      'a state in a later format',
      left(at(101)).replace('"format":4', '"format":5'),
      owner,
      at(103),
      /^it has format 5, and this evictd reads the formats 3 and 4$/,
    ],
    ['text that is not JSON', left(at(101)).slice(1), owner, at(103), /^it is not a state of evictd/],
    ['other JSON', 'null', owner, at(103), /^it is not a state of evictd/],
    ['a part that is missing', left(at(101)).replace('"clocks"', '"other"'), owner, at(103), /^it is not a state of evictd/],
  ])('%s', (_rule, text, own, now, reason) => {
    const { discarded, state, sections, signals } = restoreState(text, own, policy([hard]), now);
    expect(discarded).toMatch(reason);
    expect([state.evictions, state.decisions, sections, signals.size]).toEqual([[], 0, {}, 0]);
  });
});

test('the first invalid place is named, and parts may be missing or additional', () => {
  const whole = fromJson({ ...JSON.parse(left(at(101))), more: 1 }) as { readonly state: object };
  expect(savedStateProblem(whole)).toBeUndefined();
  expect(savedStateProblem({ ...whole, state: {} })).toBeUndefined();
  const evictions = [{ phase: 'terminating' }];
  expect(savedStateProblem({ ...whole, state: { evictions } })).toMatch(/^state\.evictions\[0\]\.\w+/);
  expect(savedStateProblem({ ...whole, state: new Map() })).toBe('state');
  expect(savedStateProblem(7)).toBe('the whole');
});

test('growth since an eviction is known after a restart, and sleep moves its times', () => {
  const { state } = restoreState(left(at(101, 1101)), owner, policy([hard]), at(103, 1203));
  const outside = {
    cgroups: new Map([['some', 5n]]),
    counters: new Map([['some', 5n]]),
    othersAtMost: 0n,
    unread: [],
    above: new Set(['/']),
  };
  expect([...state.baselines]).toEqual([
    [
      'memory.available',
      {
        available: 50n * Mi,
        held: new Map([[workload('web').path, { amount: 20n * Mi }]]),
        outside,
        atNs: 0n,
        since: { kind: 'eviction', decision: 1 },
      },
    ],
  ]);
});

test('a key __proto__ is data like any other', () => {
  const named = { ...bequest(), signals: new Map(), sections: JSON.parse('{"__proto__":{"x":1}}') as Record<string, unknown> };
  const { sections } = restoreState(savedStateText(owner, at(101), named), owner, policy([hard]), at(103));
  expect(Object.entries(sections)).toEqual([['__proto__', { x: 1 }]]);
});

test('a part that an older evictd did not save has its initial value', () => {
  const text = left(at(101)).replace('"settled"', '"unknown"');
  expect(restoreState(text, owner, policy([hard]), at(103))).toMatchObject({
    discarded: undefined,
    state: { settled: new Map(), decisions: 1 },
  });
});

describe('a part of the saved state with any other value is detected, and evictd starts', () => {
  type Path = readonly (string | number)[];
  const whole = JSON.parse(left(at(101))) as Record<string, unknown>;
  const isParent = (value: unknown): value is Record<string | number, unknown> => typeof value === 'object' && value !== null;
  const valueAt = (root: unknown, path: Path): unknown => path.reduce((value, key) => (isParent(value) ? value[key] : undefined), root);
  /** Every place in the file, as a list of keys; without the sections. */
  function placesIn(value: unknown, path: Path = []): Path[] {
    if (!isParent(value)) return [];
    return Object.keys(value)
      .filter((key) => key !== 'sections')
      .map((key) => [...path, Array.isArray(value) ? Number(key) : key])
      .flatMap((place) => [place, ...placesIn(valueAt(whole, place), place)]);
  }
  const replaced = (path: Path, by: unknown): string => {
    const copy = structuredClone(whole);
    const parent = valueAt(copy, path.slice(0, -1));
    if (isParent(parent)) parent[path.at(-1) ?? ''] = by;
    return JSON.stringify(copy);
  };
  const places = placesIn(whole);

  test('has places to change', () => {
    const names = places.map((path) => path.join('.'));
    expect(names).toEqual(
      expect.arrayContaining([
        'state.evictions.0.decision.victim.workload.id',
        'state.baselines.map.0.1.since.kind',
        'state.evictionTimes.map.0.1.0.victim',
        'clocks.bootNs.bigint',
      ]),
    );
  });

  test.each(places.map((path) => [path.join('.'), path] as const))('%s', (_name, path) => {
    for (const by of [null, [[[]]], { bigint: 'else' }, typeof valueAt(whole, path) === 'string' ? 7 : 'something else']) {
      const { discarded, state } = restoreState(replaced(path, by), owner, policy([hard]), at(103));
      expect(discarded).toBeDefined();
      expect(state.evictions).toEqual([]);
    }
  });
});

test('every state that a step can return is restored', () => {
  const hold = { unit: 'a.service', decision: 1, start: ['a.socket'], unstarted: [], condition: 'MemoryPressure', untilNs: 5n } as const;
  const stop = {
    kind: 'stop',
    dependants: ['b.service'],
    triggers: [],
    timers: [],
    running: [],
    affected: ['c.service'],
    restarts: true,
  } as const;
  fc.assert(
    fc.property(anyPolicy, fc.array(anyStepInputs, { minLength: 1, maxLength: 8 }), fc.boolean(), (drawn, timeline, isUnit) => {
      let state = initialState;
      let nowNs = 100n * SECOND;
      for (const reported of timeline) {
        nowNs += reported.afterNs;
        const observed = reported.observed && { observed: reported.observed, missing: new Map() };
        const { reading } = reported;
        const victims = new Map(reading ? state.evictions.map(({ decision }) => [decision.serial, reading]) : []);
        ({ state } = step(
          drawn,
          state,
          input(nowNs, observed, { layout: reported.layout, victims, candidates: () => reported.candidates }),
        ));
      }
      if (isUnit) {
        const evictions = state.evictions.map((it) => ({ ...it, decision: { ...it.decision, unit: { evictions: 1, stop, hold } } }));
        state = { ...state, evictions, held: new Map([['a.service', hold]]), unitEvictions: new Map([['/a.service', [1n]]]) };
        state = { ...state, evictionTimes: new Map([['inodes', [{ decision: 1, atNs: 5n, priority: -7 }]]]) };
      }
      const text = savedStateText(
        owner,
        { monotonicNs: nowNs, bootNs: nowNs },
        { state: savedParts(state), signals: new Map(), sections: {} },
      );
      expect(restoreState(text, owner, drawn, { monotonicNs: nowNs, bootNs: nowNs }).discarded).toBeUndefined();
    }),
    { numRuns: 300 },
  );
});

describe('the units that are kept stopped, read without the rest of the state', () => {
  const hold = (unit: string): Hold => ({
    unit,
    decision: 1,
    start: [unit],
    unstarted: [],
    condition: 'MemoryPressure',
    untilNs: undefined,
  });
  const { state: known, ...rest } = bequest();
  const held = new Map(['a.service', 'b.service'].map((unit) => [unit, hold(unit)]));
  const text = savedStateText(owner, at(101), { ...rest, state: { ...known, held } });

  test('are those of this boot, of any node, and a state of another boot has none', () => {
    expect(heldIn(text, 'this-boot')).toEqual({ node: 'machine', holds: [hold('a.service'), hold('b.service')] });
    expect(heldIn(text, 'another').holds).toEqual([]);
  });

  test('without the started ones, written by withoutHeld, leave the rest unchanged', () => {
    const left = withoutHeld(text, new Set(['a.service']));
    expect(heldIn(left, 'this-boot').holds).toEqual([hold('b.service')]);
    expect(restoreState(left, owner, policy([hard]), at(103))).toMatchObject({ state: { decisions: 1, evictions: [{ phase: 'dying' }] } });
    expect(withoutHeld(text, new Set())).toBe(text);
  });

  test('in a state of another format are an error', () => {
    expect(() => heldIn(text.replace(/"format":\d+/, '"format":0'), 'this-boot')).toThrow(/^it has format 0/);
    expect(() => heldIn(text.replace('"held":{"map"', '"held":{"set"'), 'this-boot')).toThrow(/^it is not a state of evictd/);
  });
});
