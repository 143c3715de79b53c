import { expect, test } from 'vitest';
import { ClusterControl, type ClusterEffect } from '../../../src/core/cluster/cluster-control.js';
import type { ClusterNode } from '../../../src/core/cluster/cluster-node.js';
import type { ClusterPod } from '../../../src/core/cluster/cluster-pod.js';
import { CONTROLLERS, type Controller } from '../../../src/core/cluster/controller.js';
import { DEFAULT_RATES } from '../../../src/core/cluster/zone-disruption.js';

const SECOND = 1_000_000_000n;
const TAINT = { key: 'k', value: '', effect: 'NoExecute' } as const;

function pod(name: string, more: Partial<ClusterPod> = {}): ClusterPod {
  const plain = { namespace: 'n', nodeName: 'a', phase: 'Running', terminating: false, isReady: true, tolerations: [] };
  return { ...plain, name, uid: name, ...more };
}

function node(name: string, ready: string, more: Partial<ClusterNode> = {}): ClusterNode {
  const conditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({ type, status: ready }));
  return { ...{ name, zone: '', isExcluded: false, unschedulable: false, taints: [], heartbeat: '', conditions }, ...more };
}

function cluster(...active: Controller[]): ClusterControl {
  const control = new ClusterControl({ ...DEFAULT_RATES, graceNs: 50n * SECOND });
  control.setParts(new Set(active), 0n);
  return control;
}

const texts = (effects: readonly ClusterEffect[]): string[] =>
  effects.map((effect) => `${effect.kind} ${'pod' in effect ? effect.pod.name : effect.node}`);

test('an eviction is sent again until the pod has a deletion timestamp, and not afterwards', () => {
  const control = cluster('taint-eviction-controller');
  control.handle({ kind: 'pods', listed: [pod('p'), pod('q', { terminating: true })] }, 0n, 0n);
  expect(texts(control.handle({ kind: 'node', node: node('a', 'True', { taints: [TAINT] }) }, 1n, 1n))).toEqual(['evict p']);
  expect(texts(control.tick(2n, 2n))).toEqual(['evict p']);
  expect(texts(control.handle({ kind: 'pod', pod: pod('p', { isReady: false }) }, 3n, 3n))).toEqual([]);
  control.handle({ kind: 'pod', pod: pod('p', { terminating: true }) }, 4n, 4n);
  expect(texts(control.tick(5n, 5n))).toEqual([]);
});

test('a pod or node that a new list does not have is treated as deleted', () => {
  const control = cluster('taint-eviction-controller');
  const tolerations = [{ key: 'k', operator: 'Exists', value: '', effect: '', tolerationSeconds: 9n }];
  control.handle({ kind: 'nodes', listed: [node('a', 'True', { taints: [TAINT] })] }, 0n, 0n);
  control.handle({ kind: 'pods', listed: [pod('p', { tolerations })] }, 0n, 0n);
  expect(control.nextDueNs(0n)).toBe(9n * SECOND);
  expect(texts(control.handle({ kind: 'pods', listed: [] }, 1n, 1n))).toEqual(['cancel p']);
  control.handle({ kind: 'nodes', listed: [] }, 2n, 2n);
  expect(control.size).toEqual({ nodes: 0, pods: 0 });
  expect(texts(control.handle({ kind: 'pod', pod: pod('p') }, 3n, 3n))).toEqual([]);
});

test('a controller part that starts examines all known objects, and its times begin at its start', () => {
  const control = cluster();
  const tolerations = [{ key: 'k', operator: 'Exists', value: '', effect: '', tolerationSeconds: 9n }];
  control.handle({ kind: 'nodes', listed: [node('a', 'True', { taints: [TAINT] })] }, 0n, 0n);
  control.handle({ kind: 'pods', listed: [pod('p'), pod('q', { tolerations })] }, 0n, 0n);
  expect(texts(control.tick(100n * SECOND, 100n * SECOND))).toEqual([]);
  control.setParts(new Set(['taint-eviction-controller']), 100n * SECOND);
  expect(texts(control.tick(100n * SECOND, 100n * SECOND))).toEqual(['evict p']);
  expect(control.nextDueNs(100n * SECOND)).toBe(109n * SECOND);
  control.setParts(new Set(), 101n * SECOND);
  expect(texts(control.tick(200n * SECOND, 200n * SECOND))).toEqual([]);
});

test('pods of a silent node are not ready, once the node is marked; not those of a kubelet that reports', () => {
  const control = cluster('node-lifecycle-controller');
  const listed = [node('a', 'True'), node('b', 'True', { heartbeat: '1' }), node('c', 'False', { heartbeat: '1' })];
  control.handle({ kind: 'nodes', listed }, 0n, 0n);
  control.handle({ kind: 'pods', listed: [pod('p'), pod('q', { isReady: false }), pod('r', { nodeName: 'c' })] }, 0n, 0n);
  control.handle({ kind: 'leases', listed: ['b', 'c'].map((name) => ({ node: name, renewTime: '1' })) }, 51n * SECOND, 51n * SECOND);
  expect(texts(control.tick(51n * SECOND, 51n * SECOND)).filter((text) => !text.startsWith('taint'))).toEqual(['silence a']);
  control.handle({ kind: 'node', node: node('a', 'Unknown') }, 51n * SECOND, 51n * SECOND);
  expect(texts(control.tick(51n * SECOND, 51n * SECOND)).filter((text) => !text.startsWith('taint'))).toEqual(['not ready p']);
});

