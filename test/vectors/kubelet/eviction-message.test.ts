import { expect, test } from 'vitest';
import { departuresOf } from '../../../src/core/decide/departures.js';
import { evictionMessage, type EvictionMessage } from './eviction-message.js';
import type { Decision } from '../../../src/core/decide/eviction.js';
import type { StorageLimitCause } from '../../../src/core/rank/eviction-cause.js';
import type { ThresholdCause } from '../../../src/core/threshold/threshold-cause.js';
import { parseQuantity } from '../../../src/core/quantity/quantity.js';
import { rank } from '../../../src/core/rank/rank.js';
import { SIGNAL_FACTS, type ResourceSignal } from '../../../src/core/signal/signal.js';
import type { StorageBreach } from '../../../src/core/disk/storage-limit.js';
import type { ThresholdValue } from '../../../src/core/threshold/threshold.js';
import type { WorkloadStats, WorkloadUsage } from '../../../src/core/workload/workload.js';
import { container, containerStats, files, machine, pod, resources } from '../../core/usage.js';

const Mi = 1024n * 1024n;
const Gi = 1024n * Mi;

function messageOf(
  cause: ThresholdCause | StorageLimitCause,
  usage: WorkloadUsage,
  signal: ResourceSignal = 'memory.available',
): EvictionMessage {
  const ranking = rank(signal, 'single', [usage], departuresOf('kubelet'));
  const [victim] = ranking;
  if (victim === undefined) throw new Error('no workload was ranked');
  const { resource } = SIGNAL_FACTS[signal];
  const decision: Decision = { serial: 1, resource, cause, victim, graceNs: 0n, ranking, unreadable: [], decidedAtNs: 0n, dryRun: false };
  return evictionMessage(decision);
}

function because(signal: ResourceSignal, value: ThresholdValue, available: bigint, capacity = 8n * Gi): ThresholdCause {
  const observation = { available, capacity, timeNs: undefined, source: 'test' };
  return { kind: 'threshold', threshold: { signal, value, gracePeriodNs: 0n, minReclaim: undefined }, observation, limit: 0n };
}

const below = (signal: ResourceSignal, text: string, available: bigint): ThresholdCause =>
  because(signal, { kind: 'quantity', quantity: parseQuantity(text) }, available);

test.each<[rule: string, cause: ThresholdCause, words: string]>([
  ['bytes in binary', below('memory.available', '1Gi', 900n * Mi), 'memory. Threshold quantity: 1Gi, available: 900Mi. '],
  ['the threshold as it was written', below('memory.available', '2e9', 1025n), 'memory. Threshold quantity: 2e9, available: 1025. '],
  ['inodes in decimal', below('nodefs.inodesFree', '10k', 4096n), 'inodes. Threshold quantity: 10k, available: 4096. '],
  ['processes in decimal', below('pid.available', '5k', 2000n), 'pids. Threshold quantity: 5k, available: 2k. '],
  [
    'a percentage as the binary quantity that it stands for, also of processes',
    because('pid.available', { kind: 'percentage', fraction: Math.fround(0.125), text: '12.5%' }, 4095n, 32_768n),
    'pids. Threshold quantity: 4Ki, available: 4095. ',
  ],
  ['more processes than the limit', below('pid.available', '5', -3n), 'pids. Threshold quantity: 5, available: -3. '],
])('%s', (_rule, cause, words) => {
  const { message } = messageOf(cause, pod('p'), cause.threshold.signal);
  expect(message).toBe(`The node was low on resource: ${words}`);
});

const low = 'The node was low on resource: memory. Threshold quantity: 1Gi, available: 900Mi. ';
const memory = below('memory.available', '1Gi', 900n * Mi);

test('for memory the message names containers above their request, in the order of the statistics', () => {
  const containers = [
    container('above', { memory: '100Mi' }),
    container('equal', { memory: '50Mi' }),
    container('none'),
    container('sidecar', { memory: '10Mi' }, { kind: 'sidecar' }),
    container('setup', { memory: '1Ki' }, { kind: 'init' }),
  ];
  const stats = [
    containerStats('sidecar', { workingSetBytes: 20n * Mi }),
    containerStats('debug', { workingSetBytes: 900n * Mi }), // ephemeral: not among the containers
    containerStats('above', { workingSetBytes: 150n * Mi }),
    containerStats('equal', { workingSetBytes: 50n * Mi }),
    containerStats('none', { workingSetBytes: 1n }),
    containerStats('none'),
    containerStats('setup', { workingSetBytes: 1025n }),
  ];
  expect(messageOf(memory, pod('p', { pod: { containers }, stats: { containers: stats } }))).toEqual({
    message:
      low +
      'Container sidecar was using 20Mi, request is 10Mi, has larger consumption of memory. ' +
      'Container above was using 150Mi, request is 100Mi, has larger consumption of memory. ' +
      'Container none was using 1, request is 0, has larger consumption of memory. ' +
      'Container setup was using 1025, request is 1Ki, has larger consumption of memory. ',
    annotations: {
      offending_containers: 'sidecar,above,none,setup',
      offending_containers_usage: '20Mi,150Mi,1,1025',
      starved_resource: 'memory',
    },
  });
});

