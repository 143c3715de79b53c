import { expect, test } from 'vitest';
import { conditionPatch, cordonOf, type CordonOf, type WantedConditions } from '../../../src/core/kubernetes/node-condition-patch.js';
import { cordonPatch, taintPatch } from '../../../src/core/kubernetes/node-spec-patch.js';

const OWN = { key: 'evictd.dev/memory-pressure', value: '', effect: 'NoSchedule' } as const;
const SAME_KEY = { key: OWN.key, effect: 'NoExecute', timeAdded: 'then' };
const STALE = { key: 'team/short', value: '', effect: 'NoSchedule' } as const;
const node = (...taints: object[]) => ({ metadata: { name: 'a b', resourceVersion: '7' }, spec: { taints } });

test.each<[rule: string, given: unknown, isSet: boolean, taints: unknown]>([
  ['the taint of an earlier configuration is removed', node({ ...STALE }, SAME_KEY), false, [SAME_KEY]],
  [
    'the taint of an earlier configuration is removed while the new one is set',
    node({ ...STALE }),
    true,
    [{ key: OWN.key, effect: 'NoSchedule', timeAdded: 'now' }],
  ],
  [
    'the taint of the configuration stays',
    node({ ...STALE }, { ...OWN }),
    true,
    [OWN].map(({ key, value, effect }) => ({ key, value, effect })),
  ],
  ['the taint is set beside the others', node(SAME_KEY), true, [SAME_KEY, { key: OWN.key, effect: 'NoSchedule', timeAdded: 'now' }]],
  ['the taint is already set', node({ ...OWN }), true, undefined],
  ['the taint has another value', node({ ...OWN, value: 'x' }), true, [{ key: OWN.key, effect: 'NoSchedule', timeAdded: 'now' }]],
  ['the taint is removed, and the others stay', node(SAME_KEY, { ...OWN }), false, [SAME_KEY]],
  ['the taint to remove does not exist', node(SAME_KEY), false, undefined],
  ['a node without taints', { metadata: { name: 'a b', resourceVersion: '7' } }, false, undefined],
  ['the document is not a node', { message: 'no' }, true, undefined],
])('a taint: %s', (_rule, given, isSet, taints) => {
  const call = taintPatch(given, isSet ? OWN : undefined, [STALE, OWN], 'now');
  const body = { metadata: { resourceVersion: '7' }, spec: { taints } };
  expect(call).toEqual(taints === undefined ? undefined : expect.objectContaining({ path: '/api/v1/nodes/a%20b', body }));
});

const MESSAGE = 'evictd: an operator has cordoned the node with evictd in boot b';
const CORDONED = { type: 'EvictdCordoned', status: 'True', message: MESSAGE };
const shows = (unschedulable: boolean, ...conditions: object[]) => ({
  metadata: { name: 'a b', resourceVersion: '7' },
  spec: { ...(unschedulable && { unschedulable }) },
  status: { conditions },
});

test.each<[rule: string, given: unknown, isWanted: boolean, unschedulable: boolean | null | undefined]>([
  ['evictd cordons it when its condition is there', shows(false, CORDONED), true, true],
  ['evictd does not cordon the node before its condition is there, because nothing would show that it did', shows(false), true, undefined],
  ['the node is already cordoned', shows(true), true, undefined],
  ['evictd uncordons what it has cordoned', shows(true, CORDONED), false, null],
  ['evictd does not uncordon what another program has cordoned', shows(true), false, undefined],
  ['another program has uncordoned the node', shows(false, CORDONED), false, undefined],
])('a cordon: %s', (_rule, given, isWanted, unschedulable) => {
  const call = cordonPatch(given, isWanted);
  const body = { metadata: { resourceVersion: '7' }, spec: { unschedulable } };
  expect(call).toEqual(
    unschedulable === undefined ? undefined : expect.objectContaining({ contentType: 'application/merge-patch+json', body }),
  );
});

