import { describe, expect, test } from 'vitest';
import type { Protection } from '../../src/core/workload/workload.js';
import { DocumentError } from '../../src/errors.js';
import { workloadOfPod } from '../../src/kubernetes/pod.js';
import { container, podDocument, sidecar } from './support.js';

const NANO = 1_000_000_000n;
const MIB = 1024n ** 2n;

describe('the identity of a pod', () => {
  test.each<[rule: string, metadata: Readonly<Record<string, unknown>>, id: string, path: string]>([
    ['the uid', {}, 'uid-web', 'shop/web'],
    ['without a uid it is namespace and name, which no uid looks like', { uid: undefined }, 'shop/web', 'shop/web'],
    ['an empty uid is ignored', { uid: '' }, 'shop/web', 'shop/web'],
    ['null is absent', { uid: null }, 'shop/web', 'shop/web'],
    ['the same name in another namespace is another pod', { uid: '', namespace: 'test' }, 'test/web', 'test/web'],
    ['a pod without a namespace is in default', { uid: '', namespace: undefined }, 'default/web', 'default/web'],
  ])('%s', (_rule, metadata, id, path) => {
    expect(workloadOfPod(podDocument({ metadata }))).toMatchObject({ id, name: 'web', path, pod: { namespace: path.split('/')[0] } });
  });
});

describe('the priority of a pod', () => {
  test.each<[rule: string, priority: unknown, value: number, protection: Protection | undefined]>([
    ['a pod without a priority has 0', undefined, 0, undefined],
    ['null is 0', null, 0, undefined],
    ['the smallest', -2147483648, -2147483648, undefined],
    ['the largest of a user', 1000000000, 1000000000, undefined],
    ['the highest priority below critical', 1999999999, 1999999999, undefined],
    ['the lowest critical priority', 2000000000, 2000000000, { kind: 'critical' }],
    ['the largest', 2147483647, 2147483647, { kind: 'critical' }],
  ])('%s', (_rule, priority, value, protection) => {
    const workload = workloadOfPod(podDocument({ spec: { priority } }));
    expect(workload).toMatchObject({ priority: value });
    expect(workload.protection).toEqual(protection);
  });
});

describe('the protection of static pods by their source', () => {
  test.each<[rule: string, annotations: Readonly<Record<string, unknown>>, isProtected: boolean]>([
    ['the API server', { 'kubernetes.io/config.source': 'api' }, false],
    ['a file', { 'kubernetes.io/config.source': 'file' }, true],
    ['an address', { 'kubernetes.io/config.source': 'http' }, true],
    ['any other source', { 'kubernetes.io/config.source': '' }, true],
    ['a mirror', { 'kubernetes.io/config.mirror': 'hash' }, true],
    ['a mirror by an empty mark', { 'kubernetes.io/config.mirror': '' }, true],
    ['something else', { 'kubernetes.io/config.seen': '2026-01-01T00:00:00Z' }, false],
  ])('%s', (_rule, annotations, isProtected) => {
    const { protection } = workloadOfPod(podDocument({ metadata: { annotations } }));
    expect(protection).toEqual(isProtected ? { kind: 'static' } : undefined);
  });

  test('is stated before critical, and the mirror pod is found by name', () => {
    const metadata = { annotations: { 'kubernetes.io/config.mirror': 'hash' } };
    expect(workloadOfPod(podDocument({ metadata, spec: { priority: 2000001000 } })).protection).toEqual({ kind: 'static' });
  });
});

