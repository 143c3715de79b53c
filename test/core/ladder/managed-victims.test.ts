import { describe, expect, test } from 'vitest';
import type { ManagedVictims } from '../../../src/core/policy/configured-policy.js';
import type { Candidates, WorkloadUsage } from '../../../src/core/workload/workload.js';
import { candidates, Mi, policy, threshold, workload } from '../support.js';
import { evicted, Timeline } from '../timeline.js';
import { condition, KILL, ofCgroup, using } from './policies.js';

const usage = (path: string, mib: bigint, swapBytes = 0n): WorkloadUsage => {
  const [first] = candidates([workload(path.slice(1), { path }), mib * Mi]).usages;
  if (first?.stats === undefined) throw new Error('no usage');
  return { ...first, stats: { ...first.stats, swapBytes } };
};

/** A node with an ordinary workload, /a/web, and what is managed. */
const node = (...managed: readonly WorkloadUsage[]): Candidates => ({
  ...candidates([workload('web', { path: '/a/web' }), 900n * Mi]),
  managed: () => managed,
});

/** What a policy with this scope does first. The node has 1 GiB of swap. */
function first(managed: ManagedVictims | undefined, found: Candidates, scope: 'node' | '/a' = '/a'): readonly string[] {
  const { scope: cgroups, ...rest } = ofCgroup([KILL], { ...(managed && { managed }) });
  const ofNode = { ...rest, when: condition('memory.available < 90%', 'node') };
  const all = [...found.usages, ...(found.managed?.() ?? [])];
  const sizes = Object.fromEntries(all.map(({ workload: { path }, stats }) => [path, { 'memory.current': Number(stats?.usageBytes) }]));
  const configured = scope === 'node' || cgroups === undefined ? ofNode : { ...rest, scope: cgroups };
  const run = new Timeline(policy([threshold('memory.available', '100Mi')], { policies: [configured] }), found);
  return run.effects(0, { 'memory.available': 500n * Mi, 'swap.available': 0n }, {}, using(101, sizes));
}

describe('a policy made of settings of units', () => {
  test.each<[rule: string, managed: ManagedVictims | undefined, found: Candidates, scope: 'node' | '/a', said: readonly string[]]>([
    [
      'ends what is managed, though another workload is larger',
      { within: ['/a'] },
      node(usage('/a/leaf', 10n)),
      '/a',
      ['evict a/leaf grace 0'],
    ],
    [
      'evicts the workload that ranks first',
      { within: ['/a'] },
      node(usage('/a/one', 10n), usage('/a/two', 20n)),
      '/a',
      ['evict a/two grace 0'],
    ],
    [
      'evicts no workload outside its scope',
      { within: ['/'] },
      node(usage('/a/leaf', 10n), usage('/b/leaf', 90n)),
      '/a',
      ['evict a/leaf grace 0'],
    ],
    [
      'of the node evicts only managed units',
      { within: ['/b'] },
      node(usage('/a/leaf', 90n), usage('/b/leaf', 10n)),
      'node',
      ['evict b/leaf grace 0'],
    ],
    ['evicts a unit without cgroups in it as a whole', { within: ['/a'] }, node(usage('/a', 10n)), '/a', ['evict a grace 0']],
    [
      'of units themselves does not evict the cgroups in them',
      { within: ['/a'], themselves: true },
      node(usage('/a', 10n), usage('/a/leaf', 90n)),
      '/a',
      ['evict a grace 0'],
    ],
    ['itself only, where it has cgroups in it', { within: ['/a'], themselves: true }, node(usage('/a/leaf', 90n)), '/a', ['kill refused']],
    ['the root slice has all', { within: ['/'] }, node(usage('/b/leaf', 10n)), 'node', ['evict b/leaf grace 0']],
    [
      'a name that only begins alike is another unit',
      { within: ['/a'] },
      node(usage('/ab', 90n), usage('/a/leaf', 10n)),
      'node',
      ['evict a/leaf grace 0'],
    ],
    [
      'exactly the share of the swap is too little',
      { within: ['/a'], swapAbove: 0.25 },
      node(usage('/a/much', 10n, 256n * Mi + 1n), usage('/a/just', 90n, 256n * Mi)),
      'node',
      ['evict a/much grace 0'],
    ],
    [
      'evicts nothing if no unit uses that much swap',
      { within: ['/a'], swapAbove: 0.25 },
      node(usage('/a/just', 90n, 256n * Mi)),
      'node',
      ['kill refused'],
    ],
    ['evicts nothing if no unit is managed now', { within: ['/a'] }, node(), '/a', ['kill refused']],
    [
      'managed workloads are not known',
      { within: ['/a'] },
      candidates([workload('web', { path: '/a/web' }), 900n * Mi]),
      '/a',
      ['kill refused'],
    ],
    [
      'is needed for the eviction of a workload that is only managed',
      undefined,
      node(usage('/a/leaf', 1000n)),
      '/a',
      ['evict web grace 0'],
    ],
  ])('%s', (_rule, managed, found, scope, said) => {
    expect(first(managed, found, scope)).toEqual(said);
  });

  test('does not evict a protected workload', () => {
    const leaf = usage('/a/leaf', 10n);
    const omitted = { ...leaf, workload: { ...leaf.workload, protection: { kind: 'omit' } as const } };
    expect(first({ within: ['/a'] }, node(omitted))).toEqual(['kill refused']);
    expect(first({ within: ['/a'] }, { ...node(leaf), veto: () => ({ kind: 'self' }) })).toEqual(['kill refused']);
  });

  test('evicts an avoided workload after all others', () => {
    const avoided = usage('/a/avoided', 90n);
    const found = node({ ...avoided, workload: { ...avoided.workload, avoid: true } }, usage('/a/leaf', 10n));
    expect(first({ within: ['/a'] }, found)).toEqual(['evict a/leaf grace 0']);
  });

  test('does not make its managed cgroups victims of a threshold', () => {
    const run = new Timeline(policy([threshold('memory.available', '100Mi')]), { ...candidates(), managed: () => [usage('/a/leaf', 10n)] });
    expect(evicted(run.effects(0, { 'memory.available': 50n * Mi }))).toEqual([]);
  });
});
