import { expect, test } from 'vitest';
import { initialState, type State } from '../../../src/core/decide/state.js';
import { lookAtPolicies } from '../../../src/core/ladder/policy-look.js';
import { stepPolicies } from '../../../src/core/ladder/policy-step.js';
import { input, policy, SECOND } from '../support.js';
import { condition, FREEZE, NOTIFY, ofCgroup, reading, using } from './policies.js';

const growing = ofCgroup([NOTIFY], { when: condition('memory.growth > 40Ki over 4s', 'cgroup'), cooldownNs: 0n });
const at = (seconds: number, kibibytes: number) => {
  const read = reading('/a', BigInt(seconds) * SECOND, { 'memory.current': kibibytes * 1024 });
  return input(BigInt(seconds) * SECOND, undefined, { policyReadings: () => ({ scopes: new Map([['p', [read]]]) }) });
};

test('the readings of looks are those that a step judges by', () => {
  const inForce = policy([], { policies: [growing] });
  const looked = [at(0, 10), at(2, 20), at(4, 30)].reduce<State>(
    (state, one) => lookAtPolicies(inForce, state, one, Infinity)?.state ?? initialState,
    initialState,
  );
  expect(stepPolicies(inForce, { state: looked, effects: [] }, at(5, 60))?.effects.map(({ kind }) => kind)).toContain('policy');
  expect(stepPolicies(inForce, { state: initialState, effects: [] }, at(5, 60))?.effects).toEqual([]);
});

test('a look decides nothing: where a condition holds, or a workload is frozen, a step has to', () => {
  const inForce = policy([], { policies: [ofCgroup([FREEZE], { forNs: 10n * SECOND })] });
  const look = (state: State, kibibytes: number) => lookAtPolicies(inForce, state, input(SECOND, undefined, using(kibibytes)), 1024);
  expect(look(initialState, 100)).toEqual({ state: initialState, leadNs: 0n });
  expect(look(initialState, 101)).toBeUndefined();
  const target = { id: 'a', name: 'a', path: '/a' };
  const frozen = { action: 'freeze', target, policy: 'p', scope: '/a', condition: '', key: 'p', step: 0, atNs: 0n } as const;
  expect(look({ ...initialState, policies: { ...initialState.policies, restraints: [frozen] } }, 100)).toBeUndefined();
});

test.each<[rule: string, conditions: readonly string[], leadNs: bigint]>([
  ['for so long it cannot become true', ['memory.current > 103Ki'], 3n * SECOND],
  ['the nearest of all counts', ['memory.current > 103Ki', 'memory.current > 101Ki'], SECOND],
  ['at most ten seconds', ['memory.current > 1Ti'], 10n * SECOND],
  ['a window is read before', ['memory.current > 105Ki & memory.growth > 1Gi over 2s'], 3n * SECOND],
  ['a window alone', ['memory.current > 103Ki | memory.growth > 1Gi over 2s'], 0n],
])('policies at rest: %s', (_rule, conditions, leadNs) => {
  const configured = conditions.map((text, index) => ofCgroup([NOTIFY], { name: `p${String(index)}`, when: condition(text, 'cgroup') }));
  const scopes = new Map(configured.map(({ name }) => [name, [reading('/a', SECOND, { 'memory.current': 100 * 1024 })]]));
  const one = input(SECOND, undefined, { policyReadings: () => ({ scopes }) });
  expect(lookAtPolicies(policy([], { policies: configured }), initialState, one, 1024)?.leadNs).toBe(leadNs);
});