const own = ['EvictdMemoryPressure', 'EvictdDiskPressure', 'EvictdPIDPressure'].map((type) => ({ type }));
const kubelet = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({ type }));
const gone = (type: string) => ({ $patch: 'delete', type });
const READY = { type: 'Ready', status: 'True' };

test.each<[rule: string, given: unknown, wanted: Partial<WantedConditions>, conditions: readonly object[] | undefined]>([
  ["evictd's own condition types are set", shows(false, READY), { names: 'own' }, own],
  ['condition types of a kubelet are left unchanged', shows(false, READY), { names: 'kubelet' }, kubelet],
  [
    'no conditions are wanted, and there are none',
    shows(false, READY, { type: 'MemoryPressure', status: 'True', message: 'kubelet has' }),
    {},
    undefined,
  ],
  [
    'a condition of an earlier configuration is removed',
    shows(false, { type: 'EvictdMemoryPressure', status: 'True' }),
    {},
    [gone('EvictdMemoryPressure')],
  ],
  [
    'a condition of an earlier configuration is removed, also if it is of a type of the kubelet',
    shows(false, { type: 'DiskPressure', message: 'evictd: the' }),
    { names: 'own' },
    [...own, gone('DiskPressure')],
  ],
  ['evictd is going to cordon the node', shows(false), { isCordoned: true }, [CORDONED]],
  ['another program has cordoned the node', shows(true), { isCordoned: true }, undefined],
  ['the node stays cordoned by evictd', shows(true, CORDONED), { isCordoned: true }, undefined],
  ['the node stays cordoned by evictd, with a heartbeat', shows(true, CORDONED), { isCordoned: true, names: 'own' }, [...own, CORDONED]],
  ['evictd is going to uncordon it: the condition stays until then', shows(true, CORDONED), {}, undefined],
  ['the node is not cordoned any more', shows(false, CORDONED), {}, [gone('EvictdCordoned')]],
])('conditions: %s', (_rule, given, wanted, conditions) => {
  const call = conditionPatch('a b', given, { names: 'none', conditions: [], isCordoned: false, bootId: 'b', ...wanted }, 'now');
  const { status } = (call?.body ?? {}) as { readonly status?: { readonly conditions: unknown } };
  expect(status?.conditions).toEqual(conditions?.map((one) => expect.objectContaining(one) as unknown));
});

const UNCORDONED = shows(false);
const runs = (bootID: string, unschedulable: boolean, ...conditions: object[]) => {
  const node = shows(unschedulable, ...conditions);
  return { ...node, status: { ...node.status, nodeInfo: { bootID } } };
};

test.each<[rule: string, given: unknown, expected: CordonOf | undefined]>([
  ['the message names this boot', shows(true, CORDONED), 'this boot'],
  ['the message and the kubelet name this boot', runs('b', true, CORDONED), 'this boot'],
  [
    'the cordon names another boot, and the kubelet the current one',
    runs('b', true, { ...CORDONED, message: `${MESSAGE}2` }),
    'earlier boot',
  ],
  ['the cordon names another boot, and no kubelet reports', runs('', true, { ...CORDONED, message: `${MESSAGE}2` }), 'earlier boot'],
  ['the cordon and the kubelet name another boot', runs('b2', true, { ...CORDONED, message: `${MESSAGE}2` }), 'other machine'],
  ['another program has cordoned the node', shows(true), undefined],
  ['the node is uncordoned', UNCORDONED, undefined],
])('the boot that a cordon belongs to: %s', (_rule, given, expected) => {
  expect(cordonOf(given, 'b')).toBe(expected);
  const again = conditionPatch('a b', given, { names: 'none', conditions: [], isCordoned: true, bootId: 'b' }, 'now');
  const renewed = [expect.objectContaining({ message: MESSAGE }) as unknown];
  expect((again?.body as { status: { conditions: unknown } } | undefined)?.status.conditions).toEqual(
    expected === 'earlier boot' || given === UNCORDONED ? renewed : undefined,
  );
});
