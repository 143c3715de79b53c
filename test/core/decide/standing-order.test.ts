import { describe, expect, test } from 'vitest';
import type { Decision } from '../../../src/core/decide/eviction.js';
import { departuresOf } from '../../../src/core/decide/departures.js';
import {
  carriedOut,
  hasFallen,
  isNear,
  orderedThreshold,
  renewalNs,
  standingDecisions,
  type OrderedThreshold,
} from '../../../src/core/decide/standing-order.js';
import { initialState, type Policy, type State } from '../../../src/core/decide/state.js';
import { step } from '../../../src/core/decide/step.js';
import type { StepInput } from '../../../src/core/decide/step-input.js';
import type { Candidates, Workload } from '../../../src/core/workload/workload.js';
import { candidates, input, Mi, observations, policy, requesting, SECOND, threshold, workload } from '../support.js';

const hard = threshold('memory.available', '100Mi');
const NOW = 50n * SECOND;
const seen = (available: bigint) => observations(NOW, { 'memory.available': available });

const orderedOf = (of: Policy, available = 150n * Mi): OrderedThreshold => {
  const ordered = orderedThreshold(of, seen(available));
  if (ordered === undefined) throw new Error('no threshold has orders');
  return ordered;
};

function decisions(found: Candidates, of: Policy = policy([hard]), state: State = initialState): readonly Decision[] {
  const input = { nowNs: NOW, layout: 'single', observations: seen(150n * Mi), candidates: found } as const;
  return standingDecisions(of, state, orderedOf(of), input);
}

const names = (list: readonly Decision[]): readonly string[] => list.map(({ victim }) => victim.workload.name);

const three = candidates([workload('web'), 50n * Mi], [workload('batch'), 300n * Mi], [workload('job'), 200n * Mi]);

describe('the threshold with standing orders', () => {
  test('is the highest hard threshold of memory.available; soft, joined and delayed ones and other signals have no orders', () => {
    const soft = threshold('memory.available', '400Mi', { graceSeconds: 30 });
    const joined = { ...threshold('memory.available', '500Mi'), also: [threshold('memory.kernelAvailable', '1Gi')], kind: 'hard' } as const;
    const delayed = { ...threshold('memory.available', '600Mi', { graceSeconds: 1 }), kind: 'hard' } as const;
    const other = threshold('memory.kernelAvailable', '700Mi');
    const lower = { ...threshold('memory.available', '50Mi'), kind: 'hard' } as const;
    expect(orderedOf(policy([soft, joined, delayed, other, lower, hard])).threshold).toBe(hard);
    expect(orderedThreshold(policy([soft, joined, delayed, other]), seen(0n))).toBeUndefined();
    expect(orderedThreshold(policy([hard]), observations(NOW, {}))).toBeUndefined();
  });

  test.each([
    ['below twice the threshold', 200n * Mi - 1n, true],
    ['at twice the threshold', 200n * Mi, false],
  ])('counts a reading as near: %s', (_rule, available, near) => {
    expect(isNear(orderedOf(policy([hard]), available))).toBe(near);
  });

  test.each<[rule: string, before: bigint | undefined, secondsAgo: bigint, dueNs: bigint]>([
    ['after half of their life without an earlier reading', undefined, 1n, 5n * SECOND],
    ['after half of their life while memory does not fall', 150n * Mi, 1n, 5n * SECOND],
    ['after half of their life while memory rises', 140n * Mi, 1n, 5n * SECOND],
    ['after a quarter of the time until memory reaches the threshold', 160n * Mi, 1n, (5n * SECOND) / 4n],
    ['after half of their life while memory falls slowly', 151n * Mi, 9n, 5n * SECOND],
    ['after at least 100 ms while memory falls fast', 900n * Mi, 1n, SECOND / 10n],
  ])('renews its orders %s', (_rule, available, secondsAgo, dueNs) => {
    const before = available === undefined ? undefined : { available, capacity: 1n, timeNs: NOW - secondsAgo * SECOND, source: '' };
    expect(renewalNs(orderedOf(policy([hard])), before, NOW) - NOW).toBe(dueNs);
  });
});

