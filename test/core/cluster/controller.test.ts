import { expect, test } from 'vitest';
import { isActive, isEnabled, managerPart, type ManagerPod, type SeenManager } from '../../../src/core/cluster/controller.js';

test.each<[controllers: string, enabled: boolean]>([
  ['*', true],
  ['', false],
  ['*,-node-lifecycle-controller', false],
  ['*,-nodelifecycle', false],
  ['-node-lifecycle-controller,*', false],
  ['nodelifecycle', true],
  ['deployment-controller', false],
  ['*, bootstrap-signer-controller', true],
])('--controllers=%s', (controllers, enabled) => {
  expect(isEnabled('node-lifecycle-controller', controllers)).toBe(enabled);
});

const pod = (...flags: string[]): ManagerPod => ({ isRunning: true, command: ['kube-controller-manager', ...flags] });
const OFF = '--controllers=*,-taint-eviction-controller';

test.each<[rule: string, seen: Partial<SeenManager>, runs: boolean | 'unknown']>([
  ['no part is chosen before anything is known', { lease: 'unknown' }, 'unknown'],
  ['there is no lease: one without leader election cannot be seen', { lease: 'absent' }, 'unknown'],
  ['there is no lease, and its pod runs as one of several', { lease: 'absent', pods: [pod()] }, 'unknown'],
  ['there is no lease, and its pod runs without one', { lease: 'absent', pods: [pod('--leader-elect=false')] }, true],
  ['a lease that was given up', { lease: 'free' }, false],
  ['a lease that is not renewed, whatever the pods say', { lease: 'free', pods: [pod()] }, false],
  ['a lease alone: a managed cluster', {}, true],
  ['a pod without the flag', { pods: [pod('--leader-elect=true')] }, true],
  ['the flag turns it off', { pods: [pod(OFF)] }, false],
  ['the flag in two words', { pods: [pod('--controllers', '*,-taint-eviction-controller')] }, false],
  ['the flag twice adds up', { pods: [pod('--controllers=*', '--controllers=-taint-eviction-controller')] }, false],
  ['one of three pods has the part switched on', { pods: [pod(OFF), pod(OFF), pod()] }, true],
  ['a pod that has ended does not count', { pods: [pod(OFF), { ...pod(), isRunning: false }] }, false],
  ['a pod without a lease does not count', { lease: 'free', pods: [pod('--leader-elect=false')] }, true],
])('%s', (_, seen, runs) => {
  expect(managerPart('taint-eviction-controller', { lease: 'held', pods: [], hasTainted: false, ...seen }).runs).toBe(runs);
});

test('the taints that a node lifecycle controller has set prove that it runs, and that no other controller does', () => {
  const seen = { lease: 'free', pods: [], hasTainted: true } as const;
  expect(managerPart('node-lifecycle-controller', seen).runs).toBe(true);
  expect(managerPart('taint-eviction-controller', seen).runs).toBe(false);
});

test.each([
  ['auto', false, true],
  ['auto', true, false],
  ['auto', 'unknown', false],
  ['on', true, true],
  ['off', false, false],
] as const)('%s, where kube-controller-manager runs it: %s', (mode, runs, active) => {
  expect(isActive(mode, { runs, why: '' })).toBe(active);
});