describe('the requests of a pod', () => {
  const mi = (...amounts: readonly number[]) =>
    amounts.map((amount, index) => container(`c${String(index)}`, { memory: `${String(amount)}Mi` }));

  test.each<[rule: string, spec: Readonly<Record<string, unknown>>, memory: bigint]>([
    ['none', {}, 0n],
    ['containers add up', { containers: mi(100, 20) }, 120n * MIB * NANO],
    ['an init container within the sum does not count', { containers: mi(100), initContainers: mi(100) }, 100n * MIB * NANO],
    ['an init container with a larger request counts', { containers: mi(100), initContainers: mi(300, 200) }, 300n * MIB * NANO],
    ['a sidecar adds to the containers', { containers: mi(100), initContainers: [sidecar('s', { memory: '50Mi' })] }, 150n * MIB * NANO],
    [
      'a sidecar adds to the init containers behind it',
      { containers: mi(10), initContainers: [...mi(300), sidecar('s', { memory: '50Mi' }), container('late', { memory: '280Mi' })] },
      330n * MIB * NANO,
    ],
    [
      'a negative amount, which the API refuses, takes nothing from sidecars',
      { containers: [container('c', { memory: '-1Gi' })], initContainers: [sidecar('s', { memory: '50Mi' })] },
      50n * MIB * NANO,
    ],
    ['overhead adds to a request', { containers: mi(100), overhead: { memory: '16Mi' } }, 116n * MIB * NANO],
    ['overhead is not added to a missing request', { overhead: { memory: '16Mi' } }, 0n],
    ['the pod as a whole replaces its containers', { containers: mi(100), resources: { requests: { memory: '40Mi' } } }, 40n * MIB * NANO],
    ['pod-level resources replace the containers, even without memory', { containers: mi(100), resources: { requests: { cpu: '1' } } }, 0n],
    [
      'pod-level resources replace the containers by a limit alone, too',
      { containers: mi(100), resources: { limits: { memory: '1Gi' } } },
      0n,
    ],
    ['huge pages are a supported kind', { containers: mi(100), resources: { requests: { 'hugepages-2Mi': '4Mi' } } }, 0n],
    ['other kinds are not', { containers: mi(100), resources: { requests: { 'ephemeral-storage': '1Gi' } } }, 100n * MIB * NANO],
    ['an empty list of containers has no request', { containers: mi(100), resources: {} }, 100n * MIB * NANO],
    ['half a byte', { containers: [container('c', { memory: '500m' })] }, NANO / 2n],
    ['a number instead of a text', { containers: [container('c', { memory: 4096 })] }, 4096n * NANO],
    ['a large request', { containers: [container('c', { memory: 2n ** 62n })] }, 2n ** 62n * NANO],
    ['white space around it', { containers: [container('c', { memory: ' 1Ki\n' })] }, 1024n * NANO],
    ['null is zero', { containers: [container('c', { memory: null })] }, 0n],
    ['binary amounts end at 2^63-1', { containers: [container('c', { memory: '9000Ei' })] }, (2n ** 63n - 1n) * NANO],
    ['decimal requests are not capped at 2^63', { containers: [container('c', { memory: '20E' })] }, 20n * 10n ** 18n * NANO],
    [
      'sums of requests are not capped at 2^63',
      { containers: [container('a', { memory: '8Ei' }), container('b', { memory: '8Ei' })] },
      2n * (2n ** 63n - 1n) * NANO,
    ],
  ])('%s', (_rule, spec, memory) => {
    expect(workloadOfPod(podDocument({ spec })).requests.memory).toBe(memory);
  });

  test('pod-level storage does not count, and does not replace that of the containers', () => {
    const containers = [container('c', { 'ephemeral-storage': '1Gi' })];
    const resources = { requests: { memory: '1Gi', 'ephemeral-storage': '2Gi' } };
    expect(workloadOfPod(podDocument({ spec: { containers, resources } })).requests.ephemeralStorage).toBe(0n);
  });

  test('inodes are not a resource of Kubernetes, but a request of that name counts', () => {
    const containers = [container('c', { inodes: '100' })];
    expect(workloadOfPod(podDocument({ spec: { containers } })).requests.inodes).toBe(100n * NANO);
  });
});

describe('the storage limit of a pod', () => {
  const storage = (amount: string) => container(amount, {}, { 'ephemeral-storage': amount });
  const limitOf = (spec: Readonly<Record<string, unknown>>) =>
    workloadOfPod(podDocument({ spec })).pod?.limits.get('ephemeral-storage')?.text;

  test.each<[rule: string, spec: Readonly<Record<string, unknown>>, text: string | undefined]>([
    ['none', {}, undefined],
    ['that of one container is kept as it was written', { containers: [storage('001Gi')] }, '001Gi'],
    ['a sum is canonical', { containers: [storage('512Mi'), storage('1536Mi')] }, '2Gi'],
    ['a sum has the form of the first', { containers: [storage('1k'), storage('1Ki')] }, '2024'],
    ['the first limit that is not zero counts', { containers: [storage('0'), storage('1Ki')] }, '1Ki'],
    ['overhead adds to a limit', { containers: [storage('1Gi')], overhead: { 'ephemeral-storage': '1Gi' } }, '2Gi'],
    ['overhead is not added to zero', { containers: [storage('0')], overhead: { 'ephemeral-storage': '1Gi' } }, '0'],
    ['overhead alone is not a limit', { overhead: { 'ephemeral-storage': '1Gi' } }, undefined],
    ['spec.resources has none for storage', { containers: [storage('1Gi')], resources: { limits: { 'ephemeral-storage': '5Gi' } } }, '1Gi'],
  ])('%s', (_rule, spec, text) => {
    expect(limitOf(spec)).toBe(text);
  });

  test('of spec.resources replaces that of the containers, for the resources that it names', () => {
    const spec = { containers: [container('c', {}, { memory: '1Gi', cpu: '1' })], resources: { limits: { memory: '3Gi' } } };
    const limits = workloadOfPod(podDocument({ spec })).pod?.limits;
    expect([limits?.get('memory')?.text, limits?.get('cpu')?.text]).toEqual(['3Gi', '1']);
  });
});

