import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { documentOf, type Field } from '../../../src/kubernetes/document.js';
import { claimTemplateAt, resourceClaimAt } from '../../../src/kubernetes/devices/claim-document.js';
import { podClaimsAt } from '../../../src/kubernetes/devices/pod-resource-claims.js';
import { deviceClassAt, resourceSliceAt } from '../../../src/kubernetes/devices/slice-document.js';

const yaml = (text: string): Field => documentOf(parse(text, { intAsBigInt: true }));

const GiB = 1_073_741_824_000_000_000n;

test('a slice with all fields of v1 is read', () => {
  const slice = resourceSliceAt(
    yaml(`
metadata: { name: cards }
spec:
  driver: gpu.example.com
  pool: { name: node-1, generation: 3, resourceSliceCount: 2 }
  perDeviceNodeSelection: true
  sharedCounters:
    - { name: card, counters: { memory: { value: 8Gi } } }
  devices:
    - name: part-0
      nodeName: node-1
      attributes:
        model: { string: A100 }
        index: { int: 9007199254740993 }
        other.example.com/healthy: { bool: false }
        driver: { version: 1.2.3 }
      capacity: { memory: { value: 4Gi } }
      consumesCounters:
        - { counterSet: card, counters: { memory: { value: 4Gi } } }
      taints:
        - { key: example.com/broken, value: 'yes', effect: NoExecute }
        - { key: example.com/slow, effect: None }
    - name: part-1
      nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: zone, operator: In, values: [a] }] }] }
      bindingConditions: [Attached]
    - name: part-2
      allNodes: true
      attributes: { numa: { ints: [1, 2] } }
`),
  );
  const [first, second, third] = slice.devices;
  expect(slice).toMatchObject({
    name: 'cards',
    driver: 'gpu.example.com',
    pool: { name: 'node-1', generation: 3n, resourceSliceCount: 2n },
    nodes: { kind: 'perDevice' },
  });
  expect(slice.sharedCounters).toEqual([{ name: 'card', counters: new Map([['memory', 8n * GiB]]) }]);
  expect(first).toMatchObject({ nodes: { kind: 'node', name: 'node-1' }, unsupported: undefined });
  expect(first?.attributes).toEqual(
    new Map<string, unknown>([
      ['model', { kind: 'string', value: 'A100' }],
      ['index', { kind: 'int', value: 9007199254740993n }],
      ['other.example.com/healthy', { kind: 'bool', value: false }],
      ['driver', { kind: 'version', value: '1.2.3' }],
    ]),
  );
  expect(first?.capacity.get('memory')?.nano).toBe(4n * GiB);
  expect(first?.consumesCounters).toEqual([{ counterSet: 'card', counters: new Map([['memory', 4n * GiB]]) }]);
  expect(first?.taints).toEqual([{ key: 'example.com/broken', value: 'yes', effect: 'NoExecute' }]);
  expect(second).toMatchObject({
    nodes: { kind: 'selector', terms: [{ expressions: [{ key: 'zone', operator: 'In', values: ['a'] }], fields: [] }] },
    unsupported: 'bindingConditions',
  });
  expect(third).toMatchObject({ nodes: { kind: 'all' }, unsupported: 'attribute numa, which has no value of a known type' });
});

test('a claim with all fields of v1 is read', () => {
  const claim = resourceClaimAt(
    yaml(`
metadata:
  { namespace: ml, name: train-gpu-x7, ownerReferences: [{ kind: Pod, name: train, uid: u-1, controller: true }] }
spec:
  devices:
    requests:
      - name: gpu
        exactly:
          { deviceClassName: gpu, allocationMode: All, adminAccess: true, tolerations: [{ key: example.com/broken, operator: Exists }] }
      - name: any
        firstAvailable:
          - { name: large, deviceClassName: gpu, selectors: [{ cel: { expression: 'device.driver == "a"' } }] }
          - { name: small, deviceClassName: gpu, count: 2 }
    constraints:
      - { matchAttribute: gpu.example.com/numa, requests: [gpu, any/large] }
      - { distinctAttribute: gpu.example.com/slot }
status:
  reservedFor: [{ resource: pods, name: train, uid: u-1 }]
  allocation:
    devices: { results: [{ request: gpu, driver: gpu.example.com, pool: node-1, device: gpu-0, adminAccess: true }] }
    nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: metadata.name, operator: In, values: [node-1] }] }] }
`),
  );
  const [gpu, any] = claim.spec.requests;
  expect(claim).toMatchObject({ namespace: 'ml', name: 'train-gpu-x7', ownerUid: 'u-1', isDeleting: false, reservedFor: ['u-1'] });
  const tolerations = [{ key: 'example.com/broken', operator: 'Exists', value: '', effect: '' }];
  expect(gpu).toEqual({
    kind: 'exactly',
    name: 'gpu',
    exactly: { deviceClassName: 'gpu', selectors: [], count: 'all', adminAccess: true, tolerations },
  });
  expect(any).toMatchObject({
    kind: 'firstAvailable',
    firstAvailable: [
      { name: 'large', count: 1, selectors: [expect.any(Function)] },
      { name: 'small', count: 2 },
    ],
  });
  expect(claim.spec.constraints).toEqual([
    { kind: 'matchAttribute', attribute: 'gpu.example.com/numa', requests: ['gpu', 'any/large'] },
    { kind: 'distinctAttribute', attribute: 'gpu.example.com/slot', requests: [] },
  ]);
  expect(claim.allocation).toEqual({
    devices: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'node-1', device: 'gpu-0', adminAccess: true }],
    nodeTerms: [{ expressions: [], fields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] }],
  });
});

