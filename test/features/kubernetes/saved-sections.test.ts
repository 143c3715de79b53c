import { expect, test } from 'vitest';
import { savedDeletion, savedNode } from '../../../src/features/kubernetes/saved-sections.js';

const { reason, ...former } = {
  ...{ uid: 'u', namespace: 'shop', name: 'web', decision: 1, reason: 'TerminationByKubelet' },
  ...{ message: 'evicting', graceSeconds: 30, next: 'condition' },
};
const deletion = { ...former, reason };
const node = { nodeName: 'node-1', taints: [{ key: 'a', value: '', effect: 'NoSchedule' }], isDrainKnown: true, hasCordoned: true };

test.each<[rule: string, saved: unknown, expected: unknown]>([
  ['whole', deletion, deletion],
  ['with a word of an older evictd', { ...former, next: 'mark' }, deletion],
  ['null', null, undefined],
  ['with an unknown call', { ...deletion, next: 'x' }, undefined],
  ['without a uid', { ...deletion, uid: 1 }, undefined],
  ['with a text for the grace period', { ...deletion, graceSeconds: '1' }, undefined],
])('a saved deletion that is %s', (_rule, saved, expected) => {
  expect(savedDeletion().safeParse(saved).data).toEqual(expected);
});

test.each<[rule: string, saved: unknown, expected: unknown]>([
  ['whole', node, node],
  [
    'of an older evictd',
    { ...node, isDrainKnown: undefined, hasCordoned: undefined },
    { ...node, isDrainKnown: false, hasCordoned: false },
  ],
  ['with an unknown effect', { ...node, taints: [{ key: 'a', value: '', effect: 'x' }] }, undefined],
  ['without a name', { ...node, nodeName: 1 }, undefined],
])('a saved node that is %s', (_rule, saved, expected) => {
  expect(savedNode().safeParse(saved).data).toEqual(expected);
});