test.each<[rule: string, resources: Readonly<Record<string, unknown>> | undefined, isSet: boolean]>([
  ['absent', undefined, false],
  ['empty', {}, false],
  ['a resource that does not count there', { requests: { 'ephemeral-storage': '1Gi' } }, false],
  ['a request', { requests: { cpu: '1' } }, true],
  ['a limit', { limits: { memory: '1Gi' } }, true],
])('whether pod-level resources are set: %s', (_rule, resources, isSet) => {
  expect(workloadOfPod(podDocument({ spec: { resources } })).pod?.podLevel !== undefined).toBe(isSet);
});

test('sidecars are init containers that always restart, and ephemeral containers are not listed', () => {
  const spec = {
    containers: [{ name: 'app', restartPolicy: 'Always' }],
    initContainers: [{ name: 'first' }, { name: 'mesh', restartPolicy: 'Always' }],
    ephemeralContainers: [{ name: 'debug' }],
  };
  expect(workloadOfPod(podDocument({ spec })).pod?.containers.map(({ name, kind }) => [name, kind])).toEqual([
    ['app', 'regular'],
    ['first', 'init'],
    ['mesh', 'sidecar'],
  ]);
});

test('volumes on storage of the node are listed in order', () => {
  const volumes = [
    { name: 'a', secret: { secretName: 's' } },
    { name: 'b', emptyDir: {} },
    { name: 'c', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
    { name: 'n', emptyDir: { sizeLimit: null } },
    { name: 'd', persistentVolumeClaim: { claimName: 'd' } },
    { name: 'e', hostPath: { path: '/e' } },
    { name: 'f', configMap: { name: 'f' } },
    { name: 'g', gitRepo: { repository: 'g' } },
    { name: 'h', emptyDir: null },
  ];
  expect(
    workloadOfPod(podDocument({ spec: { volumes } })).pod?.volumes.map(({ name, kind, medium, sizeLimit }) => [
      name,
      kind,
      medium,
      sizeLimit?.text,
    ]),
  ).toEqual([
    ['b', 'emptyDir', '', undefined],
    ['c', 'emptyDir', 'Memory', '64Mi'],
    ['n', 'emptyDir', '', undefined],
    ['e', 'hostPath', '', undefined],
    ['f', 'configMap', '', undefined],
    ['g', 'gitRepo', '', undefined],
  ]);
});

test('tolerations, QoS class and conditions are read', () => {
  const document = podDocument({
    spec: { priorityClassName: 'gold', tolerations: [{ operator: 'Exists' }, { key: 'k', value: 'v', effect: 'NoSchedule' }] },
    status: {
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'X', status: 'False', reason: 'R', message: 'M', lastProbeTime: null },
      ],
    },
  });
  expect(workloadOfPod(document).pod).toMatchObject({
    priorityClassName: 'gold',
    tolerations: [
      { key: '', operator: 'Exists', value: '', effect: '' },
      { key: 'k', operator: '', value: 'v', effect: 'NoSchedule' },
    ],
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'X', status: 'False', reason: 'R', message: 'M' },
    ],
  });
});

describe('the QoS class of a pod', () => {
  const burstable = { containers: [container('c', { memory: '1Gi' })] };
  test.each<[rule: string, spec: Readonly<Record<string, unknown>>, status: Readonly<Record<string, unknown>>, qosClass: string]>([
    ['computed', burstable, {}, 'Burstable'],
    ['the stated class counts', burstable, { qosClass: 'Guaranteed' }, 'Guaranteed'],
    ['an empty class is ignored', burstable, { qosClass: '' }, 'Burstable'],
    ['pod-level resources count if they are set, even if empty', { ...burstable, resources: {} }, {}, 'BestEffort'],
  ])('%s', (_rule, spec, status, qosClass) => {
    expect(workloadOfPod(podDocument({ spec, status })).qosClass).toBe(qosClass);
  });
});

describe('the times of a pod', () => {
  test.each<[rule: string, seconds: unknown, ns: bigint | undefined]>([
    ['it asks for none', undefined, undefined],
    ['zero is a wish', 0, 0n],
    ['seconds', 30, 30n * NANO],
    ['the largest', 2n ** 63n - 1n, (2n ** 63n - 1n) * NANO],
    ['a negative one is kept, although the API refuses it', -1, -NANO],
  ])('its grace period: %s', (_rule, terminationGracePeriodSeconds, ns) => {
    expect(workloadOfPod(podDocument({ spec: { terminationGracePeriodSeconds } })).terminationGracePeriodNs).toBe(ns);
  });

  test.each<[rule: string, startTime: unknown, creationTimestamp: unknown, startOrder: bigint]>([
    ['started', '2026-01-01T00:00:01Z', '2026-01-01T00:00:00Z', 1767225601n * NANO],
    ['it has not started, and the time of its creation counts', null, '2026-01-01T00:00:00Z', 1767225600n * NANO],
    ['neither time is set, and it counts as the oldest', undefined, undefined, 0n],
    ['the zero time is ignored', '0001-01-01T00:00:00Z', undefined, 0n],
  ])('its start: %s', (_rule, startTime, creationTimestamp, startOrder) => {
    expect(workloadOfPod(podDocument({ metadata: { creationTimestamp }, status: { startTime } })).startOrder).toBe(startOrder);
  });
});

