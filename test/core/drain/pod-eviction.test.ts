import { expect, test } from 'vitest';
import { evictPod, type EvictionRequest, type PodBudget } from '../../../src/core/drain/pod-eviction.js';

const POD = { name: 'web', namespace: '', uid: 'u', resourceVersion: '7', phase: 'Running', ready: true, terminating: false };
const BUDGET: PodBudget = {
  ...{ namespace: '', name: 'b', matches: true, alwaysAllowsUnhealthy: false, generation: 0n, observedGeneration: 0n },
  ...{ currentHealthy: 3n, desiredHealthy: 2n, disruptionsAllowed: 1n, disruptedPods: 0n, condition: undefined },
};
const unready = { pod: { ...POD, ready: false } };
const ended = { pod: { ...POD, phase: 'Failed' } };
const DRY = { optionsDryRun: ['All'] };
const differs = (name: string, asked: string, known: string): string =>
  `Operation cannot be fulfilled on Pod "web": the ${name} in the precondition (${asked}) does not match the ${name} in record (${known}).`;
const UID = { uid: 'x' };
const VERSION = { resourceVersion: '6' };

// pkg/registry/core/pod/storage/eviction.go, addConditionAndDeletePod
test.each<[rule: string, request: Partial<EvictionRequest>, code: number, deleteCalls: number, marked: boolean, message?: string]>([
  ['another uid: the pod is not even marked', UID, 409, 0, false, differs('UID', 'x', 'u')],
  ['the pod has another version', VERSION, 409, 0, false, differs('ResourceVersion', '6', '7')],
  ['both differ: the uid is checked first', { ...UID, ...VERSION }, 409, 0, false, differs('UID', 'x', 'u')],
  ['a dry run marks nothing: the deletion checks it', { ...UID, ...DRY }, 409, 1, false, differs('UID', 'x', 'u')],
  ['a conflict is tried again for a pod that has ended', { ...ended, ...UID, ...DRY }, 409, 20, false, differs('UID', 'x', 'u')],
  [
    'a conflict is not tried again for a pod that has ended if the request names a version',
    { ...ended, ...VERSION, ...DRY },
    409,
    1,
    false,
    differs('ResourceVersion', '6', '7'),
  ],
  ['a pod that is not ready is bound to the version that was read', { ...unready, ...VERSION }, 201, 1, true],
  ['a pod that is not ready is still bound to its uid', { ...unready, ...VERSION, ...UID }, 409, 0, false, differs('UID', 'x', 'u')],
  [
    'another uid of a pod that is not ready is hidden by the refusal of the budget, if the request names no version',
    { ...unready, ...UID },
    429,
    0,
    false,
    'Cannot evict pod as it would violate',
  ],
])('preconditions: %s', (_rule, request, code, deleteCalls, marked, message) => {
  const nothing = { urlName: 'web', queryDryRun: [], optionsDryRun: [], uid: undefined, resourceVersion: undefined };
  const answer = evictPod({ ...nothing, pod: POD, budgets: [BUDGET], budgetConflicts: 0, deleteConflicts: 0, ...request });
  expect({ ...answer, code: answer.failure?.code ?? 201 }).toMatchObject({ code, deleteCalls, marked });
  expect(answer.failure?.message ?? '').toContain(message ?? '');
});
