import { expect, test } from 'vitest';
import { documentOf } from '../../../src/kubernetes/document.js';
import { podWithDefaults } from '../../../src/kubernetes/scheduling/pod-defaults.js';
import { schedulerPodAt } from '../../../src/kubernetes/scheduling/scheduler-pod.js';

const read = (spec: unknown): ReturnType<typeof schedulerPodAt> =>
  schedulerPodAt(podWithDefaults(documentOf({ metadata: { name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z' }, spec, status: 7 })));
const container = (requests: unknown, limits: unknown): unknown => ({ name: 'c', resources: { requests, limits } });

test.each<[rule: string, spec: unknown, requests: Readonly<Record<string, bigint>>]>([
  [
    'requests that are not given are the limits',
    { containers: [container({ cpu: '1' }, { cpu: '2', memory: '7' })] },
    { cpu: 1000n, memory: 7n },
  ],
  ['a request without a value is ignored', { containers: [container({ cpu: null }, { cpu: '2' })] }, { cpu: 2000n }],
  [
    'a request of an init container without a value is ignored',
    { initContainers: [container(undefined, { cpu: '2' })], containers: [] },
    { cpu: 2000n },
  ],
  [
    'with pod limits the pod requests are those of its containers, or else the limits',
    {
      resources: { limits: { cpu: '4', memory: '9' } },
      containers: [container({ cpu: '1' }, undefined), container({ cpu: '2' }, undefined)],
    },
    { cpu: 3000n, memory: 9n },
  ],
  [
    'given requests of the pod stay',
    { resources: { requests: { cpu: '4' }, limits: { cpu: '5' } }, containers: [container({ cpu: '1' }, undefined)] },
    { cpu: 4000n },
  ],
  [
    'the pod request for huge pages is the limit',
    { resources: { limits: { 'hugepages-2Mi': '4' } }, containers: [container({ 'hugepages-2Mi': '2' }, undefined)] },
    { 'hugepages-2Mi': 4n },
  ],
  ['without limits nothing is added', { containers: [container({ cpu: '1' }, undefined)] }, { cpu: 1000n }],
])('%s', (_rule, spec, requests) => {
  expect(Object.fromEntries(read(spec).requests)).toEqual(requests);
});

test.each<[rule: string, hostNetwork: boolean, ports: readonly number[]]>([
  ["with the host's network a port of a container is a port of the node", true, [80, 9090]],
  ["without the host's network only the given host ports count", false, [9090]],
])('%s', (_rule, hostNetwork, ports) => {
  const own = [{ containerPort: 80 }, { containerPort: 443, hostPort: 0 }, { containerPort: 90, hostPort: 9090 }];
  const { hostPorts } = read({ hostNetwork, containers: [{ name: 'c', ports: hostNetwork ? own.toSpliced(1, 1) : own }] });
  expect(hostPorts.map(({ port }) => port)).toEqual(ports);
  expect(read({ hostNetwork, containers: [{ name: 'c', ports: [{ containerPort: 443, hostPort: 0 }] }] }).hostPorts).toHaveLength(
    hostNetwork ? 1 : 0,
  );
});

test('a new pod has no status, and is not being deleted', () => {
  expect(read({ containers: [] })).toMatchObject({ terminating: false, startNs: undefined });
});
