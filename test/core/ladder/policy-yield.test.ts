import { expect, test } from 'vitest';
import type { Outcome, VictimReading } from '../../../src/core/decide/eviction.js';
import { outcomeMessage } from '../../../src/core/message/message.js';
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
function outcomeOf(scope: 'node' | 'cgroup', when: string, victim: Partial<VictimReading>): Outcome {
  const { scope: cgroups, ...one } = ofCgroup([KILL], { when: condition(when, scope) });
  const found = { ...candidates(), usages: [cold] };
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
  expect(timeline.said(0, { 'memory.available': 500n * Mi }, {}, readings)).toContain('evict cold grace 0');
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
