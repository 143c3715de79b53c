import { describe, expect, test } from 'vitest';
import { DeviceLedger } from '../../../src/core/devices/device-ledger.js';
import { SliceIndex } from '../../../src/core/devices/device-pool.js';
import { SelectorError, type DeviceClass, type PublishedDevice } from '../../../src/core/devices/device.js';
import { filterClaims, prepareClaims, type ClaimingPod, type ClusterDevices } from '../../../src/core/devices/pod-claims.js';
import { claimKey, type PodClaim, type ResourceClaim } from '../../../src/core/devices/resource-claim.js';
import { Cluster } from '../../../src/core/scheduling/cluster/cluster.js';
import { explain } from '../../../src/core/simulation/explanation.js';
import { Scheduler, type ScheduleResult } from '../../../src/core/scheduling/scheduler.js';
import type { SchedulerPod } from '../../../src/core/scheduling/scheduler-pod.js';
import { documentOf } from '../../../src/kubernetes/document.js';
import { schedulerNodeAt } from '../../../src/kubernetes/scheduling/scheduler-node.js';
import { schedulerPodAt } from '../../../src/kubernetes/scheduling/scheduler-pod.js';
import { claim, device, firstOf, GPU, node, ofModel, request, slice, spec } from './claim-support.js';

const oneGpu = spec([request('gpu')]);
const shared: PodClaim = { name: 'gpu', source: { kind: 'claim', name: 'shared' } };
const own = (generated?: string): PodClaim => ({ name: 'gpu', source: { kind: 'template', name: 'gpu', generated } });

const podOf = (name: string, resourceClaims: readonly PodClaim[], uid = `uid-${name}`): ClaimingPod => ({
  namespace: 'default',
  name,
  uid,
  resourceClaims,
});

const node2 = { nodes: { kind: 'node', name: 'node-2' }, poolName: 'pool-2' } as const;

const cluster = (claims: readonly ResourceClaim[] = [], more: Partial<ClusterDevices> = {}): ClusterDevices => ({
  slices: new SliceIndex([slice([device('a'), device('b')]), slice([device('c')], node2)]),
  classes: new Map([[GPU.name, GPU]]),
  templates: new Map([['default/gpu', oneGpu]]),
  claims: new Map(claims.map((each) => [claimKey(each), each])),
  ...more,
});

const given = (pool: string, name: string, onNode?: string) => ({
  devices: [{ request: 'gpu', driver: 'gpu.example.com', pool, device: name, adminAccess: false }],
  nodeTerms: onNode === undefined ? undefined : [{ expressions: [], fields: [{ key: 'metadata.name', operator: 'In', values: [onNode] }] }],
});

/** By 256 pods. */
const consumed = (last: string): ResourceClaim => {
  const reservedFor = [...Array.from({ length: 255 }, (_item, index) => `uid-${String(index)}`), last];
  return claim('shared', oneGpu, { allocation: given('pool-1', 'a', 'node-1'), reservedFor });
};

/** The message of PreFilter, or of Filter on node-1. */
function messageFor(devices: ClusterDevices, pod: ClaimingPod): string | undefined {
  const prepared = prepareClaims(devices, pod);
  if (prepared?.kind !== 'prepared') return prepared && `${prepared.kind}: ${prepared.message}`;
  const fit = filterClaims(prepared, node());
  return fit.kind === 'fits' ? 'fits' : `${fit.kind} on node-1: ${fit.message}`;
}

const broken: DeviceClass = {
  name: 'gpu',
  selectors: [
    () => {
      throw new SelectorError('compile', 'no such function');
    },
  ],
};

