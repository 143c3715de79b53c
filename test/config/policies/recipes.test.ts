import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Condition, ScopeKind, Truth } from '../../../src/core/policy/condition.js';
import { conditionNeeds } from '../../../src/core/policy/condition-needs.js';
import type { ConfiguredPolicy } from '../../../src/core/policy/configured-policy.js';
import { evaluateCondition } from '../../../src/core/policy/evaluate-condition.js';
import { Gi, Mi } from '../../core/support.js';
import { historyOf, type Series, type Values } from '../../core/policy/scopes.js';
import { lintConfig } from '../../../src/config/lint-notices.js';
import { machine } from '../lint/support.js';
import { load } from '../scratch.js';

/** The configurations of docs/policy-recipes.md by the heading above them. */
const recipes = new Map(
  [...readFileSync('docs/policy-recipes.md', 'utf8').matchAll(/^## (.*)\n[^]*?^```yaml\n([^]*?)^```/gm)].map(
    ([, heading = '', yaml = '']) => [heading, yaml],
  ),
);

function policyOf(recipe: string): ConfiguredPolicy {
  const { config, notices } = load({ 'config.yaml': recipes.get(recipe) ?? '' });
  expect(notices.filter(({ level }) => level === 'warn')).toEqual([]);
  const [policy, ...more] = config.policies;
  if (policy === undefined) throw new Error(`no policy in ${recipe}`);
  expect(more).toEqual([]);
  return policy;
}

/** Readings of a minute, every 2 s: counters and levels that move change evenly. Of each value: at the begin, at the end. */
type Moves = Readonly<Record<string, number | readonly [begin: number, end: number]>>;

function seriesOf(moves: Moves, seconds: number): Series {
  const at = (share: number): Values =>
    Object.fromEntries(
      Object.entries(moves).map(([name, value]) =>
        typeof value === 'number' ? [name, value] : [name, value[0] + share * (value[1] - value[0])],
      ),
    );
  const steps = 30;
  return Object.fromEntries(Array.from({ length: steps + 1 }, (_step, index) => [(index * seconds) / steps, at(index / steps)]));
}

function truth(condition: Condition, cgroup: Moves, node: Moves, seconds: number): Truth {
  const { longestWindowNs } = conditionNeeds([condition]);
  const history = (moves: Moves, scope: ScopeKind) => historyOf(seriesOf(moves, seconds), longestWindowNs, scope);
  const [ofCgroup, ofNode] = [history(cgroup, 'cgroup'), history(node, 'node')];
  return evaluateCondition(condition, { ...(ofCgroup && { cgroup: ofCgroup }), ...(ofNode && { node: ofNode }) });
}

const bytes = (amount: bigint, times: number): number => Number(amount) * times;
const memory = (share: number): Moves => ({ 'memory.available': share * bytes(Gi, 16), 'memory.available.capacity': bytes(Gi, 16) });
const swap = (share: number): Moves => ({ 'swap.available': share * bytes(Gi, 4), 'swap.available.capacity': bytes(Gi, 4) });
/** Waiting for this share of the time. */
const stall = (kind: string, share: number, seconds = 60): Moves => ({ [`${kind}.total`]: [0, share * seconds * 1e6] });

interface Situation {
  readonly cgroup?: Moves;
  readonly node?: Moves;
  /** How long the readings last; 60. */
  readonly seconds?: number;
}

/** A machine for which the recipe is, and one that is nearly so. */
const SITUATIONS: Readonly<Record<string, { readonly acts: Situation; readonly rests: Situation }>> = {
  'Build server': {
    acts: { cgroup: stall('memory.pressure.full', 0.5), node: memory(0.1) },
    rests: { cgroup: stall('memory.pressure.full', 0.5), node: memory(0.2) },
  },
  'Database with a cache': {
    acts: { node: { ...memory(0.1), workingset_refault: [0, 180_000] } },
    rests: { node: { ...memory(0.1), workingset_refault: [0, 100_000] } },
  },
  Desktop: {
    acts: { cgroup: stall('memory.pressure.full', 0.4), node: memory(0.05) },
    rests: { cgroup: stall('memory.pressure.full', 0.2), node: memory(0.05) },
  },
  'CI runners': {
    acts: { cgroup: { 'memory.current': bytes(Mi, 990), 'memory.max': bytes(Mi, 1000), 'memory.events.max': [0, 100] } },
    rests: { cgroup: { 'memory.current': bytes(Mi, 990), 'memory.events.max': [0, 100] } },
  },
  'Swap on zram': {
    acts: { node: { ...memory(0.1), ...swap(0.1), pswpout: [0, 120_000] } },
    rests: { node: { ...memory(0.1), pswpout: [0, 120_000] } },
  },
  'Memory-hungry cron jobs': {
    acts: { cgroup: { 'memory.current': bytes(Gi, 2) }, node: memory(0.1) },
    rests: { cgroup: { 'memory.current': bytes(Mi, 100) }, node: memory(0.1) },
  },
  'Containers beside services': {
    acts: { node: { ...memory(0.1), ...stall('memory.pressure.some', 0.4) } },
    rests: { node: { ...memory(0.1), ...stall('memory.pressure.some', 0.2) } },
  },
  'Thrashing without bytes missing': {
    acts: { cgroup: { 'memory.pressure.full.avg10': 30, workingset_refault: [0, 60_000] } },
    rests: { cgroup: { 'memory.pressure.full.avg10': 90, workingset_refault: [0, 1000] } },
  },
  'Leak detector': {
    acts: { cgroup: { age: [7500, 9300], 'memory.anon': [bytes(Mi, 500), bytes(Mi, 550)] }, seconds: 1800 },
    rests: { cgroup: { age: [7500, 9300], 'memory.anon': [bytes(Mi, 500), bytes(Mi, 510)] }, seconds: 1800 },
  },
  'Notify only': {
    acts: { node: { ...stall('memory.pressure.full', 0.1), ...stall('io.pressure.full', 0.7) } },
    rests: { node: { ...stall('memory.pressure.full', 0.1), ...stall('io.pressure.full', 0.5), ...swap(0.5) } },
  },
};

test('there are ten recipes, and each has its situations', () => {
  expect([...recipes.keys()]).toEqual(Object.keys(SITUATIONS));
  expect(recipes.size).toBe(10);
});

test.each([...recipes])('evictd config check --strict accepts: %s', (_recipe, yaml) => {
  const loaded = load({ 'config.yaml': yaml });
  const policies = { fixed: { node: new Map(), cgroup: new Map() }, fixedIn: new Map(), matches: new Map(), cgroupVersion: 2 } as const;
  const notices = [undefined, machine({ policies })].flatMap((facts) => lintConfig(loaded, facts));
  expect(notices.filter(({ level }) => level !== 'info')).toEqual([]);
});

describe.each(Object.entries(SITUATIONS))('%s', (recipe, { acts, rests }) => {
  const holds = ({ cgroup = {}, node = {}, seconds = 60 }: Situation): Truth => truth(policyOf(recipe).when, cgroup, node, seconds);

  test('acts in its situations', () => {
    expect(holds(acts)).toBe(true);
  });

  test('does not act in other situations', () => {
    expect(holds(rests)).not.toBe(true);
  });
});
