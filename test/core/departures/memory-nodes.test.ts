import { expect, test } from 'vitest';
import { departuresOf } from '../../../src/core/decide/departures.js';
import { boundPolicies } from '../../../src/core/oom/bound-policies.js';
import type { Protection } from '../../../src/core/workload/workload.js';
import { reading } from '../ladder/policies.js';
import { candidates, Gi, Mi, policy, threshold, workload } from '../support.js';
import { Timeline } from '../timeline.js';

const HARD = threshold('memory.available', '100Mi');

/** The machine has 1 GiB left. Of the bound workloads db/large holds the most, and web, which is not bound, more. */
function effects(
  availableMib: number,
  protection: Protection | undefined,
  heldMib: number,
  departures = departuresOf('evictd'),
): readonly string[] {
  const bound = ['/db/small', '/db/large'].map((path) => ({ path, nodes: [1], boundAt: '/db' }));
  const policies = boundPolicies(bound, departures, [HARD]);
  const found = candidates(
    [workload('web', { path: '/web' }), 900n * Mi],
    [workload('small', { path: '/db/small' }), 20n * Mi],
    [workload('large', { path: '/db/large', ...(protection && { protection }) }), 200n * Mi],
  );
  const nodes = { 'memory.boundNodes.available': availableMib * 2 ** 20, 'memory.boundNodes.capacity': 2 ** 30 };
  const named = [reading('/db', 0n, { ...nodes, 'memory.current': heldMib * 2 ** 20 })];
  const run = new Timeline(policy([HARD], { policies, departures }), found);
  return run.effects(
    0,
    { 'memory.available': Gi },
    {},
    { policyReadings: () => ({ scopes: new Map(), named }), policyWorkloads: () => [] },
  );
}

test.each<[rule: string, availableMib: number, protection: Protection | undefined, heldMib: number, said: readonly string[]]>([
  ['the first workload that is bound to the node is evicted, though the machine has memory', 24, undefined, 250, ['evict large grace 0']],
  ['no workload is evicted if the nodes that it may use have as much memory as the threshold', 100, undefined, 900, []],
  ['no workload is evicted if others hold most of the memory in use', 24, undefined, 249, []],
  ['the next bound workload is evicted if the first is protected', 24, { kind: 'critical' }, 250, ['evict small grace 0']],
])('memory nodes that are short: %s', (_rule, availableMib, protection, heldMib, said) => {
  expect(effects(availableMib, protection, heldMib)).toEqual(said);
});

test.each(['evictd', 'kubelet'] as const)('one memory node is full and the machine has memory: %s', (profile) => {
  const said = profile === 'evictd' ? ['evict large grace 0'] : [];
  expect(effects(24, undefined, 250, departuresOf(profile))).toEqual(said);
});
