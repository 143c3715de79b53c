import { expect, test } from 'vitest';
import type { Outcome, VictimReading } from '../../../src/core/decide/eviction.js';
import { outcomeMessage } from '../../../src/core/message/message.js';
import { judgedBy, swapToFree } from '../../../src/core/rank/eviction-cause.js';
import type { WorkloadProcess } from '../../../src/core/workload/process.js';
import type { Workload } from '../../../src/core/workload/workload.js';
import { candidates, Mi, policy, SECOND, stats, threshold, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';
import { condition, KILL, ofCgroup, reading } from './policies.js';

/** The victim holds 16 MiB of memory and 184 MiB of swap. */
const cold = {
  workload: workload('cold', { path: '/a/cold' }),
  stats: stats({ usageBytes: 16n * Mi, workingSetBytes: 16n * Mi, swapBytes: 184n * Mi }),
};

/**
 * What becomes of a policy's victim, while the node has 40 MiB less memory than before: others were kept small by the
 * shortage.
 */
function outcomeOf(scope: 'node' | 'cgroup', when: string, victim: Partial<VictimReading>, usage = cold): Outcome {
  const { scope: cgroups, ...one } = ofCgroup([KILL], { when: condition(when, scope) });
  const found = { ...candidates(), usages: [usage] };
  const timeline = new Timeline(
    policy([threshold('memory.available', '100Mi')], {
      policies: [scope === 'node' || cgroups === undefined ? one : { ...one, scope: cgroups }],
    }),
    found,
  );
  const values = {
    'swap.available': 10 << 20,
    'swap.available.capacity': 240 << 20,
    'memory.available': 500 << 20,
    'memory.current': 1 << 20,
    'memory.swap': 200 << 20,
  };
  const policyReadings = () => ({
    node: reading('', 0n, values),
    scopes: new Map([['p', [reading('/a', 0n, values)]]]),
  });
  const readings = { policyReadings, policyWorkloads: () => [] };
  expect(timeline.effects(0, { 'memory.available': 500n * Mi }, {}, readings)).toContain('evict cold grace 0');
  const victims = { 1: { processes: 0, ...victim } };
  const ends = [1, 3].flatMap((second) => timeline.at(second, { 'memory.available': 460n * Mi }, victims, readings));
  const [outcome] = ends.flatMap((effect) => (effect.kind === 'outcome' ? [effect.outcome] : []));
  if (outcome === undefined) throw new Error('no outcome');
  return outcome;
}

const SWAP = 'swap.available < 10%';

test.each<
  [rule: string, scope: 'node' | 'cgroup', when: string, victim: Partial<VictimReading>, result: string, freedMib: bigint, said: RegExp]
>([
  [
    'swap is judged by the swap of the cgroup, not by memory',
    'node',
    SWAP,
    { usageBytes: 0n, swapBytes: 0n },
    'killed',
    184n,
    /freed 184MiB of swap;/,
  ],
  ['swap of a removed cgroup', 'node', SWAP, { usageBytes: undefined, removed: true }, 'killed', 184n, /freed 184MiB of swap;/],
  [
    'swap that stays is not freed by memory',
    'node',
    SWAP,
    { usageBytes: 0n, swapBytes: 180n * Mi },
    'ineffective',
    4n,
    /freed only 4MiB of the 184MiB of swap that it used/,
  ],
  [
    'swap is judged by swap in a cgroup, too',
    'cgroup',
    'memory.current > 100Ki & memory.swap > 1Mi',
    { usageBytes: 0n, swapBytes: 0n },
    'killed',
    184n,
    /of swap/,
  ],
  ['a cgroup is judged by the usage of the victim', 'cgroup', 'memory.current > 100Ki', { usageBytes: 0n }, 'killed', 16n, /freed 16MiB;/],
  [
    'a cgroup that still holds it',
    'cgroup',
    'memory.current > 100Ki',
    { usageBytes: 15n * Mi },
    'ineffective',
    1n,
    /freed only 1MiB of the 16MiB that it used/,
  ],
  ['memory of the node is judged by the node', 'node', 'memory.available < 90%', { usageBytes: 0n }, 'ineffective', 16n, /in use again/],
])('%s', (_rule, scope, when, victim, result, freedMib, said) => {
  const outcome = outcomeOf(scope, when, victim);
  expect(outcome).toMatchObject({ result, freedBytes: freedMib * Mi });
  expect(outcomeMessage(outcome)).toMatch(said);
});

const policyCause = { kind: 'policy', policy: 'p', scope: '', condition: SWAP, values: {}, graceNs: 0n } as const;

/** The same with 4 KiB of swap. */
const warm = { ...cold, stats: stats({ usageBytes: 200n * Mi, workingSetBytes: 200n * Mi, swapBytes: 4096n }) };
const MIXED = 'memory.available < 90% | swap.available < 10%';

test.each<[rule: string, when: string, usage: typeof cold, result: string]>([
  ['a little freed swap does not excuse memory that does not become free', MIXED, warm, 'ineffective'],
  ['a workload that is mostly swapped out is judged by its swap', MIXED, cold, 'killed'],
  ['where only swap is short, any freed swap counts', SWAP, warm, 'killed'],
])('a condition about memory and swap: %s', (_rule, when, usage, result) => {
  expect(outcomeOf('node', when, { usageBytes: 0n, swapBytes: 0n }, usage)).toMatchObject({ result });
});

test('without swap accounting the swap of a process is unknown, and does not count', () => {
  const cause = { ...policyCause, judgedBy: 'swap' } as const;
  const process = { pid: 7, swapBytes: 184n * Mi } as WorkloadProcess;
  expect(swapToFree({ cause, victim: { process, stats: cold.stats } })).toBe(184n * Mi);
  expect(swapToFree({ cause, victim: { process, stats: stats({ usageBytes: 16n * Mi }) } })).toBeUndefined();
});

test('the rate of swapping does not measure freed memory', () => {
  const reason = { ...policyCause, values: { 'swap.available': 0, pswpout: 1_000 } };
  expect(judgedBy(reason, { stats: warm.stats })).toEqual({ judgedBy: 'swap' });
});

test('swap that has grown meanwhile is not a negative yield', () => {
  expect(outcomeOf('node', SWAP, { usageBytes: 0n, swapBytes: 200n * Mi })).toMatchObject({ result: 'ineffective', freedBytes: 0n });
});

/** Of 200 MiB, 190 MiB are files on a tmpfs: they outlive the processes, and the cgroup. */
const kept = { ...cold, stats: stats({ usageBytes: 200n * Mi, workingSetBytes: 200n * Mi, staysBytes: 190n * Mi }) };

test.each<[what: string, victim: Partial<VictimReading>, result: string, freedMib: bigint]>([
  ['stays in its cgroup', { usageBytes: 190n * Mi }, 'ineffective', 10n],
  ['stays in the parent after the cgroup of the victim is removed', { usageBytes: undefined, removed: true }, 'ineffective', 10n],
  ['is freed', { usageBytes: 0n }, 'killed', 200n],
])('a shortage of a cgroup in which more memory %s than is freed', (_what, victim, result, freedMib) => {
  const outcome = outcomeOf('cgroup', 'memory.current > 100Ki', victim, kept);
  expect(outcome).toMatchObject({ result, freedBytes: freedMib * Mi });
});

/** A policy of the node and one of a cgroup. Of the victim's 300 MiB, 295 MiB stay. */
test('an eviction without yield by a policy of the node pauses those by thresholds and other policies', () => {
  const names = ['big', 'small', 'other'];
  const found = candidates(
    ...names.map((name, index): [Workload, bigint] => [workload(name, { path: `/a/${name}` }), BigInt(300 - index * 50) * Mi]),
  );
  const { scope: _, ...node } = ofCgroup([KILL], { when: condition('memory.available < 150Mi', 'node'), cooldownNs: 0n });
  const second = ofCgroup([KILL], { name: 'second' });
  const timeline = new Timeline(policy([threshold('memory.available', '100Mi')], { policies: [node] }), found);
  const at = (seconds: number, available: bigint, victims = {}): string[] =>
    timeline.effects(seconds, { 'memory.available': available * Mi }, victims, {
      policyReadings: () => ({
        node: reading('', 0n, { 'memory.available': Number(available * Mi) }),
        scopes: new Map([['second', [reading('/a', 0n, { 'memory.current': 1 << 20 })]]]),
      }),
      policyWorkloads: (paths) => paths.map((path) => reading(path, 0n, { 'memory.current': path === '/a/big' ? 300 : 200 })),
    });
  // The base of an earlier eviction is replaced.
  const earlier = { available: 1n, held: new Map(), atNs: 0n, since: { kind: 'eviction', decision: 0 } } as const;
  timeline.state = { ...timeline.state, baselines: new Map([['memory.available', earlier]]) };
  expect(at(0, 120n)).toContain('evict big grace 0');
  // A policy may have ranked only a part, such as the processes of one workload.
  const [eviction] = timeline.state.evictions;
  if (eviction === undefined) throw new Error('no eviction');
  const decision = { ...eviction.decision, ranking: eviction.decision.ranking.slice(0, 1) };
  timeline.state = { ...timeline.state, evictions: [{ ...eviction, decision }] };
  timeline.candidates = { ...found, usages: found.usages.slice(1) };
  const exited = { 1: { processes: 0, usageBytes: 295n * Mi } };
  expect(at(1, 121n, exited)).toEqual([]);
  // The policy ranks its scope; growth is that of all workloads since.
  expect(timeline.state.baselines.get('memory.available')).toMatchObject({
    available: 120n * Mi,
    since: { kind: 'eviction', decision: 1 },
  });
  expect([...(timeline.state.baselines.get('memory.available')?.held.keys() ?? [])].sort()).toEqual(['/a/other', '/a/small']);
  expect(at(3, 121n, exited)).toContain('ineffective big 5Mi');
  timeline.policy = { ...timeline.policy, policies: [node, second] };
  expect(evicted([30, 60].flatMap((seconds) => at(seconds, 121n)))).toEqual([]);
  expect(at(61, 90n)).toContain('alert no-yield');
  // The conditions of the node hold no longer: the pause is over.
  at(91, 160n);
  expect([110, 140].flatMap((seconds) => at(seconds, 160n))).toContain('evict small grace 0');
});

test('a policy waits for the memory of a dying victim of another resource while that victim makes progress', () => {
  const bomb = workload('bomb', { path: '/b/bomb', priority: -1 });
  const big = workload('big', { path: '/a/big' });
  const found = { ...candidates([bomb, 900n * Mi], [big, 300n * Mi]), processes: () => new Map([['id-bomb', 500n]]) };
  const timeline = new Timeline(
    policy([threshold('pid.available', '100')], { policies: [ofCgroup([KILL])], evictable: new Set(['memory', 'pids']) }),
    found,
  );
  const at = (seconds: number, kibibytes: number, victim?: Partial<VictimReading>): string[] =>
    timeline.effects(seconds, { 'pid.available': 5n }, victim ? { 1: victim } : {}, {
      policyReadings: () => ({ scopes: new Map([['p', [reading('/a', 0n, { 'memory.current': kibibytes * 1024 })]]]) }),
      policyWorkloads: () => [],
    });
  expect(at(0, 0)).toContain('evict bomb grace 0');
  timeline.candidates = { ...found, usages: found.usages.slice(1) };
  const dying = { processes: 500, runs: true } as const;
  expect([1, 6, 7].flatMap((seconds) => at(seconds, 101, { ...dying, usageBytes: 900n * Mi }))).toEqual([]);
  expect(at(8, 101, { ...dying, usageBytes: 0n })).toContain('evict big grace 0');
});

test('an eviction without yield by a policy of the node pauses it, also where no threshold is configured', () => {
  const found = candidates([workload('big', { path: '/a/big' }), 300n * Mi], [workload('small', { path: '/a/small' }), 200n * Mi]);
  const { scope: _, ...node } = ofCgroup([KILL], { when: condition('memory.available < 150Mi', 'node'), cooldownNs: 0n });
  const timeline = new Timeline(policy([], { policies: [node] }), found);
  const at = (seconds: number, available: bigint, victims = {}): string[] =>
    timeline.effects(seconds, { 'memory.available': available * Mi }, victims, {
      policyReadings: () => ({ node: reading('', 0n, { 'memory.available': Number(available * Mi) }), scopes: new Map() }),
    });
  expect(at(0, 120n)).toContain('evict big grace 0');
  timeline.candidates = { ...found, usages: found.usages.slice(1) };
  const exited = { 1: { processes: 0, usageBytes: 200n * Mi } };
  at(1, 121n, exited);
  expect(at(3, 121n, exited)).toContain('ineffective big 100Mi');
  expect(evicted([30, 60, 90].flatMap((seconds) => at(seconds, 121n)))).toEqual([]);
  // The condition ceases for a moment: the pause lasts.
  expect(evicted([160n, 140n, 160n].flatMap((available, index) => at(91 + index, available)))).toEqual([]);
  at(94, 160n);
  expect(timeline.dueAtNs).toBe(104n * SECOND);
  at(104, 160n); // it has ceased for 10 s: the pause is over
  expect(evicted([110, 140].flatMap((seconds) => at(seconds, 140n)))).toEqual(['evict small grace 0']);
});
