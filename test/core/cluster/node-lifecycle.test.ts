import { expect, test } from 'vitest';
import type { ClusterNode } from '../../../src/core/cluster/cluster-node.js';
import { DEFAULT_GRACE_NS, NodeLifecycle, type NodeEffect } from '../../../src/core/cluster/node-lifecycle.js';
import { DEFAULT_RATES, evictionRate, zoneState } from '../../../src/core/cluster/zone-disruption.js';

const SECOND = 1_000_000_000n;
const lifecycle = (): NodeLifecycle => new NodeLifecycle({ ...DEFAULT_RATES, graceNs: DEFAULT_GRACE_NS });

function node(name: string, ready: string | undefined, more: Partial<ClusterNode> = {}): ClusterNode {
  const conditions = ready === undefined ? [] : [{ type: 'Ready', status: ready }];
  return { ...{ name, zone: '', isExcluded: false, unschedulable: false, taints: [], heartbeat: '', conditions }, ...more };
}

const silenced = (effects: readonly NodeEffect[]): string[] =>
  effects.flatMap(({ kind, node: name }) => (kind === 'silence' ? [name] : []));
const evicting = (effects: readonly NodeEffect[]): string[] =>
  effects.flatMap((effect) => (effect.kind === 'taint' && effect.mode === 'set' ? [effect.node] : []));

test.each<[rule: string, ready: string | undefined, seenNs: bigint, silent: boolean]>([
  ['at the end of the grace period the node is not silent', 'True', 50n * SECOND, false],
  ['just after the grace period the node is silent', 'True', 50n * SECOND + 1n, true],
  ['a node that has never reported has a minute', undefined, 60n * SECOND, false],
  ['a node that has never reported is silent after a minute', undefined, 60n * SECOND + 1n, true],
])('%s', (_, ready, seenNs, silent) => {
  const nodes = lifecycle();
  nodes.setNode(node('a', ready), 0n);
  expect(silenced(nodes.tick(seenNs, seenNs))).toEqual(silent ? ['a'] : []);
});

test('a time in which the controller saw nothing is not silence, and a new renewTime or heartbeat ends the silence', () => {
  const nodes = lifecycle();
  for (const name of ['a', 'b', 'c']) nodes.setNode(node(name, 'True'), 0n);
  expect(silenced(nodes.tick(1_000n * SECOND, 50n * SECOND))).toEqual([]);
  nodes.setLease('a', '1', 60n * SECOND);
  nodes.setNode(node('b', 'True', { heartbeat: '1' }), 60n * SECOND);
  nodes.setNode(node('c', 'True', { unschedulable: true }), 60n * SECOND);
  expect(silenced(nodes.tick(110n * SECOND, 110n * SECOND))).toEqual(['c']);
  nodes.setLease('a', '1', 100n * SECOND); // a list again
  expect(silenced(nodes.tick(111n * SECOND, 111n * SECOND))).toEqual(['a', 'b', 'c']);
});

test.each<[rule: string, leases: readonly (readonly [node: string, atSeconds: bigint])[], silent: readonly string[]]>([
  [
    'a node whose lease stays the same while those of others change is silent',
    [
      ['a', 25n],
      ['a', 50n],
      ['a', 60n],
    ],
    ['b'],
  ],
  [
    'after a time without a change of any lease each node has its whole grace period again',
    [
      ['a', 25n],
      ['a', 51n],
      ['a', 60n],
    ],
    [],
  ],
  ['where no lease changes any more all nodes are silent', [], ['a', 'b']],
])('%s', (_, leases, silent) => {
  const nodes = lifecycle();
  for (const name of ['a', 'b']) {
    nodes.setLease(name, '0', 0n);
    nodes.setNode(node(name, 'True'), 0n);
  }
  for (const [name, seconds] of leases) nodes.setLease(name, String(seconds), seconds * SECOND);
  expect(silenced(nodes.tick(61n * SECOND, 61n * SECOND))).toEqual(silent);
});

