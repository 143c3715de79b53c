import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { status } from '@grpc/grpc-js';
import { openContainerRuntime } from '../../../../src/host/linux/cri/container-runtime.js';
import type { ContainerRuntime } from '../../../../src/monitor/ports/ports.js';
import { eventually } from '../../../support/eventually.js';
import { FakeRuntime, type Handlers } from './fake-runtime.js';

const id = (letter: string): string => letter.repeat(64);

/** A pod 'default/NAME' of one container 'app' with the id of the letter. */
const pods = (...names: readonly string[]): Handlers => ({
  ListPodSandbox: () => ({
    items: names.map((name) => ({ id: `pod-${name}`, metadata: { name, uid: 'u', namespace: 'default' }, state: 0 })),
  }),
  ListContainers: () => ({
    containers: names.map((name) => ({ id: id(name), pod_sandbox_id: `pod-${name}`, metadata: { name: 'app' }, state: 1 })),
  }),
  ContainerStatus: ({ container_id }) => ({ info: infoOf(`/k8s.io/${String(container_id)}`) }),
});
const infoOf = (cgroupsPath: unknown) => ({ info: JSON.stringify({ pid: 1, runtimeSpec: { linux: { cgroupsPath } } }) });

/** Less than a test would like to wait, and enough not to keep the processor busy. */
const APART_NS = 20_000_000n;

let fake: FakeRuntime;
let runtime: ContainerRuntime;
const names = (): string[] => runtime.workloads().map(({ name }) => name);
const questions = (): string[] => fake.requests.map(([call]) => call);

/** Asks until it has. */
const waitUntil = async (what: string, is: () => boolean): Promise<void> => {
  await eventually(what, async () => {
    await runtime.reported();
    return is();
  });
};

/** Starts the fake runtime, lists its pods and forgets the requests. Connecting alone takes a slow machine longer than a list may take. */
const startAndList = async (): Promise<void> => {
  await fake.start();
  await waitUntil('a list in time', () => runtime.problem()?.message.includes('no answer in time') !== true);
  fake.requests.length = 0;
};

beforeEach(() => {
  fake = new FakeRuntime(pods('a', 'b'));
  runtime = openContainerRuntime(fake.endpoint, APART_NS);
});
afterEach(() => {
  runtime.close();
  fake.remove();
});

test('the runtime reports pods and their cgroups', async () => {
  await startAndList();
  expect(runtime.workloads().map(({ name, path }) => [name, path])).toEqual([
    ['default/a/app', `/k8s.io/${id('a')}`],
    ['default/b/app', `/k8s.io/${id('b')}`],
  ]);
  expect(runtime.problem()).toBeUndefined();
});

test('known containers are not read again, and an equal list keeps its identity', async () => {
  await startAndList();
  const before = runtime.workloads();
  await waitUntil('it is asked again', () => questions().includes('ListContainers'));
  expect(runtime.workloads()).toBe(before);
  fake.handlers = pods('b', 'c');
  await waitUntil('it has said otherwise', () => runtime.workloads() !== before);
  expect(names()).toEqual(['default/b/app', 'default/c/app']);
  expect(fake.requests.filter(([call]) => call === 'ContainerStatus').map(([, request]) => request.container_id)).toEqual([id('c')]);
});

test('a kubelet manages all containers if it has made one of them', async () => {
  await startAndList();
  expect(runtime.workloads().map((workload) => workload.runtime.byKubelet)).toEqual([false, false]);
  const { ListPodSandbox, ...others } = pods('a', 'b');
  const over = { id: 'over', state: 1, labels: { 'io.kubernetes.pod.uid': 'u' } };
  fake.handlers = {
    ...others,
    ListPodSandbox: (request) => ({ items: [...(ListPodSandbox?.(request) as { items: object[] }).items, over] }),
  };
  await waitUntil('they are known to be the kubelet’s', () => runtime.workloads().every((workload) => workload.runtime.byKubelet));
  expect(names()).toEqual(['default/a/app', 'default/b/app']);
});

test('a hundred simultaneous reads become one call', async () => {
  await fake.start();
  for (let count = 0; count < 100; count++) runtime.follow();
  await eventually('it has answered', () => runtime.hasReported);
  expect(
    questions()
      .filter((call) => call !== 'ContainerStatus')
      .sort(),
  ).toEqual(['ImageFsInfo', 'ListContainers', 'ListImages', 'ListPodSandbox']);
});

test('reported() waits for the answer to a request that is made after the call', async () => {
  await fake.start();
  const seldom = openContainerRuntime(fake.endpoint, 3_600_000_000_000n);
  seldom.follow();
  await eventually('it is asked', () => questions().includes('ListContainers'));
  fake.handlers = pods('c');
  await seldom.reported();
  seldom.close();
  expect(seldom.workloads().map(({ name }) => name)).toEqual(['default/c/app']);
});

