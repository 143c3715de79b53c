import { expect, test } from 'vitest';
import { exemptFromShutdown } from '../../../src/core/workload/shutdown-exempt.js';
import type { Protection, Workload } from '../../../src/core/workload/workload.js';
import { listedProtection, protectionsOf, type Protectable } from '../../../src/workloads/cgroup/protection.js';
import { workload } from '../support.js';

type Why = Protection['kind'] | undefined;
const POD = { uid: 'u', namespace: 'shop', name: 'web', labels: {}, priority: 0 };
const CRITICAL = { protection: { kind: 'critical' } } as const;

test.each<[rule: string, overrides: Partial<Workload>, found: Protection | undefined, why: Why]>([
  ['a workload is ended', {}, undefined, undefined],
  ['a critical workload is ended', CRITICAL, undefined, undefined],
  ['a workload that asks never to be evicted is ended', { protection: { kind: 'omit' } }, undefined, undefined],
  ['the workload that evictd runs in is not ended', {}, { kind: 'self' }, 'self'],
  ['a critical workload that evictd runs in is not ended', CRITICAL, { kind: 'self' }, 'self'],
  ['a protected unit: not', { protection: { kind: 'unit', rule: 'x', why: 'x' } }, undefined, 'unit'],
  ['a workload that contains a protected one is not ended', { protection: { kind: 'contains', name: 'x' } }, undefined, 'contains'],
  ['a pod of a kubelet: not', { protection: { kind: 'kubelet' } }, undefined, 'kubelet'],
  ['a critical pod of the API server: not', { ...CRITICAL, kubernetes: POD }, undefined, 'kubelet'],
  [
    'a critical workload that is also protected is not ended',
    { protection: { kind: 'critical', also: { kind: 'unreported', what: 'pod' } } },
    undefined,
    'unreported',
  ],
  [
    'a workload that hides two protected ones is not ended',
    { protection: { kind: 'critical', also: { kind: 'omit', also: { kind: 'outside' } } } },
    undefined,
    'outside',
  ],
  ['a workload whose eviction would not help: ended', { protection: { kind: 'kill-failed' } }, { kind: 'changed' }, undefined],
])('%s', (_rule, overrides, found, why) => {
  expect(exemptFromShutdown(workload('w', overrides), found)?.kind).toBe(why);
});

interface Written extends Partial<Pick<Protectable, 'oomPreference' | 'byKubelet' | 'pending'>> {
  readonly critical?: boolean;
  readonly liftProtection?: boolean;
}
const at = (path: string, { critical = false, liftProtection = false, ...rest }: Written = {}): Protectable => {
  const effect = { critical, liftProtection };
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    effect,
    listed: listedProtection({ path, effect }, { isOperator: () => false, isNamedByRoot: () => true }),
    ...rest,
  };
};
/** What protects the first of them at an eviction, and at a shutdown. */
const protects = (
  all: readonly Protectable[],
  holdsEvictd: readonly string[] = [],
  node?: string,
  criticalPaths: readonly string[] = [],
): [Why, Why] => {
  const protection = protectionsOf(all, new Set(holdsEvictd), node, criticalPaths).get(all[0]?.path ?? '');
  return [protection?.kind, exemptFromShutdown(workload('w', { protection }), undefined)?.kind];
};
const critical = true;
const omit = { oomPreference: 'omit' } as const;
const pending = { pending: { kind: 'unreported', what: 'pod' } } as const;
const ssh = '/system.slice/ssh.service';

test.each<[rule: string, found: [Why, Why], protection: Why, exempt: Why]>([
  ['nothing', protects([at('/w')]), undefined, undefined],
  ['a rule', protects([at('/w', { critical })]), 'critical', undefined],
  ['its own request', protects([at('/w', omit)]), 'omit', undefined],
  ['its own request and a rule', protects([at('/w', { critical, ...omit })]), 'critical', undefined],
  ['a rule, where evictd lives', protects([at('/w', { critical })], ['/w']), 'critical', 'self'],
  ['a rule, and the list of units', protects([at(ssh, { critical })]), 'critical', 'unit'],
  [
    'a rule, where another rule lifts the protection of the list',
    protects([at(ssh, { critical, liftProtection: true })]),
    'critical',
    undefined,
  ],
  ['a rule, and the kubelet', protects([at('/w', { critical, byKubelet: true })]), 'critical', 'kubelet'],
  ['its own request, and the kubelet', protects([at('/w', { ...omit, byKubelet: true })]), 'omit', 'kubelet'],
  ['a rule, where its pod is not reported yet', protects([at('/w', { critical, ...pending })]), 'critical', 'unreported'],
  ['a rule, outside the node', protects([at('/w', { critical })], [], '/node'), 'critical', 'outside'],
])('a workload is protected by %s', (_rule, found, protection, exempt) => {
  expect(found).toEqual([protection, exempt]);
});

const containing = (above: Written, below: Written, ...rest: [(readonly string[])?, string?, (readonly string[])?]): [Why, Why] =>
  protects([at('/w', above), at('/w/x', below)], ...rest);

test.each<[rule: string, found: [Why, Why], protection: Why, exempt: Why]>([
  ['any workload contains a pod of a kubelet', containing({}, { byKubelet: true }), 'contains', 'contains'],
  ['a critical workload contains another', containing({ critical }, {}), 'critical', undefined],
  ['a critical workload contains a critical one', containing({ critical }, { critical }), 'critical', undefined],
  ['a critical workload contains one that asks never to be evicted', containing({ critical }, omit), 'critical', undefined],
  ['a critical workload contains a pod of a kubelet', containing({ critical }, { byKubelet: true }), 'critical', 'contains'],
  [
    'a critical workload contains a critical pod of a kubelet',
    containing({ critical }, { critical, byKubelet: true }),
    'critical',
    'contains',
  ],
  ['a critical workload contains one whose pod is not reported yet', containing({ critical }, pending), 'critical', 'contains'],
  ['a critical workload contains the one that evictd runs in', containing({ critical }, {}, ['/w/x']), 'critical', 'contains'],
  [
    'a critical workload contains one that is critical by its path',
    containing({ critical }, {}, [], undefined, ['/w/y']),
    'critical',
    undefined,
  ],
  ['a workload that asks never to be evicted contains a critical one', containing(omit, { critical }), 'omit', 'contains'],
  [
    'a workload that asks never to be evicted contains one that is critical by its path',
    containing(omit, {}, [], undefined, ['/w/y']),
    'omit',
    'contains',
  ],
  ['a workload that asks never to be evicted contains another', containing(omit, omit), 'omit', undefined],
  ['a workload that asks never to be evicted contains a pod of a kubelet', containing(omit, { byKubelet: true }), 'omit', 'contains'],
])('a workload and one that it contains: %s', (_rule, found, protection, exempt) => {
  expect(found).toEqual([protection, exempt]);
});
