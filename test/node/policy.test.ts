import { expect, test } from 'vitest';
import { policyOf } from '../../src/node/configuration-in-force.js';
import { departuresOf } from '../../src/core/decide/departures.js';
import type { Policy } from '../../src/core/decide/state.js';
import { thresholdId } from '../../src/core/threshold/threshold.js';
import { load } from '../config/scratch.js';

const policy = (yaml: string, dryRun = false): Policy => policyOf(load({ 'config.yaml': yaml }).config, dryRun);

test('the defaults', () => {
  const { thresholds, ...rest } = policy('');
  expect(thresholds.map(thresholdId)).toEqual([
    'memory.available<100Mi/0',
    'nodefs.available<10%/0',
    'nodefs.inodesFree<5%/0',
    'memory.pressure.full>30% & memory.available<10%/3000000000 soft',
  ]);
  expect(rest).toEqual({
    pressureTransitionPeriodNs: 300_000_000_000n,
    maxPodGracePeriodNs: 10_000_000_000n,
    departures: departuresOf('evictd'),
    monitoringIntervalNs: 10_000_000_000n,
    pressureWindowNs: 2_000_000_000n,
    hasWorkloadSource: false,
    evictable: new Set(['memory', 'ephemeral-storage', 'inodes', 'pids']),
    collections: new Set(),
    reclaimSteps: [],
    evictionBudget: { max: 5, windowNs: 600_000_000_000n, bands: [] },
    localStorageCapacityIsolation: false,
    dryRun: false,
    maxPauseNs: 14_400_000_000_000n,
  });
});

test.each<[rule: string, yaml: string, dryRun: boolean, expected: Partial<Policy>]>([
  ['a workload source', 'workloads: [{cgroup: /a}]\n', false, { hasWorkloadSource: true }],
  ['the kubelet’s decisions', 'compatibility: kubelet\n', false, { departures: departuresOf('kubelet'), maxPodGracePeriodNs: 0n }],
  ['the interval that steps keep', 'monitoringInterval: 1s\n', false, { monitoringIntervalNs: 1_000_000_000n }],
  [
    'the cgroup of allocatableMemory.available',
    'allocatable: {cgroup: /kubepods/, capacity: 1Gi}\n',
    false,
    { allocatableCgroup: '/kubepods' },
  ],
  [
    'the garbage that a container runtime can collect',
    'workloads: [{cri: {endpoint: unix:///run/c.sock}}]\n',
    false,
    { collections: new Set(['containers', 'images']) },
  ],
  ['a dry run', '', true, { dryRun: true }],
])('%s', (_rule, yaml, dryRun, expected) => {
  expect(policy(yaml, dryRun)).toMatchObject(expected);
});
