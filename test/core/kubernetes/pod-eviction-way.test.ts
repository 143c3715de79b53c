import { expect, test } from 'vitest';
import {
  disruptionTargetReason,
  podEvictionWay,
  withMinGrace,
  type PodEvictionWay,
} from '../../../src/core/kubernetes/pod-eviction-way.js';
import type { EvictionCause } from '../../../src/core/rank/eviction-cause.js';
import { disruption, eviction, softEviction } from '../../features/kubernetes/pod.js';
import { ofPolicy, onlyProcess } from '../../features/notify/evictions.js';
import { SECOND, workload } from '../support.js';

const ofPolicyWith = (graceNs: bigint): EvictionCause => ({ ...ofPolicy({}).cause, graceNs }) as EvictionCause;
const STORAGE = { kind: 'storage-limit' } as EvictionCause;

test.each<[what: string, cause: EvictionCause, way: PodEvictionWay, ignored: PodEvictionWay, reason: string]>([
  ['a hard threshold', eviction().cause, 'kill', 'kill', 'TerminationByKubelet'],
  ['a storage limit', STORAGE, 'kill', 'kill', 'TerminationByKubelet'],
  ['the action kill of a policy', ofPolicyWith(0n), 'kill', 'kill', 'TerminationByKubelet'],
  ['a soft threshold', softEviction().cause, 'evict', 'delete', 'TerminationByKubelet'],
  ['the action stop of a policy', ofPolicyWith(1n), 'evict', 'delete', 'TerminationByKubelet'],
  ['a drain', disruption('drain').cause, 'evict', 'delete', 'TerminationByKubelet'],
  ['the request of an operator', disruption('eviction').cause, 'evict', 'delete', 'TerminationByKubelet'],
  ['a NoExecute taint', disruption('taint').cause, 'delete', 'delete', 'DeletionByTaintManager'],
  ['a preemption', disruption('preemption').cause, 'delete', 'delete', 'TerminationByKubelet'],
])('%s', (_what, cause, way, ignored, reason) => {
  expect([podEvictionWay(cause), podEvictionWay(cause, 'ignore'), disruptionTargetReason(cause)]).toEqual([way, ignored, reason]);
});

test('the API server gets a grace period of at least a second; a kill, a process and other workloads have none', () => {
  const { victim, cause } = softEviction();
  const grace = (of: EvictionCause, to = victim): bigint => withMinGrace(of, to, 0n);
  expect([grace(cause), withMinGrace(cause, victim, 2n * SECOND)]).toEqual([SECOND, 2n * SECOND]);
  expect([grace(eviction().cause), grace(cause, onlyProcess(victim)), grace(cause, { ...victim, workload: workload('web') })]).toEqual([
    0n,
    0n,
    0n,
  ]);
});