test.each<[rule: string, devices: ClusterDevices, pod: ClaimingPod, message: string | undefined]>([
  ['the pod has no claims', cluster(), podOf('web', []), undefined],
  ['a template that needs no claim', cluster(), podOf('web', [own('')]), undefined],
  ['a claim to be allocated', cluster([claim('shared', oneGpu)]), podOf('web', [shared]), 'fits'],
  ['a claim that does not exist', cluster(), podOf('web', [shared]), 'rejected: could not find ResourceClaim "default/shared"'],
  [
    'a claim that is being deleted',
    cluster([claim('shared', oneGpu, { isDeleting: true })]),
    podOf('web', [shared]),
    'rejected: resourceclaim "shared" is being deleted',
  ],
  ['a claim from a template', cluster([claim('web-gpu-x7', oneGpu, { ownerUid: 'uid-web' })]), podOf('web', [own('web-gpu-x7')]), 'fits'],
  [
    'a claim of another pod',
    cluster([claim('web-gpu-x7', oneGpu, { ownerUid: 'uid-other' })]),
    podOf('web', [own('web-gpu-x7')]),
    'rejected: ResourceClaim default/web-gpu-x7 was not created for pod default/web (pod is not owner)',
  ],
  ['a claim that will be made from its template', cluster(), podOf('web', [own()]), 'fits'],
  [
    'a template that does not exist',
    cluster([], { templates: new Map() }),
    podOf('web', [own()]),
    'rejected: pod "default/web": ResourceClaim not created yet',
  ],
  [
    'a class that does not exist',
    cluster([claim('shared', oneGpu)], { classes: new Map() }),
    podOf('web', [shared]),
    'rejected: request gpu: device class gpu does not exist',
  ],
  [
    'a class of a list that does not exist',
    cluster([claim('shared', spec([firstOf('any', { name: 'x', deviceClassName: 'fpga' })]))]),
    podOf('web', [shared]),
    'rejected: request any/x: device class fpga does not exist',
  ],
  [
    'an allocated claim asks for no class',
    cluster([claim('shared', oneGpu, { allocation: given('pool-1', 'a', 'node-1') })], { classes: new Map() }),
    podOf('web', [shared]),
    'fits',
  ],
  ['a claim with the most consumers', cluster([consumed('uid-other')]), podOf('web', [shared]), 'rejected: resourceclaim in use'],
  ['the pod is one of the consumers of the claim', cluster([consumed('uid-web')]), podOf('web', [shared]), 'fits'],
  [
    'allocated on another node',
    cluster([claim('shared', oneGpu, { allocation: given('pool-2', 'c', 'node-2') })]),
    podOf('web', [shared]),
    'rejected on node-1: resourceclaim not available on the node',
  ],
  [
    'there are not enough devices',
    cluster([claim('shared', spec([request('gpu', { count: 3 })]))]),
    podOf('web', [shared]),
    'rejected on node-1: cannot allocate all claims',
  ],
  [
    'an expression that does not compile',
    cluster([claim('shared', oneGpu)], { classes: new Map([['gpu', broken]]) }),
    podOf('web', [shared]),
    'error on node-1: class gpu: selector #0: CEL compile error: no such function',
  ],
])('%s', (_rule, devices, pod, message) => {
  expect(messageFor(devices, pod)).toBe(message);
});

test('a device that a claim has with admin access is free for another claim', () => {
  const onNode1 = (adminAccess: boolean): ResourceClaim[] =>
    ['a', 'b'].map((name) => {
      const { devices, nodeTerms } = given('pool-1', name, 'node-1');
      return claim(`monitor-${name}`, oneGpu, { allocation: { devices: devices.map((each) => ({ ...each, adminAccess })), nodeTerms } });
    });
  expect(messageFor(cluster([claim('shared', oneGpu), ...onNode1(true)]), podOf('web', [shared]))).toBe('fits');
  expect(messageFor(cluster([claim('shared', oneGpu), ...onNode1(false)]), podOf('web', [shared]))).toBe(
    'rejected on node-1: cannot allocate all claims',
  );
});

