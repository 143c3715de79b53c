import { expect, test } from 'vitest';
import { initialState, type State } from '../../../src/core/decide/state.js';
import { lookAtPolicies } from '../../../src/core/ladder/policy-look.js';
import { stepPolicies } from '../../../src/core/ladder/policy-step.js';
import { input, Mi, observations, policy, SECOND, threshold } from '../support.js';
import { condition, FREEZE, NOTIFY, ofCgroup, reading, using } from './policies.js';

const BOUNDS = { bytesPerSecond: 1024, isWatched: true };
const growing = ofCgroup([NOTIFY], { when: condition('memory.growth > 40Ki over 4s', 'cgroup'), cooldownNs: 0n });
const at = (seconds: number, kibibytes: number) => {
  const read = reading('/a', BigInt(seconds) * SECOND, { 'memory.current': kibibytes * 1024 });
  return input(BigInt(seconds) * SECOND, undefined, { policyReadings: () => ({ scopes: new Map([['p', [read]]]) }) });
};

test('the readings of a poll between steps are those that a step judges by', () => {
  const inForce = policy([], { policies: [growing] });
  const looked = [at(0, 10), at(2, 20), at(4, 30)].reduce<State>(
    (state, one) => lookAtPolicies(inForce, state, one, { bytesPerSecond: Infinity, isWatched: true })?.state ?? initialState,
    initialState,
  );
  expect(stepPolicies(inForce, { state: looked, effects: [] }, at(5, 60))?.effects.map(({ kind }) => kind)).toContain('policy');
  expect(stepPolicies(inForce, { state: initialState, effects: [] }, at(5, 60))?.effects).toEqual([]);
});

test('a poll between steps decides nothing: a condition that holds, or a frozen workload, needs a step', () => {
  const inForce = policy([], { policies: [ofCgroup([FREEZE], { forNs: 10n * SECOND })] });
  const look = (state: State, kibibytes: number) => lookAtPolicies(inForce, state, input(SECOND, undefined, using(kibibytes)), BOUNDS);
  expect(look(initialState, 100)).toMatchObject({ leadNs: 0n, state: { policies: { scopes: new Map() } } });
  expect(look(initialState, 101)).toBeUndefined();
  const target = { id: 'a', name: 'a', path: '/a' };
  const frozen = { action: 'freeze', target, policy: 'p', scope: '/a', condition: '', key: 'p', step: 0, atNs: 0n } as const;
  expect(look({ ...initialState, policies: { ...initialState.policies, restraints: [frozen] } }, 100)).toBeUndefined();
});

test.each<[rule: string, conditions: readonly string[], leadNs: bigint]>([
  ['the condition cannot become true for that time', ['memory.current > 103Ki'], 3n * SECOND],
  ['the nearest of all counts', ['memory.current > 103Ki', 'memory.current > 101Ki'], SECOND],
  ['the wait is at most ten seconds', ['memory.current > 1Ti'], 10n * SECOND],
  ['a window is read before', ['memory.current > 105Ki & memory.growth > 1Gi over 2s'], 3n * SECOND],
  ['a window alone', ['memory.current > 103Ki | memory.growth > 1Gi over 2s'], 0n],
])('the next poll of idle policies: %s', (_rule, conditions, leadNs) => {
  const configured = conditions.map((text, index) => ofCgroup([NOTIFY], { name: `p${String(index)}`, when: condition(text, 'cgroup') }));
  const scopes = new Map(configured.map(({ name }) => [name, [reading('/a', SECOND, { 'memory.current': 100 * 1024 })]]));
  const one = input(SECOND, undefined, { policyReadings: () => ({ scopes }) });
  expect(lookAtPolicies(policy([], { policies: configured }), initialState, one, BOUNDS)?.leadNs).toBe(leadNs);
});

test.each<[rule: string, unless: string | undefined, leadNs: bigint]>([
  ['tasks have to stall for so long before', undefined, 3n * SECOND],
  ['the window of the exception is read before', 'memory.growth > 0 over 2s', SECOND],
])('pressure over a window: %s', (_rule, unless, leadNs) => {
  const when = condition('memory.pressure.full > 40% over 10s', 'cgroup');
  const one = ofCgroup([NOTIFY], { when, ...(unless !== undefined && { unless: condition(unless, 'cgroup') }) });
  const inForce = policy([], { policies: [one] });
  const look = (state: State, seconds: bigint, stalledUs: number) => {
    const read = reading('/a', seconds * SECOND, { 'memory.pressure.full.total': stalledUs });
    const asked = input(seconds * SECOND, undefined, { policyReadings: () => ({ scopes: new Map([['p', [read]]]) }) });
    return lookAtPolicies(inForce, state, asked, BOUNDS);
  };
  const first = look(initialState, 1n, 0);
  expect(first?.leadNs).toBe(0n);
  expect(look(first?.state ?? initialState, 11n, 1e6)?.leadNs).toBe(leadNs);
});

test.each<[rule: string, condition: string, isWatched: boolean, availableMi: bigint, leadNs: bigint]>([
  ['the threshold is crossed first, which wakes evictd', 'memory.available < 199Mi', true, 200n, 10n * SECOND],
  ['the notifier of the threshold is not armed', 'memory.available < 199Mi', false, 200n, SECOND],
  ['the threshold is crossed', 'memory.available < 198Mi', true, 199n, SECOND],
  ['the policy has the same limit as the threshold', 'memory.available <= 200Mi', true, 201n, SECOND],
])('a policy on less memory than a threshold: %s', (_rule, text, isWatched, availableMi, leadNs) => {
  const [hard, soft] = [threshold('memory.available', '100Mi'), threshold('memory.available', '200Mi')];
  const configured = [{ name: 'p', when: condition(text, 'node'), forNs: 0n, cooldownNs: 0n, then: [NOTIFY] }];
  const one = input(SECOND, observations(SECOND, { 'memory.available': availableMi * Mi }), {
    policyReadings: () => ({ scopes: new Map() }),
  });
  const bounds = { bytesPerSecond: 2 ** 20, isWatched };
  expect(lookAtPolicies(policy([hard, soft], { policies: configured }), initialState, one, bounds)?.leadNs).toBe(leadNs);
});