describe('errors of a runtime lose no workload', () => {
  test('when no runtime listens at first, and then one does', async () => {
    await runtime.reported();
    expect(runtime.problem()).toMatchObject({
      code: 'EVICTD_CRI_UNREACHABLE',
      message: expect.stringMatching(/ENOENT.*none of its pods is a candidate/) as string,
    });
    await fake.start();
    await waitUntil('it is found', () => runtime.problem() === undefined);
    expect(names()).toEqual(['default/a/app', 'default/b/app']);
  });

  test('when the runtime restarts', async () => {
    await startAndList();
    fake.stop();
    await waitUntil('that is known', () => runtime.problem() !== undefined);
    expect(names()).toEqual(['default/a/app', 'default/b/app']);
    expect(runtime.problem()?.message).toContain('its 2 known workloads stay candidates');
    fake.handlers = pods('a');
    await fake.start();
    await waitUntil('it is found again', () => runtime.problem() === undefined);
    expect(names()).toEqual(['default/a/app']);
  });

  test('when the runtime hangs, which blocks nothing and gets no further call', async () => {
    await startAndList();
    fake.handlers = { ...pods('a', 'b'), ListPodSandbox: () => 'hang' };
    const listCalls = (): number => questions().filter((call) => call === 'ListPodSandbox').length;
    await eventually('it hangs', () => {
      runtime.follow();
      return listCalls() === 1;
    });
    await pause(Number(APART_NS / 1_000_000n) * 2); // only the call that hangs prevents the next one
    runtime.follow();
    expect(names()).toEqual(['default/a/app', 'default/b/app']);
    await runtime.reported();
    expect(listCalls()).toBe(1);
    expect(runtime.problem()?.message).toContain('no answer in time');
    expect(names()).toEqual(['default/a/app', 'default/b/app']);
  });

  test('when the runtime refuses a call', async () => {
    fake.handlers = {
      ...pods('a'),
      ListContainers: () => Promise.reject(Object.assign(new Error(), { code: status.INTERNAL, details: 'disk on fire' })),
    };
    await startAndList();
    expect(runtime.problem()?.message).toContain('disk on fire');
  });
});

describe('the disk usage of containers', () => {
  const mib = (count: number) => ({ value: count * 1024 * 1024 });
  const statsOf = (letter: string, timestampMs: number, mountpoint = '/layers') => ({
    attributes: { id: id(letter) },
    writable_layer: { timestamp: timestampMs * 1e6, fs_id: { mountpoint }, used_bytes: mib(3), inodes_used: { value: 7 } },
  });
  const filesWith = async (...stats: readonly object[]) => {
    fake.handlers = {
      ...pods('a'),
      ContainerStatus: ({ container_id }) => ({
        status: { log_path: '/var/log/a.log' },
        info: infoOf(`/k8s.io/${String(container_id)}`),
      }),
      ListContainerStats: () => ({ stats }),
    };
    await startAndList();
    return runtime.files();
  };

  test('is that of the layer as measured last, and of the log, and of no other container', async () => {
    const beforeNs = process.hrtime.bigint();
    const [found, ...others] = await filesWith(statsOf('b', Date.now()), statsOf('a', Date.now() - 7_000));
    expect(found).toMatchObject({
      id: id('a'),
      layer: { directory: '/layers', amount: { bytes: 3n * 1024n * 1024n, inodes: 7n } },
      logPath: '/var/log/a.log',
    });
    expect(found?.layer?.atNs).toBeGreaterThan(beforeNs - 8_000_000_000n);
    expect(found?.layer?.atNs).toBeLessThan(process.hrtime.bigint() - 6_000_000_000n);
    expect(others).toEqual([]);
  });

  test('with CRI-O is that of the directory that contains the named mount', async () => {
    const [found] = await filesWith(statsOf('a', Date.now(), '/var/lib/containers/storage/overlay/0a1b/merged'));
    expect(found?.layer?.directory).toBe('/var/lib/containers/storage/overlay');
  });

  test('is not from the future after the clock was set back by a moment', async () => {
    const [found] = await filesWith(statsOf('a', Date.now() + 500));
    expect(found?.layer?.atNs).toBeLessThanOrEqual(process.hrtime.bigint());
  });

  test('with devmapper of containerd is not that of the named directory', async () => {
    const mountpoint = '/var/lib/containerd/io.containerd.snapshotter.v1.devmapper';
    const [found] = await filesWith(statsOf('a', Date.now(), mountpoint));
    expect(found?.layer).toMatchObject({ directory: mountpoint, amount: { bytes: 0n, inodes: 0n } });
  });

  test('has a longer timeout than a list, because a runtime may measure only then', async () => {
    await filesWith(statsOf('a', Date.now()));
    expect(fake.withinMs.get('ListContainerStats')).toBeGreaterThan(10_000);
    expect(fake.withinMs.get('ListContainers')).toBeLessThan(10_000);
  });

  test.each<[rule: string, stats: readonly object[]]>([
    ['a container that the runtime has not measured yet', [statsOf('a', 0)]],
    ['a measurement from before the clock was set back', [statsOf('a', Date.now() + 3_600_000)]],
    ['a value that the runtime does not report', []],
  ])('is unknown for %s', async (_rule, stats) => {
    expect(await filesWith(...stats)).toEqual([{ id: id('a'), layer: undefined, logPath: '/var/log/a.log' }]);
  });

  test('has the error of the runtime', async () => {
    fake.handlers = {
      ListContainerStats: () => Promise.reject(Object.assign(new Error(), { code: status.INTERNAL, details: 'no cgroups' })),
    };
    await fake.start();
    await expect(runtime.files()).rejects.toThrow(/^no cgroups$/);
  });
});

