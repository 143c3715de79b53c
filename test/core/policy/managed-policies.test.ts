import { describe, expect, test } from 'vitest';
import { conditionText } from '../../../src/core/condition/condition-text.js';
import type { ConfiguredPolicy } from '../../../src/core/policy/configured-policy.js';
import { managedPolicies } from '../../../src/core/policy/managed-policies.js';
import type { ManagedUnit } from '../../../src/core/systemd/managed-unit.js';
import { OOMD_DEFAULTS, type ManagedSettings } from '../../../src/core/systemd/oomd-settings.js';

const SECOND = 1_000_000_000n;
const unit = (path: string, settings: Partial<ManagedUnit>): ManagedUnit => ({
  name: path.slice(1),
  path,
  swap: false,
  rules: [],
  ...settings,
});
const policies = (units: readonly ManagedUnit[], changes: Partial<ManagedSettings> = {}): readonly ConfiguredPolicy[] =>
  managedPolicies({ units, settings: OOMD_DEFAULTS, rules: [], isLeftToOomd: false, ...changes });
const text = ({ when, scope }: ConfiguredPolicy): string => conditionText(when, scope === undefined ? 'node' : 'cgroup');

/** As systemd-oomd waits for reclaim: at once where it can be known, else within its 30 s. */
const RECLAIMS = '(pgscan > 0 over 2s | pgscan > 0 over 30s)';

describe('policies for ManagedOOMSwap', () => {
  test('choose the unit below managed cgroups that uses most swap, and more than 5 % of it, if memory and swap are short', () => {
    const [policy, ...others] = policies([
      unit('/a.slice', { swap: true }),
      unit('/b.slice', { swap: true }),
      unit('/c.slice', { pressure: {} }),
    ]);
    expect(others).toHaveLength(1);
    expect(policy && text(policy)).toBe('memory.available < 10% & swap.available < 10%');
    expect(policy).toMatchObject({
      name: 'managed-oom-swap',
      managed: { within: ['/a.slice', '/b.slice'], swapAbove: 0.05 },
      forNs: 0n,
      cooldownNs: 0n,
      then: [{ kind: 'kill', by: ['swap'], unit: 'workload', recursive: false }],
    });
    expect(policy?.scope).toBeUndefined();
    expect(policy?.when).toMatchObject({ conditions: [{ amount: { ratio: 0.1 } }, { amount: { ratio: 0.1 } }] });
  });

  test.each([
    [0.8, 'memory.available < 20% & swap.available < 20%'],
    [0.855, 'memory.available < 14.5% & swap.available < 14.5%'],
    [1, 'memory.available < 0% & swap.available < 0%'],
  ])('have the limit of SwapUsedLimit=%d', (swapUsedLimit, expected) => {
    const [policy] = policies([unit('/a.slice', { swap: true })], { settings: { ...OOMD_DEFAULTS, swapUsedLimit } });
    expect(policy && text(policy)).toBe(expected);
  });
});

