import { expect, test } from 'vitest';
import type { LoadedUnit } from '../../../src/core/systemd/loaded-unit.js';
import type { RuntimePart } from '../../../src/core/workload/pod-sandbox.js';
import { KnownWorkloads, usageOf } from '../../../src/workloads/cgroup/cgroup-workload.js';
import type { Member } from '../../../src/workloads/cgroup/source-root.js';
import { SECOND } from '../../core/support.js';

const sample = { usageBytes: 0n, workingSetBytes: 0n, staysBytes: 0n, swapBytes: 0n, guaranteedBytes: undefined };
const GPU = { key: 'gpu', operator: 'Exists', value: '', effect: '' };
const requested = (graceNs: bigint | undefined): Member => {
  const effect = { terminationGracePeriodNs: graceNs, directories: [], tolerations: [GPU] };
  return { name: 'web', path: '/web', id: 1n, effect, limitBytes: undefined, unit: undefined } as unknown as Member;
};

test.each<[rule: string, requested: number | undefined, reported: number | undefined, unit: number | undefined, has: number | undefined]>([
  ['a unit has what a rule says', 40, undefined, 90, 40],
  ['a unit has the time of a rule, but no more than its TimeoutStopSec=, after which systemd kills it', 150, undefined, 90, 90],
  ['a unit has its TimeoutStopSec= if no rule sets a time', undefined, undefined, 90, 90],
  ['a unit that systemd waits for for ever has what a rule says', 150, undefined, undefined, 150],
  ['a container has that of a rule, however short the timeout of its scope is', 150, 300, 90, 150],
  ['a container has the time of its runtime if no rule sets one', undefined, 300, 90, 300],
])('the grace period of a workload: %s', (_rule, byRule, reported, unit, has) => {
  const seconds = (given: number | undefined): bigint | undefined => (given === undefined ? undefined : BigInt(given) * SECOND);
  const loaded = { timeoutStopNs: seconds(unit) } as LoadedUnit;
  const runtime = reported === undefined ? undefined : ({ terminationGracePeriodNs: seconds(reported) } as RuntimePart);
  const known = { oomPreference: undefined, protection: undefined, loaded, runtime };
  expect(new KnownWorkloads().of(requested(seconds(byRule)), sample, known).terminationGracePeriodNs).toBe(seconds(has));
});

test('a workload is built again only when a fact about it has changed', () => {
  const workloads = new KnownWorkloads();
  const member = requested(undefined);
  const facts = { oomPreference: undefined, protection: undefined, loaded: undefined, runtime: undefined };
  const first = workloads.of(member, sample, facts);
  expect(first.tolerations).toEqual([GPU]);
  expect(workloads.of(member, { ...sample, usageBytes: 7n }, { ...facts })).toBe(first);
  expect(workloads.of(member, sample, { ...facts, oomPreference: 'avoid' })).toMatchObject({ avoid: true });
  expect(workloads.of(member, sample, { ...facts, protection: { kind: 'critical' } }).protection).toEqual({ kind: 'critical' });
  expect(workloads.of(member, { ...sample, guaranteedBytes: 5n }, facts).requests.memory).toBe(5_000_000_000n);
  expect(workloads.of(requested(undefined), sample, facts)).not.toBe(first); // another cgroup
});

test('a unit that is not up is reported as soon as systemd reports it', () => {
  const workloads = new KnownWorkloads();
  const member = { ...requested(undefined), unit: { name: 'web.service', path: '/web', manager: 'system' } } as Member;
  const stateIn = (activeState: string | undefined) => {
    const loaded = activeState === undefined ? undefined : ({ activeState } as LoadedUnit);
    return workloads.of(member, sample, { oomPreference: undefined, protection: undefined, loaded, runtime: undefined }).unit;
  };
  for (const state of ['activating', 'deactivating', 'failed']) expect(stateIn(state)).toMatchObject({ name: 'web.service', state });
  for (const state of ['active', 'reloading', 'refreshing', undefined]) expect(stateIn(state)).not.toHaveProperty('state');
});

test('a login session is avoided, unless a rule gives it a priority', () => {
  const facts = { oomPreference: undefined, protection: undefined, loaded: undefined, runtime: undefined };
  const member = { ...requested(undefined), isSession: true };
  const ruled = { ...member, effect: { ...member.effect, priority: 0 } };
  expect(new KnownWorkloads().of(member, sample, facts)).toMatchObject({ avoid: true });
  expect(new KnownWorkloads().of(ruled, sample, facts)).not.toHaveProperty('avoid');
});

test.each(['swapBytes', 'staysBytes'] as const)('%s is present only if it is not 0', (name) => {
  const workload = new KnownWorkloads().of(requested(undefined), sample, {
    oomPreference: undefined,
    protection: undefined,
    loaded: undefined,
    runtime: undefined,
  });
  expect(usageOf(workload, { ...sample, [name]: 7n }).stats).toMatchObject({ [name]: 7n });
  expect(usageOf(workload, sample).stats).not.toHaveProperty(name);
});