test('nodes that are not ready get their NoExecute taint one after another, at the rate of their zone', () => {
  const nodes = lifecycle();
  for (const name of ['a', 'b', 'c', 'd', 'e']) nodes.setNode(node(name, 'True'), 0n);
  for (const name of ['a', 'b']) nodes.setNode(node(name, 'False'), 0n);
  nodes.setNode(node('x', 'False', { zone: 'x' }), 0n);
  expect(evicting(nodes.tick(0n, 0n))).toEqual(['a', 'x']);
  expect(evicting(nodes.tick(10n * SECOND - 1n, 0n))).toEqual(['a', 'x']);
  expect(evicting(nodes.tick(10n * SECOND, 0n))).toEqual(['a', 'b', 'x']);
  nodes.setNode(node('b', 'True'), 11n * SECOND);
  expect(evicting(nodes.tick(11n * SECOND, 0n))).toEqual(['a', 'x']);
  nodes.setNode(node('b', 'False'), 12n * SECOND); // it waits again
  expect(evicting(nodes.tick(12n * SECOND, 0n))).toEqual(['a', 'x']);
});

test('a zone without a ready node has no evictions, and a node that is ready again gives each node its grace period again', () => {
  const nodes = lifecycle();
  const taints = [{ key: 'node.kubernetes.io/unreachable', value: '', effect: 'NoExecute' } as const];
  for (const name of ['a', 'b']) nodes.setNode(node(name, 'Unknown', { zone: name, taints }), 0n);
  expect(nodes.tick(0n, 0n).map((effect) => ('mode' in effect ? effect.mode : ''))).toEqual(['clear', 'clear']);
  expect(nodes.isHalted).toBe(true);
  for (const name of ['a', 'b']) nodes.setNode(node(name, 'Unknown', { zone: name }), 0n);
  nodes.setNode(node('a', 'True', { zone: 'a', heartbeat: '1' }), 100n * SECOND);
  expect(evicting(nodes.tick(100n * SECOND, 100n * SECOND))).toEqual([]);
  expect(evicting(nodes.tick(150n * SECOND - 1n, 100n * SECOND))).toEqual([]);
  expect(evicting(nodes.tick(150n * SECOND, 100n * SECOND))).toEqual(['b']);
  expect(nodes.isSilent('b', 150n * SECOND)).toBe(false);
  expect(nodes.isSilent('b', 150n * SECOND + 1n)).toBe(true);
});

test('a silent node counts as not ready at once; an excluded one does not count', () => {
  const nodes = lifecycle();
  nodes.setNode(node('a', 'True'), 0n);
  nodes.setNode(node('b', 'True', { isExcluded: true, heartbeat: '1' }), 0n);
  nodes.tick(51n * SECOND, 51n * SECOND);
  expect(nodes.zones).toEqual([{ zone: '', ready: 0, notReady: 1, state: 'FullDisruption' }]);
  expect(nodes.isHalted).toBe(true);
});

test.each<[rule: string, ready: number, notReady: number, state: string, perSecond: number]>([
  ['all nodes are ready', 5, 0, 'Normal', 0.1],
  ['no node is ready', 0, 1, 'FullDisruption', 0.1],
  ['two of three: fewer than three', 1, 2, 'Normal', 0.1],
  ['three of five', 2, 3, 'PartialDisruption', 0],
  ['less than 55 %', 50, 60, 'Normal', 0.1],
  ['55 % of a large zone', 45, 55, 'PartialDisruption', 0.01],
  ['50 nodes are not large', 22, 28, 'PartialDisruption', 0],
])('a zone: %s', (_, ready, notReady, state, perSecond) => {
  expect(zoneState({ ready, notReady }, DEFAULT_RATES)).toBe(state);
  expect(evictionRate({ ready, notReady }, zoneState({ ready, notReady }, DEFAULT_RATES), DEFAULT_RATES)).toBe(perSecond);
});