describe('policies for ManagedOOMMemoryPressure', () => {
  test('are one for each unit, with the defaults of systemd-oomd', () => {
    const [policy, ...others] = policies([unit('/a.slice', { pressure: {} }), unit('/b.service', { pressure: {} })]);
    expect(others).toEqual([]);
    expect(policy && text(policy)).toBe(`memory.pressure.full.avg10 > 60% & ${RECLAIMS}`);
    expect(policy).toMatchObject({
      name: 'managed-oom-pressure-60-30s',
      scope: { paths: ['/a.slice', '/b.service'] },
      managed: { within: ['/a.slice', '/b.service'] },
      forNs: 30n * SECOND,
      cooldownNs: 15n * SECOND,
      then: [{ kind: 'kill', by: ['pgscan', 'size'] }],
    });
    expect(policy?.managed).not.toHaveProperty('swapAbove');
  });

  test('of the root slice use the pressure of the node', () => {
    const [policy] = policies([unit('/', { pressure: { limit: 0.5 } })]);
    expect(policy && text(policy)).toBe(`memory.pressure.full.avg10 > 50% & ${RECLAIMS}`);
    expect(policy).toMatchObject({
      name: 'managed-oom-root-pressure-50-30s',
      managed: { within: ['/'] },
      when: { conditions: [{ metric: { of: 'node' } }, {}] },
    });
    expect(policy?.scope).toBeUndefined();
  });

  test('of units with limits or durations of their own are separate', () => {
    const units = [
      unit('/a.slice', { pressure: { limit: 0.2 } }),
      unit('/b.slice', { pressure: { limit: 0.2, durationNs: 2_500_000_000n } }),
      unit('/c.slice', { pressure: { durationNs: 30n * SECOND, limit: 0.6 } }),
      unit('/d.slice', { pressure: {} }),
    ];
    const found = policies(units, { settings: { ...OOMD_DEFAULTS, pressureDurationNs: 20n * SECOND } });
    expect(found.map(({ name, scope, forNs }) => [name, scope?.paths, forNs])).toEqual([
      ['managed-oom-pressure-20-20s', ['/a.slice'], 20n * SECOND],
      ['managed-oom-pressure-20-2.5s', ['/b.slice'], 2_500_000_000n],
      ['managed-oom-pressure-60-30s', ['/c.slice'], 30n * SECOND],
      ['managed-oom-pressure-60-20s', ['/d.slice'], 20n * SECOND],
    ]);
  });
});

describe('policies for rule files of systemd-oomd', () => {
  const rule = { name: 'r', lastingNs: 5n * SECOND } as const;
  test('choose the unit that reclaims most if pressure and swap are over their limits', () => {
    const rules = [{ ...rule, pressureAbove: 0.4, swapAbove: 0.8, action: 'kill-by-pgscan' }] as const;
    const [policy, ...others] = policies([unit('/a.slice', { rules: ['r'] }), unit('/b.slice', { rules: ['other'] })], { rules });
    expect(others).toEqual([]);
    expect(policy && text(policy)).toBe('memory.pressure.full.avg10 > 40% & swap.available < 20%');
    expect(policy).toMatchObject({
      name: 'managed-oom-rule-r',
      scope: { paths: ['/a.slice'] },
      managed: { within: ['/a.slice'] },
      forNs: 5n * SECOND,
      cooldownNs: 5n * SECOND,
      then: [{ by: ['pgscan', 'size'] }],
    });
  });

  test('with swap alone have a condition of the node', () => {
    const [policy] = policies([unit('/a.slice', { rules: ['r'] })], { rules: [{ ...rule, swapAbove: 0.8, action: 'kill-by-swap' }] });
    expect(policy && text(policy)).toBe('swap.available < 20%');
    expect(policy?.scope).toBeUndefined();
    expect(policy).toMatchObject({ managed: { within: ['/a.slice'], swapAbove: 0.05 }, then: [{ by: ['swap'] }] });
  });

  test('with kill-all end the units themselves, but no slice', () => {
    const units = [unit('/a.slice', { rules: ['r'] }), unit('/a.slice/web.service', { rules: ['r'] })];
    const [policy] = policies(units, { rules: [{ ...rule, pressureAbove: 0.1, action: 'kill-all' }] });
    const web = ['/a.slice/web.service'];
    expect(policy).toMatchObject({ scope: { paths: web }, managed: { within: web, themselves: true }, then: [{ by: ['size'] }] });
  });

  test.each([
    ['a rule that no unit names', [unit('/a.slice', { rules: ['other'] })], 'kill-by-swap'],
    ['a rule that kills all of a slice', [unit('/a.slice', { rules: ['r'] })], 'kill-all'],
  ] as const)('do not exist for %s', (_rule, units, action) => {
    expect(policies(units, { rules: [{ ...rule, swapAbove: 0.8, action }] })).toEqual([]);
  });
});

test('while systemd-oomd runs there are no managed policies', () => {
  const units = [unit('/a.slice', { swap: true, pressure: {}, rules: ['r'] })];
  const rules = [{ name: 'r', swapAbove: 0.8, action: 'kill-by-swap', lastingNs: 0n }] as const;
  expect(policies(units, { rules })).toHaveLength(3);
  expect(policies(units, { rules, isLeftToOomd: true })).toEqual([]);
});
