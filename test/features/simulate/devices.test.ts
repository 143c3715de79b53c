import { expect, test } from 'vitest';
import { findingText } from '../../../src/features/kubernetes/cluster/finding.js';
import type { ApiObject } from '../../support/cluster/generated-cluster.js';
import { dumped, node, pod, simulationOf } from './support.js';

const V1 = { apiVersion: 'resource.k8s.io/v1' };

const slice = (on: string, ...devices: readonly object[]): ApiObject => ({
  ...V1,
  kind: 'ResourceSlice',
  metadata: { name: on },
  spec: { driver: 'gpu.example.com', nodeName: on, pool: { name: on, generation: 1, resourceSliceCount: 1 }, devices },
});
const gpu = (name: string, model = 'A100'): object => ({ name, attributes: { model: { string: model } } });
const deviceClass = (expression: string): ApiObject => ({
  ...V1,
  kind: 'DeviceClass',
  metadata: { name: 'gpu' },
  spec: { selectors: [{ cel: { expression } }] },
});
const CLASS = deviceClass('device.attributes["gpu.example.com"].model == "A100"');
const devices = { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] };
const TEMPLATE: ApiObject = {
  ...V1,
  kind: 'ResourceClaimTemplate',
  metadata: { name: 'gpu', namespace: 'shop' },
  spec: { spec: { devices } },
};