test('a template, a class, and the claims of a pod are read', () => {
  const [key, spec] = claimTemplateAt(
    yaml(
      '{ metadata: { name: gpu }, spec: { spec: { devices: { requests: [{ name: r, exactly: { deviceClassName: gpu, capacity: { requests: { memory: 1Gi } } } }] } } } }',
    ),
  );
  expect([key, spec.unsupported]).toEqual(['default/gpu', 'request r: has capacity requests, which evictd does not simulate']);
  expect(deviceClassAt(yaml(`{ metadata: { name: gpu }, spec: { selectors: [{ cel: { expression: 'true' } }] } }`))).toMatchObject({
    name: 'gpu',
    selectors: [expect.any(Function)],
  });
  const pod = yaml(`
spec: { resourceClaims: [{ name: a, resourceClaimName: shared }, { name: b, resourceClaimTemplateName: gpu }, { name: c, resourceClaimTemplateName: gpu }, { name: d, resourceClaimTemplateName: gpu }] }
status: { resourceClaimStatuses: [{ name: b, resourceClaimName: train-b-x7 }, { name: c }] }
`);
  const of = (name: string): Field => ({ value: (pod.value as Record<string, unknown>)[name], path: name });
  expect(podClaimsAt(of('spec'), of('status')).map(({ source }) => source)).toEqual([
    { kind: 'claim', name: 'shared' },
    { kind: 'template', name: 'gpu', generated: 'train-b-x7' },
    { kind: 'template', name: 'gpu', generated: '' },
    { kind: 'template', name: 'gpu', generated: undefined },
  ]);
});

test.each<[rule: string, read: () => unknown, message: string]>([
  [
    'a claim without a request',
    () => resourceClaimAt(yaml('spec: { devices: { requests: [{ name: gpu }] } }')),
    'spec.devices.requests[0] is an object: exactly or firstAvailable is expected',
  ],
  [
    'a class without a spec',
    () => resourceClaimAt(yaml('spec: { devices: { requests: [{ name: gpu, exactly: {} }] } }')),
    'spec.devices.requests[0].exactly.deviceClassName is missing: the name of a DeviceClass is expected',
  ],
  [
    'a mode',
    () =>
      resourceClaimAt(yaml('spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu, allocationMode: Some } }] } }')),
    'spec.devices.requests[0].exactly.allocationMode is "Some": ExactCount or All is expected',
  ],
  [
    'a count',
    () => resourceClaimAt(yaml('spec: { devices: { requests: [{ name: gpu, exactly: { deviceClassName: gpu, count: 0 } }] } }')),
    'spec.devices.requests[0].exactly.count is 0: a number above 0 is expected',
  ],
  [
    'a constraint',
    () => resourceClaimAt(yaml('spec: { devices: { constraints: [{}] } }')),
    'spec.devices.constraints[0] is an object: matchAttribute or distinctAttribute is expected',
  ],
  [
    'a selector',
    () => deviceClassAt(yaml('spec: { selectors: [{}] }')),
    'spec.selectors[0].cel.expression is missing: a CEL expression is expected',
  ],
  ['a driver', () => resourceSliceAt(yaml('spec: {}')), 'spec.driver is missing: the name of a driver is expected'],
  [
    'an amount',
    () => resourceSliceAt(yaml('spec: { driver: d, pool: { name: p }, devices: [{ name: a, capacity: { memory: { value: 4GB } } }] }')),
    'spec.devices[0].capacity.memory.value: "4GB": quantities must match',
  ],
  [
    'a claim of a pod',
    () => podClaimsAt(yaml('resourceClaims: [{ name: a }]'), yaml('{}')),
    'resourceClaims[0] is an object: resourceClaimName or resourceClaimTemplateName is expected',
  ],
])('an error names the path: %s', (_rule, read, message) => {
  expect(read).toThrow(message);
});
