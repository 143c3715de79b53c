import { fc } from '../../support/property.js';
import { describe, expect, test } from 'vitest';
import type { Effect } from '../../../src/core/decide/effect.js';
import type { Hold } from '../../../src/core/systemd/unit-hold.js';
import { initialState, type Policy, type State } from '../../../src/core/decide/state.js';
import { step } from '../../../src/core/decide/step.js';
import { isWaiting, takeOver, type Downtime } from '../../../src/core/decide/remembered-state.js';
import { restoredParts, savedParts, significance } from '../../../src/state/saved-parts.js';
import { fromJson, toJson } from '../../../src/storage/tagged-json.js';
import { anyPolicy, anyStepInputs, type StepInputs } from '../arbitrary.js';
import { candidates, input, Mi, policy, SECOND, threshold, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

const soft = threshold('memory.available', '200Mi', { graceSeconds: 60 });
const hard = threshold('memory.available', '100Mi');
const all = candidates([workload('batch'), 300n * Mi], [workload('web'), 50n * Mi]);
const away = (awaySeconds: number, sleptSeconds = 0): Downtime => ({
  awayNs: BigInt(awaySeconds) * SECOND,
  sleptNs: BigInt(sleptSeconds) * SECOND,
});

/** Through the file and back, as the next process sees it. */
const kept = (state: State): State => ({
  ...initialState,
  ...restoredParts(fromJson(JSON.parse(JSON.stringify(toJson(savedParts(state))))) as State),
});

function takenOver(timeline: Timeline, second: number, gone: Downtime): ReadonlyMap<number, string> {
  const { state, abandoned } = takeOver(timeline.policy, kept(timeline.state), gone, BigInt(second) * SECOND);
  timeline.state = state;
  return abandoned;
}

test('the age of the last eviction is kept without the time that the machine slept', () => {
  const since = { kind: 'eviction', decision: 1, freed: 1n, endedAtNs: 50n * SECOND } as const;
  const base = { available: 1n, held: new Map(), atNs: 40n * SECOND, since };
  const state: State = { ...initialState, baselines: new Map([['memory.available', base]]) };
  const { baselines } = takeOver(policy([hard]), state, away(30, 20), 60n * SECOND).state;
  expect(baselines.get('memory.available')).toMatchObject({ atNs: 20n * SECOND, since: { endedAtNs: 30n * SECOND } });
  const paused: State = {
    ...state,
    baselines: new Map([['memory.available', { ...base, since: { kind: 'no-yield', relief: 1n, last: since } }]]),
  };
  const inPause = takeOver(policy([hard]), paused, away(30, 20), 60n * SECOND).state.baselines;
  expect(inPause.get('memory.available')).toMatchObject({ since: { relief: 1n, last: { endedAtNs: 30n * SECOND } } });
});

describe('an evictd that is started again', () => {
  test.each<[rule: string, at: number, gone: Downtime, evictedAt: number | undefined]>([
    ['within three intervals a grace period goes on', 40, away(20), 60],
    ['three intervals are not a gap', 50, away(30), 60],
    ['after more than three intervals the grace period restarts, because the time between was not observed', 51, away(31), 111],
    ['the sleep of the machine is a gap, though the monotonic clock does not count it', 25, away(45, 40), 85],
  ])('%s', (_rule, at, gone, evictedAt) => {
    const timeline = new Timeline(policy([soft]), all);
    for (const second of [0, 10, 20]) timeline.memory(second, 150n);
    takenOver(timeline, at, gone);
    const seconds = Array.from({ length: 100 }, (_, index) => at + index);
    expect(seconds.find((second) => evicted(timeline.memory(second, 150n)).length > 0)).toBe(evictedAt);
  });

  test('repeats no message: no episode begins, no condition changes, no alert is repeated', () => {
    const timeline = new Timeline(policy([hard], { hasWorkloadSource: false }), candidates());
    expect(timeline.memory(0, 50n)).toHaveLength(3);
    takenOver(timeline, 1, away(1));
    expect(timeline.memory(2, 50n)).toEqual([]);
  });

  test('still owes the min reclaim', () => {
    const owing = threshold('memory.available', '100Mi', { minReclaim: '100Mi' });
    const timeline = new Timeline(policy([owing]), all);
    timeline.memory(0, 0n);
    timeline.memory(0.5, 0n, { 1: {} });
    takenOver(timeline, 1, away(1));
    expect(evicted(timeline.memory(1, 150n, { 1: { processes: 0, removed: true } }))).toEqual(['evict batch grace 0']);
  });

  test('continues the serial, and passes over workloads that could not be killed', () => {
    const timeline = new Timeline(policy([hard]), all);
    timeline.memory(0, 50n);
    timeline.memory(1, 150n, { 1: { processes: 1, error: 'EPERM' } });
    takenOver(timeline, 2, away(1));
    const effects = timeline.at(3, { 'memory.available': 50n * Mi });
    const decided = effects.flatMap((effect) => (effect.kind === 'evict' ? [effect.decision] : []));
    expect(decided).toMatchObject([{ serial: 2, victim: { workload: { name: 'web' } } }]);
  });

  test('evicts no other workload for the resource of a victim in flight, and reports its outcome', () => {
    const timeline = new Timeline(policy([hard]), all);
    timeline.memory(0, 50n);
    expect(takenOver(timeline, 5, away(5)).size).toBe(0);
    expect(timeline.memory(5, 50n, { 1: {} })).toEqual([]);
    expect(timeline.memory(6, 350n, { 1: { processes: 0, removed: true } })).toContain('killed batch 300Mi');
  });

  test('restarts the time limit of a victim with SIGKILL', () => {
    const timeline = new Timeline(policy([hard]), all);
    timeline.memory(0, 50n);
    takenOver(timeline, 50, away(50));
    expect(timeline.memory(50, 50n, { 1: {} })).toEqual([]);
    expect(timeline.memory(51.3, 50n, { 1: {} })).toContain('failed batch 0Mi');
  });

  test('a victim keeps what is left of its grace, in which the sleep of the machine does not count', () => {
    const timeline = new Timeline(policy([threshold('memory.available', '200Mi', { graceSeconds: 1 })]), all);
    timeline.memory(0, 150n);
    timeline.memory(1, 150n);
    takenOver(timeline, 5, away(59, 55));
    expect(timeline.memory(10, 150n, { 1: {} })).not.toContain('escalate: grace period over');
    expect(timeline.memory(11, 150n, { 1: {} })).toContain('escalate: grace period over');
  });

  test.each<[awaySeconds: number, intervalSeconds: bigint, goesOn: boolean]>([
    [60, 10n, true],
    [61, 10n, false],
    [61, 60n, true],
    [180, 60n, true],
    [181, 60n, false],
  ])('after %d s, at an interval of %d s, an eviction in flight goes on: %s', (seconds, interval, goesOn) => {
    const timeline = new Timeline(policy([hard], { monitoringIntervalNs: interval * SECOND }), all);
    timeline.memory(0, 50n);
    const abandoned = takenOver(timeline, seconds, away(seconds));
    expect(abandoned).toEqual(new Map(goesOn ? [] : [[1, `no evictd ran for ${String(seconds)} s`]]));
  });

  test('an abandoned eviction is not counted, and its workload may be selected again', () => {
    const timeline = new Timeline(policy([hard]), all);
    timeline.memory(0, 50n);
    takenOver(timeline, 100, away(100));
    const effects = timeline.at(100, { 'memory.available': 50n * Mi }, { 1: { abandoned: 'the unit was not read' } });
    expect(effects).toMatchObject([
      {
        kind: 'outcome',
        outcome: { result: 'abandoned', abandoned: 'the unit was not read', counted: false, freedBytes: 0n, processesLeft: 1 },
      },
      { kind: 'attempt' },
      { kind: 'evict', decision: { serial: 2, victim: { workload: { name: 'batch' } } } },
    ]);
  });
});

test.each([true, false])('units that are kept stopped are remembered, also with departure restart-memory %s', (remembers) => {
  const hold = {
    unit: 'a.service',
    decision: 1,
    start: ['a.service'],
    unstarted: [],
    condition: 'MemoryPressure',
    untilNs: 90n * SECOND,
  } as const;
  const held = new Map<string, Hold>([
    ['a.service', hold],
    ['b.service', { ...hold, unit: 'b.service', untilNs: undefined }],
  ]);
  const budgeted = { decision: 1, atNs: 70n * SECOND, priority: 0 };
  const state: State = {
    ...initialState,
    held,
    unitEvictions: new Map([['/a.service', [70n * SECOND]]]),
    evictionTimes: new Map([['memory', [budgeted]]]),
  };
  const departures = { ...policy([]).departures, 'restart-memory': remembers };
  const { state: next } = takeOver(policy([hard], { departures }), kept(state), away(50, 40), 80n * SECOND);
  expect([...next.held.values()].map(({ untilNs }) => untilNs)).toEqual([50n * SECOND, undefined]); // 40 s of it were slept away
  expect(next.evictionTimes).toEqual(new Map([['memory', [{ ...budgeted, atNs: 30n * SECOND }]]]));
  expect(significance(state)).not.toBe(significance({ ...state, evictionTimes: new Map() }));
  expect(next.unitEvictions).toEqual(new Map([['/a.service', [30n * SECOND]]]));
  expect(significance(state)).not.toBe(significance({ ...state, held: new Map() }));
  expect(isWaiting(state)).toBe(true);
});

test('rankings are not saved, because the journal has them', () => {
  const timeline = new Timeline(policy([hard]), all);
  timeline.memory(0, 50n);
  expect(timeline.state.evictions[0]?.decision.ranking).toHaveLength(2);
  expect(savedParts(timeline.state).evictions).toMatchObject([{ decision: { ranking: [], victim: { workload: { name: 'batch' } } } }]);
});

test('a decision, an escalation and an outcome are significant changes; the passing of time is not', () => {
  const timeline = new Timeline(policy([threshold('memory.available', '200Mi', { graceSeconds: 1 })]), all);
  const texts = [significance(timeline.state)];
  const after = (...reading: Parameters<Timeline['memory']>): void => {
    timeline.memory(...reading);
    texts.push(significance(timeline.state));
  };
  after(0, 500n);
  expect(isWaiting(timeline.state)).toBe(false);
  after(10, 150n); // begins
  after(10.5, 150n); // goes on
  after(11, 150n); // evicts
  after(12, 150n, { 1: {} }); // goes on
  after(21, 150n, { 1: {} }); // escalates
  after(22, 150n, { 1: { processes: 0, removed: true } });
  expect(isWaiting(timeline.state)).toBe(true);
  expect(texts.map((text, index) => index > 0 && text !== texts[index - 1])).toEqual([false, false, true, false, true, false, true, true]);
});

/** Runs on from a state; a policy without collections, because what they do ends with the process. */
function run(
  drawn: Policy,
  state: State,
  timeline: readonly StepInputs[],
  fromNs: bigint,
): { state: State; nowNs: bigint; effects: Effect[] } {
  const effects: Effect[] = [];
  let nowNs = fromNs;
  for (const { afterNs, observed, reading, candidates: found } of timeline) {
    nowNs += afterNs > 0n ? afterNs : 1n;
    const fresh = observed && new Map([...observed].map(([signal, each]) => [signal, { ...each, timeNs: undefined }]));
    const made = step(
      drawn,
      state,
      input(nowNs, fresh && { observed: fresh, missing: new Map() }, {
        victims: new Map(reading ? state.evictions.map(({ decision }) => [decision.serial, reading]) : []),
        candidates: () => found,
      }),
    );
    state = made.state;
    effects.push(...made.effects);
  }
  return { state, nowNs, effects };
}

test('after any history, an evictd that takes over in time makes the decisions of its predecessor', () => {
  const timelines = fc.array(anyStepInputs, { maxLength: 8 });
  fc.assert(
    fc.property(anyPolicy, timelines, timelines, (any, before, after) => {
      const drawn = { ...any, collections: new Set<never>(), departures: { ...any.departures, 'restart-memory': true } };
      const first = run(drawn, initialState, before, 1000n * SECOND);
      fc.pre(first.state.evictions.every(({ phase }) => phase === 'terminating')); // SIGKILL begins anew
      const { state } = takeOver(drawn, kept(first.state), away(0), first.nowNs);
      // The layout is found out anew, and thresholds that are derived from it count from the next step on.
      const layout: StepInputs = {
        afterNs: 1n,
        layout: 'single',
        observed: undefined,
        reading: undefined,
        reclaimed: false,
        candidates: candidates(),
      };
      const [one, other] = [first.state, state].map((each) =>
        run(drawn, each, [layout, ...after], first.nowNs).effects.map(withoutRanking),
      );
      expect(other).toEqual(one);
    }),
    { numRuns: 400 },
  );
});

test('an evictd takes over any state without throwing, keeps every eviction, and steps from it', () => {
  const timelines = fc.array(anyStepInputs, { maxLength: 8 });
  const gone = fc.record({ awayNs: fc.bigInt(0n, 400n * SECOND), sleptNs: fc.bigInt(0n, 400n * SECOND) });
  fc.assert(
    fc.property(anyPolicy, timelines, gone, timelines, (drawn, before, absence, after) => {
      const first = run(drawn, initialState, before, 1000n * SECOND);
      const { state } = takeOver(drawn, kept(first.state), absence, first.nowNs);
      const serials = (each: State): number[] => each.evictions.map(({ decision }) => decision.serial);
      expect(serials(state)).toEqual(serials(first.state));
      expect(state.decisions).toBe(first.state.decisions);
      run(drawn, state, after, first.nowNs);
    }),
    { numRuns: 400 },
  );
});

/** The ranking of an eviction that was taken over stands in the journal only. */
function withoutRanking(effect: Effect): unknown {
  if (effect.kind === 'outcome') return { ...effect, outcome: { ...effect.outcome, decision: effect.outcome.decision.serial } };
  if (effect.kind === 'escalate') return { ...effect, decision: effect.decision.serial };
  return effect;
}
