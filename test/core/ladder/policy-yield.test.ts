import { expect, test } from 'vitest';
import type { Outcome, VictimReading } from '../../../src/core/decide/eviction.js';
import { outcomeMessage } from '../../../src/core/message/message.js';
import { judgedBy, swapToFree } from '../../../src/core/rank/eviction-cause.js';
import type { WorkloadProcess } from '../../../src/core/workload/process.js';
import { candidates, Mi, policy, stats, threshold, workload } from '../support.js';
import { Timeline } from '../timeline.js';
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
    'swap is judged by the swap of its cgroup, not by memory',
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
    'also in a cgroup',
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
  ['a little swap does not excuse memory that does not come back', MIXED, warm, 'ineffective'],
  ['what is mostly swapped is judged by its swap', MIXED, cold, 'killed'],
  ['where only swap is short, swap counts, however little', SWAP, warm, 'killed'],
])('a condition about memory and swap: %s', (_rule, when, usage, result) => {
  expect(outcomeOf('node', when, { usageBytes: 0n, swapBytes: 0n }, usage)).toMatchObject({ result });
});

test('without swap accounting the swap of a process cannot be measured, and does not judge', () => {
  const cause = { ...policyCause, judgedBy: 'swap' } as const;
  const process = { pid: 7, swapBytes: 184n * Mi } as WorkloadProcess;
  expect(swapToFree({ cause, victim: { process, stats: cold.stats } })).toBe(184n * Mi);
  expect(swapToFree({ cause, victim: { process, stats: stats({ usageBytes: 16n * Mi }) } })).toBeUndefined();
});

test('the rate of swapping says nothing about memory', () => {
  const reason = { ...policyCause, values: { 'swap.available': 0, pswpout: 1_000 } };
  expect(judgedBy(reason, { stats: warm.stats })).toEqual({ judgedBy: 'swap' });
});

test('swap that has grown meanwhile is no negative yield', () => {
  expect(outcomeOf('node', SWAP, { usageBytes: 0n, swapBytes: 200n * Mi })).toMatchObject({ result: 'ineffective', freedBytes: 0n });
});

/** Of 200 MiB, 190 MiB are files on a tmpfs: they outlive the processes, and the cgroup. */
const kept = { ...cold, stats: stats({ usageBytes: 200n * Mi, workingSetBytes: 200n * Mi, staysBytes: 190n * Mi }) };

test.each<[what: string, victim: Partial<VictimReading>, result: string, freedMib: bigint]>([
  ['stays in its cgroup', { usageBytes: 190n * Mi }, 'ineffective', 10n],
  ['stays in the cgroup above, after its own is removed', { usageBytes: undefined, removed: true }, 'ineffective', 10n],
  ['is freed', { usageBytes: 0n }, 'killed', 200n],
])('a shortage of a cgroup where more %s than is freed', (_what, victim, result, freedMib) => {
  const outcome = outcomeOf('cgroup', 'memory.current > 100Ki', victim, kept);
  expect(outcome).toMatchObject({ result, freedBytes: freedMib * Mi });
});
