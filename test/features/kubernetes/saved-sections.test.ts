import { expect, test } from 'vitest';
import { deletionSection, savedDeletion, savedNode } from '../../../src/features/kubernetes/saved-sections.js';

const { reason, ...former } = {
  ...{ uid: 'u', namespace: 'shop', name: 'web', decision: 1, reason: 'TerminationByKubelet' },
  ...{ message: 'evicting', graceSeconds: 30, next: 'condition' },
};
const deletion = { ...former, reason };
const WHOLE = { ...deletion, message: '', reason: 'r', next: 'done', ended: 5, isSignalled: true, isOver: true };
const node = { nodeName: 'node-1', taints: [{ key: 'a', value: '', effect: 'NoSchedule' }], isDrainKnown: true, hasCordoned: true };

test.each<[rule: string, saved: unknown, expected: unknown]>([
  ['whole', deletion, deletion],
  ['with a word of an older evictd', { ...former, next: 'mark' }, deletion],
  ['in its short form', ['u', 'shop', 'web', 1, 30, 'condition', 0, 0, '', 'evicting'], deletion],
  ['in that form, with all fields', ['u', 'shop', 'web', 1, 30, 'done', 5, 3, 'r', ''], WHOLE],
  ['in that form, with another length', ['u', 'shop', 'web', 1, 30, 'condition', 0, 0, ''], undefined],
  ['in that form, with other types', ['u', 'shop', 'web', '1', null, 'condition', {}, 'x', 4, 5], undefined],
  ['null', null, undefined],
  ['with an unknown call', { ...deletion, next: 'x' }, undefined],
  ['without a uid', { ...deletion, uid: 1 }, undefined],
  ['with a text for the grace period', { ...deletion, graceSeconds: '1' }, undefined],
])('a saved deletion that is %s', (_rule, saved, expected) => {
  expect(savedDeletion().safeParse(saved).data).toEqual(expected);
});

test('pending deletions are saved in their short form, and nothing where there is none', () => {
  const kept: unknown[] = [];
  const section = deletionSection({ before: [], keep: (value) => kept.push(value) });
  section.keep([deletion]);
  section.keep(undefined);
  expect(kept).toEqual([[['u', 'shop', 'web', 1, 30, 'condition', 0, 0, '', 'evicting']], undefined]);
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