describe('the filesystems of images and containers', () => {
  const on = (mountpoint: string) => ({ fs_id: { mountpoint } });
  const toldWith = async (info: Handlers[string]) => {
    fake.handlers = { ...pods('a'), ImageFsInfo: info };
    await startAndList();
    return runtime.filesystems();
  };

  test.each<[rule: string, answer: object, expected: object | undefined]>([
    ['are one filesystem', { image_filesystems: [on('/images')] }, { imagefs: '/images', containerfs: undefined }],
    [
      'are two, the first of each, as for the kubelet',
      { image_filesystems: [on('/images'), on('/more')], container_filesystems: [on('/containers')] },
      { imagefs: '/images', containerfs: '/containers' },
    ],
    ['are unknown if the runtime does not report them', {}, undefined],
    ['are unknown without a path', { image_filesystems: [on('overlay')] }, undefined],
  ])('%s', async (_rule, answer, expected) => {
    expect(await toldWith(() => answer)).toEqual(expected);
  });

  test('are read again with the next list after a failed ImageFsInfo', async () => {
    expect(await toldWith(() => Promise.reject(new Error()))).toBeUndefined();
    fake.handlers = { ...pods('a'), ImageFsInfo: () => ({ image_filesystems: [on('/images')] }) };
    await waitUntil('it is known', () => runtime.filesystems() !== undefined);
  });

  test('do not delay the list of pods if ImageFsInfo hangs or fails', async () => {
    fake.handlers = { ...pods('a'), ImageFsInfo: () => 'hang' };
    await fake.start();
    await eventually('its pods are known', () => {
      runtime.follow();
      return names().length === 1;
    });
    expect(runtime.filesystems()).toBeUndefined();
    expect(runtime.problem()).toBeUndefined();
  });
});

describe('invalid answers of a runtime', () => {
  test.each<[rule: string, handlers: Handlers]>([
    [
      'a container that has gone meanwhile',
      {
        ContainerStatus: ({ container_id }) =>
          container_id === id('a')
            ? Promise.reject(Object.assign(new Error(), { code: status.NOT_FOUND }))
            : { info: infoOf(`/k8s.io/${id('b')}`) },
      },
    ],
    [
      'a container whose info is not JSON',
      {
        ContainerStatus: ({ container_id }) =>
          container_id === id('a') ? { info: { info: 'no JSON' } } : { info: infoOf(`/k8s.io/${id('b')}`) },
      },
    ],
    [
      'a container whose cgroup path is not text',
      { ContainerStatus: ({ container_id }) => ({ info: container_id === id('a') ? infoOf(1) : infoOf(`/k8s.io/${id('b')}`) }) },
    ],
    ['a container that reports the cgroup of another', { ContainerStatus: () => ({ info: infoOf(`/k8s.io/${id('b')}`) }) }],
    [
      'a container without verbose info',
      { ContainerStatus: ({ container_id }) => (container_id === id('a') ? {} : { info: infoOf(`/k8s.io/${id('b')}`) }) },
    ],
    [
      'a container of no pod',
      { ListPodSandbox: () => ({ items: [{ id: 'pod-b', metadata: { name: 'b', uid: 'u', namespace: 'default' }, state: 0 }] }) },
    ],
    [
      'a pod that is not ready',
      {
        ListPodSandbox: () => ({
          items: [
            { id: 'pod-a', metadata: { name: 'a', namespace: 'default' }, state: 1 },
            { id: 'pod-b', metadata: { name: 'b', namespace: 'default' }, state: 0 },
          ],
        }),
      },
    ],
    [
      'a container that does not run',
      {
        ListContainers: () => ({
          containers: [
            { id: id('a'), pod_sandbox_id: 'pod-a', metadata: { name: 'app' }, state: 2 },
            { id: id('b'), pod_sandbox_id: 'pod-b', metadata: { name: 'app' }, state: 1 },
          ],
        }),
      },
    ],
  ])('leave out %s, and the others are there', async (_rule, handlers) => {
    fake.handlers = { ...pods('a', 'b'), ...handlers };
    await startAndList();
    expect(runtime.problem()).toBeUndefined();
    expect(names()).toEqual(['default/b/app']);
  });

  test('a closed runtime makes no more calls', async () => {
    await fake.start();
    runtime.close();
    runtime.close();
    await runtime.reported();
    expect(fake.requests).toEqual([]);
  });
});