test('the taints of nodes and the readiness of pods come before evictions', () => {
  const control = cluster('node-lifecycle-controller', 'taint-eviction-controller');
  const taints = [{ key: 'node.kubernetes.io/unreachable', value: '', effect: 'NoExecute' } as const];
  const listed = [node('a', 'True', { taints, heartbeat: '1' }), node('b', 'Unknown')];
  control.handle({ kind: 'nodes', listed }, 0n, 0n);
  control.handle({ kind: 'pods', listed: [pod('p', { isReady: false }), pod('q', { nodeName: 'b' })] }, 0n, 0n);
  control.handle({ kind: 'leases', listed: [{ node: 'a', renewTime: '1' }] }, 51n * SECOND, 51n * SECOND);
  const effects = texts(control.tick(51n * SECOND, 51n * SECOND));
  expect(effects).toEqual(expect.arrayContaining(['taint a', 'not ready q']));
  expect(effects.at(-1)).toBe('evict p');
});

test('nothing ends a pod while nodes and leases cannot be seen', () => {
  const control = cluster(...CONTROLLERS);
  const taints = [{ key: 'node.kubernetes.io/out-of-service', value: '', effect: 'NoExecute' } as const];
  control.handle({ kind: 'nodes', listed: [node('a', 'False', { taints })] }, 0n, 0n);
  control.handle({ kind: 'pods', listed: [pod('p'), pod('q', { terminating: true })] }, 0n, 0n);
  const ends = (nowNs: bigint, seenNs: bigint): string[] =>
    texts(control.tick(nowNs, seenNs)).filter((text) => !/^(taint|silence)/.test(text));
  expect(ends(91n * SECOND, 0n)).toEqual([]);
  expect(ends(91n * SECOND, SECOND)).toEqual(['evict p', 'force delete q']);
});

test('an eviction that was due is not cancelled when its pod is deleted, but a waiting one is', () => {
  const control = cluster('taint-eviction-controller');
  const tolerations = [{ key: 'k', operator: 'Exists', value: '', effect: '', tolerationSeconds: 9n }];
  control.handle({ kind: 'nodes', listed: [node('a', 'True', { taints: [TAINT] })] }, 0n, 0n);
  control.handle({ kind: 'pods', listed: ['p', 'q'].map((name) => pod(name, { tolerations })) }, 0n, 0n);
  expect(texts(control.handle({ kind: 'pod', pod: pod('p', { terminating: true }) }, 9n * SECOND - 1n, 9n * SECOND - 1n))).toEqual([
    'cancel p',
  ]);
  expect(texts(control.handle({ kind: 'pod', pod: pod('q', { terminating: true }) }, 9n * SECOND, 9n * SECOND))).toEqual([]);
});

test('a node is silent only for the heartbeat that was judged, and not when its Lease was replaced', () => {
  const control = cluster('node-lifecycle-controller');
  control.handle({ kind: 'nodes', listed: [node('a', 'True', { heartbeat: '1' })] }, 0n, 0n);
  control.handle({ kind: 'leases', listed: [{ node: 'a', renewTime: '1' }] }, 0n, 0n);
  expect(control.isSilent({ name: 'a', heartbeat: '1' }, 51n * SECOND)).toBe(true);
  expect(control.isSilent({ name: 'a', heartbeat: '2' }, 51n * SECOND)).toBe(false);
  control.handle({ kind: 'leases', listed: [] }, 101n * SECOND, 101n * SECOND);
  control.handle({ kind: 'lease', lease: { node: 'a', renewTime: '1' } }, 101n * SECOND, 101n * SECOND); // a new Lease of that name
  expect(control.isSilent({ name: 'a', heartbeat: '1' }, 151n * SECOND)).toBe(false);
});

test('no pod is evicted while the nodes have not been seen for 90 s, and what waited is evicted or cancelled afterwards', () => {
  const control = cluster('taint-eviction-controller');
  control.handle({ kind: 'node', node: node('a', 'True', { taints: [TAINT] }) }, 0n, 0n);
  control.handle({ kind: 'node', node: node('b', 'True', { taints: [TAINT] }) }, 0n, 0n);
  expect(texts(control.handle({ kind: 'pod', pod: pod('early') }, 90n * SECOND, 0n))).toEqual(['evict early']);
  control.handle({ kind: 'pod gone', uid: 'early' }, 90n * SECOND, 0n);
  const late = 90n * SECOND + 1n;
  expect(texts(control.handle({ kind: 'pod', pod: pod('p') }, late, 0n))).toEqual([]);
  expect(texts(control.handle({ kind: 'pod', pod: pod('q', { nodeName: 'b' }) }, late, 0n))).toEqual([]);
  expect(texts(control.tick(late, 0n))).toEqual([]);
  expect(texts(control.handle({ kind: 'node', node: node('a', 'True') }, late, late))).toEqual(['cancel p']);
  expect(texts(control.tick(late, late))).toEqual(['evict q']);
});

test('every 20 s pods are deleted by force that no kubelet can end', () => {
  const control = cluster(...CONTROLLERS);
  const taints = [{ key: 'node.kubernetes.io/out-of-service', value: '', effect: 'NoExecute' } as const];
  control.handle({ kind: 'nodes', listed: [node('a', 'False', { taints }), node('b', 'True', { taints })] }, 0n, 0n);
  const ending = { terminating: true };
  const listed = [
    pod('p', ending),
    pod('q', { ...ending, phase: 'Failed' }),
    pod('r', { ...ending, nodeName: 'b' }),
    pod('s', { ...ending, nodeName: '' }),
  ];
  control.handle({ kind: 'pods', listed }, 0n, 0n);
  const forced = (nowNs: bigint): unknown[] =>
    control.tick(nowNs, 0n).flatMap((effect) => (effect.kind === 'force delete' ? effect.pod.name : []));
  expect(forced(0n)).toEqual(['p', 'q', 's']);
  expect(forced(19n * SECOND)).toEqual([]);
  expect(forced(20n * SECOND)).toEqual(['p', 'q', 's']);
});