describe('devices that pods take and give back', () => {
  const view = ({ state: { claims } }: DeviceLedger) =>
    Object.fromEntries(
      [...claims].map(([key, { allocation, reservedFor }]) => [key, [allocation?.devices.map((each) => each.device), reservedFor]]),
    );

  test('a claim from a template ends with its pod, and a shared claim is released after its last consumer', () => {
    const ledger = new DeviceLedger(cluster([claim('shared', oneGpu)]));
    const [one, two, three] = [podOf('one', [shared]), podOf('two', [shared, own()]), podOf('three', [own()], '')];
    ledger.reserve(one, node());
    ledger.reserve(two, node());
    expect(view(ledger)).toEqual({ 'default/shared': [['a'], ['uid-one', 'uid-two']], 'default/two-gpu': [['b'], ['uid-two']] });
    expect(messageFor(ledger.state, three)).toBe('rejected on node-1: cannot allocate all claims');
    ledger.release(one);
    expect(view(ledger)).toEqual({ 'default/shared': [['a'], ['uid-two']], 'default/two-gpu': [['b'], ['uid-two']] });
    ledger.release(two);
    expect(view(ledger)).toEqual({ 'default/shared': [undefined, []] });
    ledger.reserve(three, node());
    expect(view(ledger)).toEqual({ 'default/shared': [undefined, []], 'default/three-gpu': [['a'], ['default/three']] });
    ledger.release(three);
    expect(view(ledger)).toEqual({ 'default/shared': [undefined, []] });
  });

  test('a pod that replaces another has a claim of its own', () => {
    const old = podOf('web', [own('web-gpu-x7')]);
    const ledger = new DeviceLedger(
      cluster([claim('web-gpu-x7', oneGpu, { ownerUid: 'uid-web', allocation: given('pool-1', 'a', 'node-1'), reservedFor: ['uid-web'] })]),
    );
    const next = { ...old, name: 'web-new', uid: '' };
    ledger.reserve(next, node());
    expect(view(ledger)).toEqual({ 'default/web-gpu-x7': [['a'], ['uid-web']], 'default/web-new-gpu': [['b'], ['default/web-new']] });
    ledger.release(old);
    expect(view(ledger)).toEqual({ 'default/web-new-gpu': [['b'], ['default/web-new']] });
  });
});

describe('claims in the scheduler', () => {
  const nodes = ['node-1', 'node-2'].map((name) =>
    schedulerNodeAt(documentOf({ metadata: { name }, status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } } })),
  );
  const waiting: SchedulerPod = {
    ...schedulerPodAt(documentOf({ metadata: { name: 'web', namespace: 'default' }, spec: { containers: [{ name: 'c' }] } })),
    resourceClaims: [shared],
  };
  const schedule = (devices: ClusterDevices): ScheduleResult =>
    new Scheduler(new Cluster({ nodes, devices })).schedule(waiting, { everyNode: true });

  test('a node without devices is rejected, and preemption cannot help', () => {
    const { node: chosen, rejected } = schedule(cluster([claim('shared', spec([request('gpu', { count: 2 })]))]));
    expect(chosen).toBe('node-1');
    expect(rejected.get('node-2')).toEqual({
      plugin: 'DynamicResources',
      code: 'UnschedulableAndUnresolvable',
      reasons: ['cannot allocate all claims'],
    });
  });

  test('a pod whose claim does not exist is refused before any node is examined', () => {
    const { preFilter, message } = schedule(cluster());
    expect(preFilter?.plugin).toBe('DynamicResources');
    expect(message).toBe('0/2 nodes are available: could not find ResourceClaim "default/shared".');
  });

  test('an error on one node ends the search, and preempts nothing', () => {
    const model = ({ device: { attributes } }: PublishedDevice): boolean => {
      if (attributes.has('model')) return true;
      throw new SelectorError('runtime', 'no such key: model');
    };
    const slices = new SliceIndex([slice([device('a', { model: 'small' })]), slice([device('c')], node2)]);
    const devices = cluster([claim('shared', spec([request('gpu', { selectors: [model] })]))], { slices });
    const scheduler = new Scheduler(new Cluster({ nodes, devices }));
    const result = scheduler.schedule(waiting);

    const message = 'claim default/shared: selector #0 on device gpu.example.com/pool-2/c: CEL runtime error: no such key: model';
    const text = `running "DynamicResources" filter plugin: ${message}`;
    expect([result.node, result.message]).toEqual([undefined, text]);
    expect(scheduler.preempt(waiting, result, [])).toEqual({ candidate: undefined, isEligible: true, message: '' });
    const rejections = [{ plugin: 'DynamicResources', code: 'Error', reasons: [text] }];
    expect(explain(scheduler, waiting)).toEqual(['node-1', 'node-2'].map((name) => ({ node: name, rejections })));
  });

  test('a node that can satisfy an earlier entry of a list is preferred', () => {
    const slices = new SliceIndex([slice([device('a', { model: 'small' })]), slice([device('c', { model: 'large' })], node2)]);
    const list = spec([firstOf('any', { name: 'large', selectors: [ofModel('large')] }, { name: 'small' })]);
    const { scores } = schedule(cluster([claim('shared', list)], { slices }));
    expect(['node-1', 'node-2'].map((name) => scores?.get(name)?.get('DynamicResources'))).toEqual([174, 200]);
  });
});
