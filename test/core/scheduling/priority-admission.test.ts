import { expect, test } from 'vitest';
import { admitPriority, type PriorityAdmission } from '../../../src/core/scheduling/priority-admission.js';

const CLASSES = [
  { name: 'silent', value: 5n, globalDefault: false, preemptionPolicy: '' },
  { name: 'loud', value: 5n, globalDefault: false, preemptionPolicy: 'PreemptLowerPriority' },
];

test.each<[rule: string, priorityClassName: string, preemptionPolicy: string, policy: string | undefined]>([
  ['a class without a policy leaves the pod its own policy', 'silent', 'Never', 'Never'],
  ['the class and the pod have no policy', 'silent', '', undefined],
  ['a pod without a policy has that of its class', 'loud', '', 'PreemptLowerPriority'],
])('%s', (_rule, priorityClassName, preemptionPolicy, policy) => {
  const admission = admitPriority({ name: 'p', priorityClassName, priority: undefined, preemptionPolicy }, CLASSES);
  expect(admission).toEqual<PriorityAdmission>({ allowed: true, priority: 5n, priorityClassName, preemptionPolicy: policy });
});
