import { chownSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WorkloadSource } from '../../../src/monitor/ports/ports.js';
import { native } from '../../../src/native/index.js';
import { openWorkloads } from '../../../src/workloads/cgroup/cgroup-workloads.js';
import { memoryHierarchy, testCgroup, type TestCgroup } from '../../support/cgroup.js';

const hierarchy = memoryHierarchy();
let top: TestCgroup;
let source: WorkloadSource | undefined;

beforeEach(() => {
  top = testCgroup();
});
afterEach(async () => {
  source?.close();
  await top.cleanup();
});

/** What protects each child of a cgroup, by the pass and by the look at a victim. */
const protectionsBelow = (cgroup: string, rules: Parameters<typeof openWorkloads>[0]['rules'] = []) => {
  const identity = { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy.version };
  source = openWorkloads({ workloads: [{ cgroup }], rules }, native, { identity, hierarchy });
  const { usages, veto } = source.candidates();
  return Object.fromEntries(usages.map(({ workload }) => [workload.name, (workload.protection ?? veto?.(workload))?.kind]));
};

test('a QoS class of a kubelet is no workload, with or without a container runtime as a source', async () => {
  const kubepods = top.child('kubepods');
  for (const name of ['besteffort', 'burstable']) await kubepods.child(name).child('pod1').spawn('sleep', ['600']);
  await kubepods.child('other').spawn('sleep', ['600']);
  const rules = [{ match: {}, critical: false, priority: -10 }];
  expect(protectionsBelow(kubepods.path, rules)).toEqual({ besteffort: 'kubelet', burstable: 'kubelet', other: undefined });
});

test('the cgroup of all pods is no workload', async () => {
  for (const name of ['kubepods', 'kubepods.slice', 'other']) await top.child(name).spawn('sleep', ['600']);
  expect(protectionsBelow(top.path)).toEqual({ kubepods: 'kubelet', 'kubepods.slice': 'kubelet', other: undefined });
});

test('a cgroup directly above that of all pods is no workload', async () => {
  await top.child('kubelet').child('kubepods').spawn('sleep', ['600']);
  await top.child('k8s.slice').child('k8s-kubepods.slice').spawn('sleep', ['600']);
  await top.child('web').child('pods').spawn('sleep', ['600']);
  expect(protectionsBelow(top.path)).toEqual({ kubelet: 'contains', 'k8s.slice': 'contains', web: undefined });
});

test('a user cannot protect a program by these names', async () => {
  const users = top.child('users');
  await users.child('kubepods').spawn('sleep', ['600']);
  await users.child('mine').child('kubepods').spawn('sleep', ['600']);
  chownSync(users.dir, 4242, 4242);
  expect(protectionsBelow(users.path)).toEqual({ kubepods: undefined, mine: undefined });
});