test.each<[rule: string, requests: Record<string, string>, stats: Partial<WorkloadStats>, used: string | undefined]>([
  ['above the request of the pod itself', { memory: '1.5Gi' }, { workingSetBytes: 1537n * Mi }, '1537Mi'],
  ['it is within its request', { memory: '1.5Gi' }, { workingSetBytes: 1535n * Mi }, '1535Mi'],
  ['the working set is missing in its statistics', { memory: '1.5Gi' }, { memoryWithoutWorkingSet: true }, '0'],
  ['it has no memory statistics, and is not named', { memory: '1.5Gi' }, {}, undefined],
  ['it has another request, and is not named', { cpu: '1' }, { workingSetBytes: 1537n * Mi }, undefined],
])('with pod-level resources the message names the pod: %s', (_rule, requests, stats, used) => {
  const podLevel = { requests: resources(requests), limits: new Map() };
  const { message, annotations } = messageOf(memory, pod('p', { pod: { podLevel }, stats }));
  const sentence = used === undefined ? '' : `Pod p was using ${used}, request is 1536Mi, has larger consumption of memory. `;
  expect(message).toBe(low + sentence);
  expect(annotations).toEqual({
    ...(used === undefined ? {} : { offending_pod: 'p', offending_pod_usage: used }),
    offending_containers: '',
    offending_containers_usage: '',
    starved_resource: 'memory',
  });
});

test('the message names the first of two containers with one name, or none', () => {
  const containers = [container('twice', { memory: '1Gi' }), container('twice', {}, { kind: 'init' })];
  const stats = { containers: [containerStats('twice', { workingSetBytes: Gi })] };
  expect(messageOf(memory, pod('p', { pod: { containers }, stats })).message).toBe(low);
});

test('for storage the message names a container with known writable layer and logs', () => {
  const containers = ['both', 'no-logs', 'no-rootfs'].map((name) => container(name, { 'ephemeral-storage': '1Gi' }));
  const stats = [
    containerStats('both', { rootfs: files(Gi), logs: files(1n) }),
    containerStats('no-logs', { rootfs: files(5n * Gi) }),
    containerStats('no-rootfs', { logs: files(5n * Gi), rootfs: files() }),
  ];
  const cause = below('nodefs.available', '10Gi', 9n * Gi);
  expect(messageOf(cause, pod('p', { pod: { containers }, stats: { containers: stats } }), 'nodefs.available')).toEqual({
    message:
      'The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi. ' +
      'Container both was using 1073741825, request is 1Gi, has larger consumption of ephemeral-storage. ',
    annotations: { offending_containers: 'both', offending_containers_usage: '1073741825', starved_resource: 'ephemeral-storage' },
  });
});

test('for inodes the message names no container', () => {
  const usage = pod('p', {
    pod: { containers: [container('a')] },
    stats: { containers: [containerStats('a', { rootfs: files(9n, 9n), logs: files(9n, 9n) })] },
  });
  expect(messageOf(below('nodefs.inodesFree', '1k', 900n), usage, 'nodefs.inodesFree').annotations).toEqual({
    offending_containers: '',
    offending_containers_usage: '',
    starved_resource: 'inodes',
  });
});

test('without statistics the message names no container', () => {
  expect(messageOf(memory, pod('p', { stats: null }))).toEqual({ message: low, annotations: {} });
});

test('for a machine workload the message names no container', () => {
  expect(messageOf(memory, machine('m', Gi)).message).toBe(low);
});

test.each<[breach: StorageBreach, words: string]>([
  [{ kind: 'emptyDir', volume: 'cache', limit: parseQuantity('1Gi') }, 'Usage of EmptyDir volume "cache" exceeds the limit "1Gi". '],
  [{ kind: 'pod', limit: parseQuantity('2Gi') }, 'Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. '],
  [{ kind: 'container', container: 'a', limit: parseQuantity('1Gi') }, 'Container a exceeded its local ephemeral storage limit "1Gi". '],
])("the message of an eviction for a pod's own limit: %#", (breach, message) => {
  expect(messageOf({ kind: 'storage-limit', breach }, pod('p'))).toEqual({ message, annotations: null });
});