describe('a document that is not a pod', () => {
  const amount = (memory: unknown) => podDocument({ spec: { containers: [container('a'), container('b', { memory })] } });
  const memory = 'spec.containers[1].resources.requests.memory';

  test.each<[rule: string, document: unknown, path: string, message: string]>([
    ['nothing', undefined, '', 'the document is missing: a Pod is expected'],
    ['null', null, '', 'the document is null: a Pod is expected'],
    ['a list', [], '', 'the document is a list: an object is expected'],
    ['a text', 'web', '', 'the document is "web": an object is expected'],
    ['another kind', { kind: 'Node', metadata: { name: 'n' } }, 'kind', 'kind is "Node": a Pod is expected'],
    [
      'the name is missing',
      podDocument({ metadata: { name: '' } }),
      'metadata.name',
      'metadata.name is "": the name of the pod is expected',
    ],
    ['the spec is missing', { kind: 'Pod', metadata: { name: 'n' } }, 'spec', 'spec is missing: an object is expected'],
    [
      'containers that are not a list',
      podDocument({ spec: { containers: {} } }),
      'spec.containers',
      'spec.containers is an object: a list is expected',
    ],
    [
      'an invalid container',
      podDocument({ spec: { containers: [1] } }),
      'spec.containers[0]',
      'spec.containers[0] is 1: an object is expected',
    ],
    ['an invalid amount', amount('1Gig'), memory, `${memory}: "1Gig": `],
    ['an empty amount', amount(''), memory, `${memory}: "": `],
    ['an amount of another type', amount(true), memory, `${memory} is true: an amount such as "500m" or "1Gi" is expected`],
    [
      'an amount of a resource with a long name',
      podDocument({ spec: { overhead: { 'example.com/gpu': 'x' } } }),
      'spec.overhead["example.com/gpu"]',
      'spec.overhead["example.com/gpu"]: "x": ',
    ],
    ['a name of another type', podDocument({ metadata: { name: 7 } }), 'metadata.name', 'metadata.name is 7: a text is expected'],
    [
      'a priority beyond 32 bits',
      podDocument({ spec: { priority: 2147483648 } }),
      'spec.priority',
      'spec.priority is 2147483648: an integer of type int32 is expected',
    ],
    [
      'a priority below 32 bits',
      podDocument({ spec: { priority: -2147483649 } }),
      'spec.priority',
      'spec.priority is -2147483649: an integer of type int32 is expected',
    ],
    ['half a priority', podDocument({ spec: { priority: 0.5 } }), 'spec.priority', 'spec.priority is 0.5: an integer is expected'],
    [
      'a grace period beyond 64 bits',
      podDocument({ spec: { terminationGracePeriodSeconds: 2n ** 63n } }),
      'spec.terminationGracePeriodSeconds',
      'spec.terminationGracePeriodSeconds is 9223372036854775808: an integer of type int64 is expected',
    ],
    [
      'an invalid class',
      podDocument({ status: { qosClass: 'Gold' } }),
      'status.qosClass',
      'status.qosClass is "Gold": Guaranteed, Burstable or BestEffort is expected',
    ],
    [
      'an invalid time',
      podDocument({ status: { startTime: 'yesterday' } }),
      'status.startTime',
      'status.startTime is "yesterday": a time such as "2026-01-01T00:00:00Z" is expected',
    ],
  ])('%s', (_rule, document, path, message) => {
    const error = thrown(() => workloadOfPod(document));
    expect(error).toBeInstanceOf(DocumentError);
    expect(error).toMatchObject({ code: 'EVICTD_KUBERNETES_DOCUMENT', path, message: expect.stringMatching(startOf(message)) as unknown });
  });

  test('is not one with unknown keys, whatever their names', () => {
    const document = JSON.parse('{"metadata":{"name":"n"},"spec":{"__proto__":{"priority":7},"constructor":1,"newInV2":[]}}') as unknown;
    expect(workloadOfPod(document)).toMatchObject({ name: 'n', priority: 0 });
  });
});

function thrown(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

function startOf(message: string): RegExp {
  return new RegExp(`^${message.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')}`);
}
