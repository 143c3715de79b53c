import { describe, expect, test } from 'vitest';
import type { Outcome, VictimReading } from '../../../src/core/decide/eviction.js';
import { takeOver } from '../../../src/core/decide/remembered-state.js';
import { initialState, type Policy, type State } from '../../../src/core/decide/state.js';
import type { Candidates, Workload, WorkloadStats } from '../../../src/core/workload/workload.js';
import { savedParts, savedStateProblem } from '../../../src/state/saved-parts.js';
import { fromJson, toJson } from '../../../src/storage/tagged-json.js';
import { listed } from '../listed.js';
import { candidates, Mi, policy, stats, threshold, without, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';

/**
 * A workload has written 112 MiB to a tmpfs that outlives it, and holds 21 MiB of its own. The kubelet counts its kill as a
 * success, and evicts the others, one after the other, for memory that no eviction frees.
 */
const hard = threshold('memory.available', '200Mi');
const NAMES = ['a', 'b', 'c'] as const;

function holding(own: bigint, stays: bigint, others = 30n): Candidates {
  const known = stats({ usageBytes: (own + stays) * Mi, workingSetBytes: (own + stays) * Mi, staysBytes: stays * Mi });
  const innocents = candidates(...NAMES.map((name): [ReturnType<typeof workload>, bigint] => [workload(name), others * Mi]));
  return { ...innocents, usages: [{ workload: workload('holder', { priority: -1 }), stats: known }, ...innocents.usages] };
}

const exit = (left: bigint, more: Partial<VictimReading> = {}) => ({ 1: { processes: 0, usageBytes: left * Mi, ...more } });

/** Evicts the holder at 0 s with 100 MiB available. */
function loop(found: Candidates, departures: Policy['departures'] = policy([]).departures): Timeline {
  const timeline = new Timeline(policy([hard], { departures }), found);
  expect(evicted(timeline.memory(0, 100n))).toEqual(['evict holder grace 0']);
  timeline.candidates = { ...found, usages: found.usages.slice(1) };
  return timeline;
}

function outcomeAt(timeline: Timeline, ...at: Parameters<Timeline['at']>): Outcome | undefined {
  return timeline.at(...at).flatMap((effect) => (effect.kind === 'outcome' ? [effect.outcome] : []))[0];
}

test('when memory stays after an eviction the other workloads follow without the departure, and none with it', () => {
  const before = loop(holding(21n, 112n), without('node-yield'));
  expect(before.memory(0.1, 121n, exit(112n))).toEqual(['killed holder 21Mi', 'evict a grace 0']);
  const after = loop(holding(21n, 112n));
  expect(after.memory(0.1, 121n, exit(112n))).toEqual([]); // more may come
  expect(after.memory(1.61, 121n, exit(112n))).toEqual(['ineffective holder 21Mi', 'alert no-yield']);
  expect([2, 3, 10, 60].flatMap((second) => after.memory(second, 121n))).toEqual([]);
});

test.each<
  [rule: string, found: Candidates, seconds: number, available: bigint, exited: ReturnType<typeof exit>, outcome: object | undefined]
>([
  ['half of what was expected is enough', holding(60n, 0n), 0.1, 130n, exit(0n), { result: 'killed', nodeFreedBytes: 30n * Mi }],
  ['a byte less is not enough, but more may come', holding(60n, 0n), 0.1, 129n, exit(0n), undefined],
  ['no more memory has become free for a while', holding(60n, 0n), 1.6, 129n, exit(0n), { result: 'ineffective', notFreed: 'taken' }],
  [
    'other programs have used all of the freed memory: evictd does not wait',
    holding(60n, 0n),
    0.1,
    99n,
    exit(0n),
    { result: 'ineffective', notFreed: 'taken' },
  ],
  [
    'the victim leaves more memory behind than it frees',
    holding(30n, 31n),
    1.6,
    130n,
    exit(31n),
    { result: 'ineffective', notFreed: 'stays' },
  ],
  ['the victim leaves as much memory behind as it frees', holding(31n, 31n), 0.1, 131n, exit(31n), { result: 'killed' }],
  ['the cgroup still holds it', holding(60n, 0n), 1.6, 101n, exit(59n), { result: 'ineffective', notFreed: 'stays' }],
  ['a removed cgroup frees what the node gets back, …', holding(60n, 0n), 0.1, 140n, exit(0n, { removed: true }), { result: 'killed' }],
])('%s', (_rule, found, seconds, available, exited, outcome) => {
  const timeline = loop(found);
  if (seconds > 1) timeline.memory(0.09, available, exited);
  const seen = outcomeAt(timeline, seconds, { 'memory.available': available * Mi }, exited);
  if (outcome === undefined) expect(seen).toBeUndefined();
  else expect(seen).toMatchObject(outcome);
});

test('the alert does not name memory that another program may have removed, because the reason is not known', () => {
  const timeline = loop(holding(60n, 0n));
  const gone = { 1: { processes: 0, usageBytes: undefined, removed: true } };
  timeline.memory(0.1, 105n, gone);
  const outcome = outcomeAt(timeline, 1.7, { 'memory.available': 105n * Mi }, gone);
  expect(outcome).toMatchObject({ result: 'ineffective', freedBytes: 5n * Mi, nodeFreedBytes: 5n * Mi });
  expect(outcome).not.toHaveProperty('notFreed');
});

test('evictd waits while more memory becomes free, ten seconds at most', () => {
  const timeline = loop(holding(100n, 0n));
  for (let second = 1; second <= 9; second += 1) expect(timeline.memory(second, 100n + BigInt(second), exit(0n))).toEqual([]);
  expect(timeline.dueAtNs).toBe(10_000_000_000n); // the earliest is a look at the candidates
  expect(timeline.memory(11, 110n, exit(0n))).toEqual(['ineffective holder 100Mi', 'alert leak-elsewhere']);
});

test('a process that systemd has started in the cgroup since is not a process of the victim: the reading of the node judges', () => {
  const later = { pid: 4711, name: 'rm' };
  expect(outcomeAt(loop(holding(60n, 0n)), 0.6, { 'memory.available': 160n * Mi }, exit(2n, { later }))).toMatchObject({
    result: 'killed',
    nodeFreedBytes: 60n * Mi,
    later,
  });
});

test('when the node cannot be read evictd waits, and then judges by the cgroup', () => {
  const timeline = loop(holding(60n, 0n));
  expect(timeline.effects(0.1, undefined, exit(0n))).toEqual([]);
  expect(timeline.effects(1.7, undefined, exit(0n))).toEqual(['killed holder 60Mi']);
});

describe('the ranking of workloads whose memory stays', () => {
  const of = (departures: Policy['departures'], known: Partial<WorkloadStats>): string[] => {
    const found = candidates([workload('own'), 50n * Mi]);
    const usages = [
      ...found.usages,
      { workload: workload('shared'), stats: stats({ usageBytes: 133n * Mi, workingSetBytes: 133n * Mi, ...known }) },
    ];
    return evicted(new Timeline(policy([hard], { departures }), { ...found, usages }).memory(0, 100n));
  };

  test.each<[rule: string, departures: Policy['departures'], known: Partial<WorkloadStats>, first: string]>([
    ['does not count what stays', policy([]).departures, { staysBytes: 112n * Mi }, 'own'],
    ['counts it without the departure, as the kubelet', without('node-yield'), { staysBytes: 112n * Mi }, 'shared'],
    ['counts all memory if the part that stays is not known', policy([]).departures, {}, 'shared'],
  ])('%s', (_rule, departures, known, first) => {
    expect(of(departures, known)).toEqual([`evict ${first} grace 0`]);
  });
});

describe('after an eviction that freed too little', () => {
  function paused(): Timeline {
    const timeline = loop(holding(21n, 112n));
    timeline.memory(0.1, 121n, exit(112n));
    expect(timeline.memory(1.7, 121n, exit(112n))).toContain('alert no-yield');
    return timeline;
  }
  const grown = (sizes: Partial<Record<(typeof NAMES)[number], bigint>>): Candidates =>
    candidates(...NAMES.map((name): [ReturnType<typeof workload>, bigint] => [workload(name), (sizes[name] ?? 30n) * Mi]));

  test('evictd does not evict again because of further loss alone', () => {
    const timeline = paused();
    expect([100n, 60n, 20n, 1n].flatMap((mebibytes, index) => timeline.memory(2 + index, mebibytes))).toEqual([]);
  });

  test('the workload that has grown by the loss of the node is the leak, whatever its rank', () => {
    const timeline = paused();
    timeline.candidates = candidates([workload('a', { priority: 1 }), 70n * Mi], [workload('b'), 30n * Mi], [workload('c'), 30n * Mi]);
    const decision = timeline.at(2, { 'memory.available': 81n * Mi }).find(({ kind }) => kind === 'evict');
    expect(decision).toMatchObject({ decision: { victim: { workload: { name: 'a' } } } });
    expect(decision).toMatchObject({
      decision: { ranking: [{ protection: { kind: 'no-yield' } }, { protection: { kind: 'no-yield' } }, {}] },
    });
  });

  test.each<[rule: string, sizes: Parameters<typeof grown>[0], available: bigint]>([
    ['growth that explains less than half of the loss', { a: 45n }, 81n],
    ['growth by less than a twentieth of the relief', { a: 37n }, 121n],
  ])('%s is not a leak', (_rule, sizes, available) => {
    const timeline = paused();
    timeline.candidates = grown(sizes);
    expect(timeline.memory(2, available)).toEqual([]);
  });

  test('several workloads that grow are one leak: evictd evicts them by growth, and never one that did not grow', () => {
    const timeline = paused();
    timeline.candidates = grown({ a: 45n, b: 46n });
    expect(timeline.memory(2, 91n)).toEqual(['evict b grace 0']);
    timeline.candidates = grown({ a: 45n, b: 0n });
    expect(timeline.memory(2.1, 137n, { 2: { processes: 0, usageBytes: 0n } })).toEqual(['killed b 46Mi']);
    expect(timeline.memory(3, 137n)).toEqual([]);
  });

  test('half of the missing memory counts as relief', () => {
    expect(paused().memory(2, 160n)).toEqual([]);
    const relieved = paused();
    expect([2, 11.99].flatMap((second) => relieved.memory(second, 161n))).toEqual([]);
    expect(evicted(relieved.memory(12, 161n))).toHaveLength(1);
  });

  test.each<[rule: string, high: bigint]>([
    ['the threshold', 202n],
    ['the relief', 161n],
  ])('available memory that swings around %s, as the usage of a leak does, does not end the pause', (_rule, high) => {
    const timeline = paused();
    const swings = Array.from({ length: 100 }, (_, index) => timeline.memory(2 + index * 0.6, index % 2 === 0 ? high : 110n));
    expect(evicted(swings.flat())).toEqual([]);
  });

  test('after its end growth since the pause began still tells a leak from a workload that grows', () => {
    const relieved = (): Timeline => {
      const timeline = paused();
      timeline.memory(2, 200n);
      timeline.memory(12, 200n);
      return timeline;
    };
    expect(relieved().memory(13, 100n)).toEqual(['met memory.available', 'alert leak-elsewhere']);
    const workloads = relieved();
    workloads.candidates = grown({ a: 50n });
    expect(workloads.memory(13, 100n)).toEqual(['met memory.available', 'evict a grace 0']);
    expect(evicted(relieved().memory(62, 100n))).toHaveLength(1); // a minute later an eviction may help
  });

  test('a new episode begins without a pause', () => {
    const timeline = paused();
    expect(timeline.memory(2, 200n)).toEqual(['cleared memory.available']);
    timeline.memory(12, 200n);
    expect(evicted(timeline.memory(13, 199n))).toHaveLength(1);
  });

  test('a reload after which no threshold of the signal is met ends the pause', () => {
    const timeline = paused();
    timeline.policy = policy([threshold('memory.available', '100Mi')]);
    timeline.memory(2, 121n);
    timeline.policy = policy([hard]);
    expect(evicted(timeline.memory(3, 121n))).toHaveLength(1);
  });

  test('growth before a pause began does not count', () => {
    const timeline = paused();
    for (const second of [2, 12]) timeline.memory(second, 300n);
    timeline.candidates = grown({ a: 70n });
    expect(evicted(timeline.memory(20, 100n))).toEqual(['evict a grace 0']);
    timeline.candidates = grown({ a: 0n, b: 90n });
    timeline.memory(20.1, 101n, { 2: { processes: 0, usageBytes: 70n * Mi } });
    expect(timeline.memory(22, 101n, { 2: { processes: 0, usageBytes: 70n * Mi } })).toEqual(['ineffective a 0Mi', 'alert no-yield']);
    expect(evicted(timeline.memory(23, 100n))).toEqual([]);
  });

  test('no other signal for memory evicts because of the same shortage', () => {
    const timeline = paused();
    const other = threshold('allocatableMemory.available', '200Mi');
    timeline.policy = policy([hard, other, listed('memory.pressure.full>10%', 'hard')]);
    const readings = { 'memory.available': 121n * Mi, 'allocatableMemory.available': 50n * Mi, 'memory.pressure.full': 900_000_000n };
    expect(evicted(timeline.effects(2, readings))).toEqual([]);
  });

  test('after a restart evictd still knows the growth since the pause began', () => {
    const timeline = paused();
    const saved = fromJson(toJson(savedParts(timeline.state))) as State;
    timeline.state = takeOver(timeline.policy, { ...initialState, ...saved }, { awayNs: 1n, sleptNs: 0n }, 2n).state;
    timeline.candidates = grown({ a: 70n });
    expect(timeline.memory(2, 81n)).toEqual(['evict a grace 0']);
  });
});

test('pressure is judged by the joined operand that counts bytes', () => {
  const timeline = new Timeline(policy([listed('memory.pressure.full>10% & memory.available<200Mi', 'hard')]), holding(60n, 0n));
  const at = (mebibytes: bigint) => ({ 'memory.pressure.full': 900_000_000n, 'memory.available': mebibytes * Mi });
  expect(evicted(timeline.effects(0, at(100n)))).toEqual(['evict holder grace 0']);
  expect(timeline.effects(0.1, at(99n), exit(0n))).toEqual(['ineffective holder 60Mi', 'alert no-yield']);
});

test('for pressure alone memory.available judges: no other workload is evicted after one whose memory stays', () => {
  const found = holding(21n, 112n, 133n);
  const tmpfs = { ...found, usages: found.usages.map(({ workload: one }) => ({ workload: one, stats: found.usages[0]?.stats })) };
  const timeline = new Timeline(policy([listed('memory.pressure.full>40%', 'hard')]), tmpfs);
  const at = (second: number, available: bigint, victims = {}): string[] =>
    timeline.effects(second, { 'memory.pressure.full': 900_000_000n, 'memory.available': available * Mi }, victims);
  expect(evicted(at(0, 50n))).toEqual(['evict holder grace 0']);
  timeline.candidates = { ...tmpfs, usages: tmpfs.usages.slice(1) };
  const exited = exit(112n);
  expect(at(0.5, 51n, exited)).toEqual([]);
  // The patience begins anew with each rise of memory.available, whatever the value of the pressure is.
  expect([1.9, 3.3].flatMap((second) => at(second, 71n, exited))).toEqual([]);
  const { evictions } = fromJson(toJson(savedParts(timeline.state))) as State;
  const whole = { clocks: { monotonicNs: 0n, bootNs: 0n }, signals: new Map(), sections: {} };
  expect(evictions[0]?.decision.cause).toMatchObject({ memory: { available: 50n * Mi } });
  expect(savedStateProblem({ ...whole, state: { evictions } })).toBeUndefined();
  const damaged = evictions.map((one) => ({ ...one, decision: { ...one.decision, cause: { ...one.decision.cause, memory: 7 } } }));
  expect(savedStateProblem({ ...whole, state: { evictions: damaged } })).toMatch(/^state\.evictions\[0\]/);
  expect(at(3.5, 71n, exited)).toEqual(['ineffective holder 21Mi', 'alert no-yield']);
  expect([4, 6, 10, 60].flatMap((second) => at(second, 71n))).toEqual([]);
  // Half of what the victim held and has not freed.
  expect(evicted(at(61, 127n))).toEqual([]);
  expect(evicted(at(71, 127n))).toEqual(['evict a grace 0']);
});

test('for pressure alone evictd pauses when workloads that may not be evicted consume the freed memory', () => {
  const leaker = workload('leaker', { protection: { kind: 'critical' } });
  const sized = (leaked: bigint): Candidates =>
    candidates([leaker, leaked * Mi], ...NAMES.map((name): [Workload, bigint] => [workload(name), 100n * Mi]));
  const timeline = new Timeline(policy([listed('memory.pressure.full>40%', 'hard')]), sized(200n));
  const at = (second: number, available: bigint, victims = {}, pressure = 900_000_000n): string[] =>
    timeline.effects(second, { 'memory.pressure.full': pressure, 'memory.available': available * Mi }, victims);
  expect(evicted(at(0, 50n))).toHaveLength(1);
  const gone = timeline.state.evictions[0]?.decision.victim.workload.id;
  const left = (leaked: bigint): Candidates => {
    const all = sized(leaked);
    return { ...all, usages: all.usages.filter(({ workload: { id } }) => id !== gone) };
  };
  timeline.candidates = left(200n);
  expect(evicted(at(1, 150n, { 1: { processes: 0, usageBytes: 0n } }, 0n))).toEqual([]);
  timeline.candidates = left(300n);
  expect([4, 6, 10].flatMap((second) => at(second, 50n))).toEqual(['met memory.pressure.full', 'alert leak-elsewhere']);
});