const result = (on: string, device: string) => ({
  devices: { results: [{ request: 'gpu', driver: 'gpu.example.com', pool: on, device }] },
  nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [on] }] }] },
});
/** A claim that the pod has, made from the template. */
const claimOf = (name: string, on: string, device: string): ApiObject => ({
  ...V1,
  kind: 'ResourceClaim',
  metadata: { name: `${name}-gpu-x7`, namespace: 'shop', ownerReferences: [{ kind: 'Pod', name, uid: name, controller: true }] },
  spec: { devices },
  status: { allocation: result(on, device), reservedFor: [{ resource: 'pods', name, uid: name }] },
});
const trainer = (name: string, on: string): ApiObject => {
  const made = pod(name, on, { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpu' }] });
  return {
    ...made,
    status: { ...(made.status as object), resourceClaimStatuses: on === '' ? [] : [{ name: 'gpu', resourceClaimName: `${name}-gpu-x7` }] },
  };
};

test('a drained pod gets another device of its class, and a pod waits until a device is free', () => {
  const simulation = simulationOf([
    ...[node('n-1'), node('n-2'), CLASS, TEMPLATE],
    ...[slice('n-1', gpu('a')), slice('n-2', gpu('old', 'V100'), gpu('b'))],
    ...[trainer('train-a', 'n-1'), claimOf('train-a', 'n-1', 'a'), trainer('eval-a', '')],
  ]);
  simulation.run({ kind: 'drain', node: 'n-1' });
  const told = simulation.events.flatMap((event) => {
    if (event.kind === 'scheduled') return [`${event.pod} on ${event.node}`];
    return event.kind === 'pending' ? [`${event.pod}: ${event.message.split(' preemption:')[0] ?? ''}`] : [];
  });
  expect(told).toEqual([
    'shop/eval-a on n-2',
    'shop/train-new1: 0/2 nodes are available: 1 cannot allocate all claims, 1 node(s) were unschedulable. still not schedulable,',
  ]);
  expect(
    [...simulation.world.cluster.devices.state.claims].map(([key, { allocation }]) => [
      key,
      allocation?.devices.map(({ device }) => device),
    ]),
  ).toEqual([['shop/eval-a-gpu', ['b']]]);
});

test('a waiting pod releases devices on a node where it cannot run, and gets others', () => {
  const claimed = (reservedFor: readonly string[]): readonly string[] => {
    const shared = claimOf('eval-a', 'n-1', 'a');
    const simulation = simulationOf([
      ...[{ ...node('n-1'), spec: { unschedulable: true } }, node('n-2'), CLASS, slice('n-1', gpu('a')), slice('n-2', gpu('b'))],
      pod('eval-a', '', { resourceClaims: [{ name: 'gpu', resourceClaimName: 'mine' }] }),
      {
        ...shared,
        metadata: { name: 'mine', namespace: 'shop' },
        status: { ...(shared.status as object), reservedFor: reservedFor.map((uid) => ({ resource: 'pods', name: uid, uid })) },
      },
    ]);
    simulation.run({ kind: 'drain', node: 'n-1' });
    return simulation.events.flatMap((event) =>
      event.kind === 'scheduled' ? [event.node] : event.kind === 'pending' ? [event.message.split(',')[2] ?? event.message] : [],
    );
  };
  expect(claimed([])).toEqual(['n-2']);
  expect(claimed(['eval-a'])).toEqual(['n-2']);
  expect(claimed(['other'])).toHaveLength(1);
  expect(claimed(['other'])).not.toEqual(['n-2']);
});

test('a pod that an error keeps waiting releases nothing', () => {
  const claimed = (name: string, allocation?: object): ApiObject => ({
    ...V1,
    kind: 'ResourceClaim',
    metadata: { name, namespace: 'shop' },
    spec: { devices },
    status: { allocation },
  });
  const resourceClaims = [
    { name: 'one', resourceClaimName: 'there' },
    { name: 'two', resourceClaimName: 'broken' },
  ];
  const simulation = simulationOf([
    ...[node('n-1'), node('n-2'), CLASS, slice('n-1', gpu('a')), slice('n-2', { name: 'x' })],
    ...[claimed('there', result('n-1', 'a')), claimed('broken'), pod('eval-a', '', { resourceClaims })],
  ]);
  simulation.run({ kind: 'drain', node: 'n-1' });
  expect(simulation.events.flatMap((event) => (event.kind === 'pending' ? [event.message] : []))).toEqual([
    expect.stringMatching(/^running "DynamicResources" filter plugin: class gpu: selector #0 on device gpu.example.com\/n-2\/x: CEL/),
  ]);
  expect(simulation.world.cluster.devices.state.claims.get('shop/there')?.allocation?.devices).toHaveLength(1);
});

test.each<[rule: string, objects: readonly ApiObject[], findings: readonly string[]]>([
  ['all objects are there', [TEMPLATE, claimOf('train-a', 'n-1', 'a')], []],
  [
    'there is no template',
    [claimOf('train-a', 'n-1', 'a')],
    ['its ResourceClaimTemplate gpu is not in the input: a pod that replaces it waits for its claim'],
  ],
  ['there is no claim', [TEMPLATE], ['its ResourceClaim train-a-gpu-x7 is not in the input: its devices count as free']],
])('a pod with devices: %s', (_rule, objects, findings) => {
  const { findings: found } = dumped([node('n-1'), CLASS, slice('n-1', gpu('a')), trainer('train-a', 'n-1'), ...objects]);
  expect(found.list.map(({ object, message }) => `${object}: ${message}`)).toEqual(findings.map((each) => `Pod shop/train-a: ${each}`));
});

test.each<[rule: string, object: ApiObject, finding: string]>([
  [
    'a request for the extended resource of a class',
    pod('a-1', '', {
      containers: [{ name: 'app', resources: { requests: { 'deviceclass.resource.kubernetes.io/gpu': '1' }, limits: {} } }],
    }),
    'warning: Pod shop/a-1: requests deviceclass.resource.kubernetes.io/gpu: devices for extended resources are not simulated',
  ],
  ['an expression that does not compile is an error of the scheduler, not of the file', deviceClass('gpu.model'), ''],
  [
    'a slice that cannot be read',
    { ...V1, kind: 'ResourceSlice', metadata: { name: 's' }, spec: {} },
    'error: ResourceSlice s: spec.driver is missing: the name of a driver is expected',
  ],
  [
    'an older API',
    { ...TEMPLATE, apiVersion: 'resource.k8s.io/v1beta1' },
    'error: ResourceClaimTemplate shop/gpu: apiVersion "resource.k8s.io/v1beta1" is unknown: resource.k8s.io/v1 or resource.k8s.io/v1beta2 is expected',
  ],
  [
    'devices that are bound by their driver',
    slice('n-1', { name: 'a', bindingConditions: ['Attached'] }),
    'warning: ResourceSlice n-1: devices with bindingConditions are never allocated: this is not simulated',
  ],
  [
    'devices that claims share',
    slice('n-1', { name: 'a', allowMultipleAllocations: true }),
    'warning: ResourceSlice n-1: devices with allowMultipleAllocations are never allocated: this is not simulated',
  ],
  [
    'a share of a device',
    {
      ...V1,
      kind: 'ResourceClaim',
      metadata: { name: 'c', namespace: 'shop' },
      spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu', capacity: { requests: { memory: '1Gi' } } } }] } },
    },
    'warning: ResourceClaim shop/c: request r: has capacity requests, which evictd does not simulate',
  ],
  [
    'an extended resource',
    { ...V1, kind: 'DeviceClass', metadata: { name: 'gpu' }, spec: { extendedResourceName: 'example.com/gpu' } },
    'warning: DeviceClass gpu: extendedResourceName is not simulated: a request for example.com/gpu finds no device of this class',
  ],
  [
    'a taint from outside',
    { ...V1, kind: 'DeviceTaintRule', metadata: { name: 'r' } },
    'warning: DeviceTaintRule r: its taint is not simulated: write the taint into the ResourceSlice',
  ],
])('%s', (_rule, object, finding) => {
  expect(
    dumped([object])
      .findings.list.map((each) => findingText(each).replace('dump:1:1: ', ''))
      .join('\n'),
  ).toBe(finding);
});