test.each<[rule: string, before: bigint | undefined, has: boolean]>([
  ['there was no order before', undefined, false],
  ['a quarter of what was left is used up', 168n * Mi, true],
  ['less than a quarter', 166n * Mi, false],
  ['memory rises', 100n * Mi, false],
])('memory has fallen enough for new orders, at 150 MiB of a threshold of 100 MiB: %s', (_rule, available, has) => {
  const before = available === undefined ? undefined : { available, capacity: 1n, timeNs: NOW, source: '' };
  expect(hasFallen(orderedOf(policy([hard])), before)).toBe(has);
});

describe('the decisions of standing orders', () => {
  test('are the decision of a step that crosses the threshold, and those for the workloads that may become larger', () => {
    const prepared = decisions(three);
    expect(names(prepared)).toEqual(['batch', 'job', 'web']);
    expect(prepared.map(({ serial, graceNs, dryRun }) => [serial, graceNs, dryRun])).toEqual(Array(3).fill([1, 0n, false]));
    expect(prepared[1]?.ranking).toBe(prepared[0]?.ranking);
    const { effects } = step(policy([hard]), initialState, {
      nowNs: NOW,
      layout: 'single',
      observe: () => seen(100n * Mi - 1n),
      victims: new Map(),
      reclaimed: undefined,
      candidates: () => three,
    });
    expect(effects.flatMap((effect) => (effect.kind === 'evict' ? [effect.decision] : []))).toEqual([prepared[0]]);
  });

  test('are none while an eviction without yield, or a leak, pauses evictions', () => {
    const paused: State = { ...initialState, withoutYield: new Map([['memory.available', 90n * Mi]]) };
    expect(decisions(three, policy([hard]), paused)).toEqual([]);
    const base = { available: 99n * Mi, held: new Map(), atNs: NOW, since: { kind: 'leak', freed: 1n } } as const;
    const leak: State = { ...initialState, baselines: new Map([['memory.available', base]]) };
    expect(decisions(three, policy([hard]), leak)).toEqual([]);
  });

  test.each<[rule: string, grown: bigint, departures: Policy['departures'], orders: number]>([
    ['are none while the consumer of the last freed memory may not be evicted', 0n, departuresOf('evictd'), 0],
    ['are those for workloads that have grown', 40n, departuresOf('evictd'), 3],
    ['are all decisions if there is no departure budget', 0n, departuresOf('evictd', { budget: false }), 3],
  ])('%s', (_rule, grown, departures, orders) => {
    const [first] = decisions(three);
    if (first === undefined) throw new Error('there is no decision');
    const held = new Map(
      first.ranking.map(({ workload: { path }, stats }) => [path, { amount: (stats?.workingSetBytes ?? 0n) - grown * Mi }]),
    );
    const since = { kind: 'eviction', decision: 1, freed: 102n * Mi, endedAtNs: NOW } as const;
    // 51 of 102 MiB are consumed again: 150 MiB are available
    const baselines = new Map([['memory.available', { available: 99n * Mi, held, atNs: NOW, since }]] as const);
    expect(decisions(three, policy([hard], { departures }), { ...initialState, baselines })).toHaveLength(orders);
  });

  test('subtract memory that stays after the end of the workload from its usage', () => {
    const usages = three.usages.map(({ workload: of, stats }) => ({ workload: of, stats: stats && { ...stats, staysBytes: 20n * Mi } }));
    const [prepared] = decisions({ ...three, usages });
    if (prepared === undefined) throw new Error('there is no decision');
    const times = { available: 0n, crossedAtNs: 1n, signalledAtNs: 2n };
    expect(carriedOut(prepared, { ...times, usage: 310n * Mi }).victim.aboveRequestNano).toBe(290n * Mi * 1_000_000_000n);
  });

  test('include only workloads that differ by their usage alone, and at most eight', () => {
    const others = candidates(
      [workload('first'), 300n * Mi],
      [workload('same'), 200n * Mi],
      [workload('important', { priority: 1 }), 900n * Mi],
      [workload('within', { requests: requesting(500n * Mi) }), 400n * Mi],
      [workload('avoided', { avoid: true }), 900n * Mi],
      [workload('critical', { protection: { kind: 'critical' } }), 900n * Mi],
    );
    const unknown = { workload: workload('unknown'), stats: undefined };
    expect(names(decisions({ ...others, usages: [...others.usages, unknown] }))).toEqual(['first', 'same']);
    const many = candidates(
      ...Array.from({ length: 20 }, (_, index): [Workload, bigint] => [workload(`w${String(index)}`), BigInt(300 - index) * Mi]),
    );
    let asked = 0;
    expect(decisions({ ...many, veto: () => void (asked += 1) })).toHaveLength(8);
    expect(asked).toBe(8); // it looks for processes
  });

  test('are for the largest workloads as measured, where only bounds are known', () => {
    const sizes = [300n, 290n, 280n, 270n, 260n, 250n, 240n, 230n, 220n, 210n, 200n].map((size) => size * Mi);
    const exact = candidates(...sizes.map((size, index): [Workload, bigint] => [workload(`w${String(index)}`), size]));
    // Behind the first one all seem to use nearly 300 MiB: w1 has 289 MiB of page cache.
    const measuredBytes = (index: number) => (index === 1 ? 10n * Mi : (sizes[index] ?? 0n));
    const usages = exact.usages.map(({ workload: of, stats }, index) => ({
      workload: of,
      stats: stats && { ...stats, workingSetBytes: (300n - BigInt(index)) * Mi, workingSetAtMost: true as const },
    }));
    const bounded: Candidates = {
      ...exact,
      usages,
      measure: ({ name }) => {
        const { stats } = exact.usages.find(({ workload: of }) => of.name === name) ?? {};
        return stats && { ...stats, workingSetBytes: measuredBytes(Number(name.slice(1))) };
      },
    };
    expect(names(decisions(bounded))).toEqual(['w0', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8']);
    expect(decisions(bounded).every(({ victim: { stats } }) => stats?.workingSetAtMost === undefined)).toBe(true);
    for (const { victim, ranking } of decisions(bounded)) {
      expect(ranking.indexOf(victim)).toBe(victim.place - 1);
      expect(ranking.map(({ place }) => place)).toEqual(sizes.map((_size, index) => index + 1));
    }
  });

  test('include no workload that is vetoed, that could not be killed, or whose facts are outstanding', () => {
    const veto: Candidates = { ...three, veto: ({ name }) => (name === 'job' ? { kind: 'removed' } : undefined) };
    expect(names(decisions(veto))).toEqual(['batch', 'web']);
    expect(names(decisions({ ...three, awaited: ({ name }) => name === 'job' }))).toEqual(['batch', 'web']);
    // As a step: a hard threshold of memory waits for no answer.
    expect(names(decisions({ ...three, awaited: ({ name }) => name === 'batch' }))).toEqual(['batch', 'job', 'web']);
    const failed: State = { ...initialState, failedKills: new Map([['id-job', NOW + SECOND]]) };
    expect(names(decisions(three, policy([hard]), failed))).toEqual(['batch', 'web']);
  });

  test.each<[why: string, of: Partial<Policy>]>([
    ['a dry run', { dryRun: true }],
    ['no workload source', { hasWorkloadSource: false }],
    ['a grace period', { departures: departuresOf('evictd', { 'hard-grace': false }) }],
    ['the profile of the kubelet, which has one', { departures: departuresOf('kubelet') }],
  ])('do not exist with %s', (_why, of) => {
    expect(decisions(three, policy([hard], of))).toEqual([]);
  });

  test('do not exist while a victim for memory is in flight, or when all workloads are protected', () => {
    const [first] = decisions(three);
    if (first === undefined) throw new Error('none');
    const ordered = step(policy([hard]), initialState, {
      nowNs: NOW,
      layout: 'single',
      observe: () => seen(99n * Mi),
      victims: new Map(),
      reclaimed: undefined,
      candidates: () => three,
      ordered: first,
    });
    expect(decisions(three, policy([hard]), ordered.state)).toEqual([]);
    expect(decisions(candidates([workload('db', { protection: { kind: 'critical' } }), 900n * Mi]))).toEqual([]);
  });
});

describe('a standing order that was carried out', () => {
  const times = { crossedAtNs: NOW + SECOND, signalledAtNs: NOW + 2n * SECOND };

  test('gives a decision with the values at the moment of the signal', () => {
    const [prepared] = decisions(candidates([workload('batch', { requests: requesting(100n * Mi) }), 300n * Mi]));
    if (prepared === undefined) throw new Error('none');
    const done = carriedOut(prepared, { available: 7n * Mi, usage: 900n * Mi, ...times });
    expect(done).toMatchObject({
      serial: 1,
      decidedAtNs: times.signalledAtNs,
      standingOrder: { preparedAtNs: NOW, ...times },
      cause: { observation: { available: 7n * Mi, timeNs: times.crossedAtNs } },
      victim: {
        usage: 900n * Mi,
        exceedsRequest: true,
        aboveRequestNano: 800n * Mi * 1_000_000_000n,
        stats: { workingSetBytes: 900n * Mi, usageBytes: 900n * Mi },
      },
    });
  });

  test('is an eviction in flight for the next step: it is reported first, and no second workload is evicted', () => {
    const hold = {
      unit: 'batch.service',
      decision: 1,
      start: ['batch.service'],
      unstarted: [],
      condition: 'MemoryPressure',
      untilNs: undefined,
    } as const;
    const [prepared] = decisions(three);
    if (prepared === undefined) throw new Error('none');
    const unit = { evictions: 1, stop: undefined, hold };
    const ordered = carriedOut({ ...prepared, serial: 4, unit }, { available: 7n * Mi, usage: 900n * Mi, ...times });
    const nowNs = NOW + 9n * SECOND;
    const { state, effects } = step(policy([hard]), initialState, {
      nowNs,
      layout: 'single',
      observe: () => observations(nowNs, { 'memory.available': 7n * Mi }),
      victims: new Map(),
      reclaimed: undefined,
      candidates: () => three,
      ordered,
    });
    expect(effects.map(({ kind }) => kind)).toEqual(['evict', 'attempt', 'threshold', 'condition']);
    expect(effects[0]).toEqual({ kind: 'evict', decision: ordered });
    expect(state.decisions).toBe(4);
    expect(state.held.get('batch.service')).toBe(hold);
    // Observed only from now on, so that it is not called stuck for the time in which no step was made.
    expect(state.evictions).toMatchObject([{ decision: ordered, phase: 'dying', phaseSinceNs: nowNs, usageStillSinceNs: nowNs }]);
  });

  test.each([
    [2, []],
    [3, ['alert']],
  ])('counts as eviction number %i of a unit that restarts repeatedly', (evictions, alerts) => {
    const [prepared] = decisions(three);
    if (prepared === undefined) throw new Error('none');
    const unit = { evictions, stop: undefined, hold: undefined };
    const ordered = carriedOut({ ...prepared, unit }, { available: 7n * Mi, usage: 900n * Mi, ...times });
    const nowNs = NOW + 9n * SECOND;
    const reading = observations(nowNs, { 'memory.available': 7n * Mi });
    const { state, effects } = step(policy([hard]), initialState, input(nowNs, reading, { candidates: () => three, ordered }));
    expect(effects.map(({ kind }) => kind)).toEqual(['evict', 'attempt', ...alerts, 'threshold', 'condition']);
    expect(state.settled.size).toBe(alerts.length); // once in an episode
  });

  test.each<[rule: string, availableMi: bigint, isGone: boolean]>([
    ['below what is owed', 150n, false],
    ['all of the memory has recovered', 500n, false],
    ['all of the memory has recovered, and the victim is gone', 500n, true],
  ])('sets the condition although memory has recovered before the step, and no second workload is evicted: %s', (...row) => {
    const [, availableMi, isGone] = row;
    const owing = policy([threshold('memory.available', '100Mi', { minReclaim: '200Mi' })], {
      departures: departuresOf('evictd', { recheck: false }),
    });
    const [prepared] = decisions(three, owing);
    if (prepared === undefined) throw new Error('none');
    const ordered = carriedOut(prepared, { available: 99n * Mi, usage: 300n * Mi, ...times });
    const nowNs = NOW + 3n * SECOND;
    const victims: StepInput['victims'] = isGone ? new Map([[1, { processes: 0, removed: true, usageBytes: undefined }]]) : new Map();
    const { state, effects } = step(owing, initialState, {
      nowNs,
      layout: 'single',
      observe: () => observations(nowNs, { 'memory.available': availableMi * Mi }),
      victims,
      reclaimed: undefined,
      candidates: () => three,
      ordered,
    });
    expect(effects.map(({ kind }) => kind)).toEqual(['evict', 'attempt', ...(isGone ? ['outcome'] : []), 'threshold', 'condition']);
    expect(effects.find(({ kind }) => kind === 'threshold')).toMatchObject({ observation: { available: 99n * Mi } });
    expect(state.conditions).toEqual(['MemoryPressure']);
    expect(state.thresholdsMet).toHaveLength(1); // owes its min reclaim
  });
});
