import type { ServiceDefinition } from '@grpc/grpc-js';
import { fc } from '../../../support/property.js';
import { describe, expect, test } from 'vitest';
import {
  CONTAINER_STATUS,
  IMAGE_FS_INFO,
  LIST_CONTAINERS,
  LIST_IMAGES,
  LIST_PODS,
  LIST_STATS,
  REMOVE_CONTAINER,
  REMOVE_IMAGE,
  REMOVE_POD,
  STATUS,
  STOP_CONTAINER,
  STOP_POD,
  VERSION,
} from '../../../../src/host/linux/cri/runtime-calls.js';
import { decode, encode, type Table } from '../../../../src/host/linux/cri/protobuf.js';
import { servicesIn } from '../../../support/cri/containerd.js';

// Judged by another codec, which reads api.proto.
const service = Object.assign({}, ...servicesIn('src/host/linux/cri/api.proto').map((one) => one.service)) as ServiceDefinition;
const calls = {
  ListPodSandbox: LIST_PODS,
  ListContainers: LIST_CONTAINERS,
  ContainerStatus: CONTAINER_STATUS,
  ListContainerStats: LIST_STATS,
  StopContainer: STOP_CONTAINER,
  RemoveContainer: REMOVE_CONTAINER,
  StopPodSandbox: STOP_POD,
  RemovePodSandbox: REMOVE_POD,
  Version: VERSION,
  Status: STATUS,
  ImageFsInfo: IMAGE_FS_INFO,
  ListImages: LIST_IMAGES,
  RemoveImage: REMOVE_IMAGE,
};

const texts = fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), { noNullPrototype: true });
const text = fc.string({ unit: 'binary' });
const whole = fc.nat({ max: 2 ** 31 - 1 });
const pod = fc.record({
  id: text,
  metadata: fc.record({ name: text, uid: text, namespace: text, attempt: whole }),
  state: whole,
  created_at: fc.constant(1_795_372_060_123_456_789n.toString()),
  labels: texts,
  annotations: texts,
});
const container = fc.record({
  id: text,
  pod_sandbox_id: text,
  metadata: fc.record({ name: text }),
  image: fc.record({ image: text }),
  image_ref: text,
  state: whole,
  labels: texts,
  annotations: texts,
});

describe('messages of another codec are decoded', () => {
  const own = (record: Readonly<Record<string, string>>) => ({ ...record });

  test('with pods', () => {
    fc.assert(
      fc.property(fc.array(pod), (items) => {
        const bytes = service.ListPodSandbox?.responseSerialize({ items }) ?? Buffer.alloc(0);
        const expected = items.map(({ id, metadata: { name, uid, namespace }, state, labels, annotations }) => {
          return { id, metadata: { name, uid, namespace }, state, labels: own(labels), annotations: own(annotations) };
        });
        expect(decode(LIST_PODS.output, bytes).items).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  test('with images', () => {
    const image = fc.record({ id: text, repo_tags: fc.array(text), repo_digests: fc.array(text), size: whole, pinned: fc.boolean() });
    fc.assert(
      fc.property(fc.array(image), (images) => {
        const bytes = service.ListImages?.responseSerialize({ images }) ?? Buffer.alloc(0);
        const expected = images.map(({ repo_tags: repoTags, repo_digests: repoDigests, ...rest }) => ({ ...rest, repoTags, repoDigests }));
        expect(decode(LIST_IMAGES.output, bytes).images).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  test('with containers', () => {
    fc.assert(
      fc.property(fc.array(container), (containers) => {
        const bytes = service.ListContainers?.responseSerialize({ containers }) ?? Buffer.alloc(0);
        const expected = containers.map(({ pod_sandbox_id: podSandboxId, image_ref: imageRef, labels, annotations, ...rest }) => {
          return { ...rest, podSandboxId, imageRef, labels: own(labels), annotations: own(annotations) };
        });
        expect(decode(LIST_CONTAINERS.output, bytes).containers).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });
});

test('the disk usage and log paths of containers are decoded', () => {
  const mountpoint = '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs';
  const written = { timestamp: 2 ** 40, fs_id: { mountpoint }, used_bytes: { value: 5_025_792 }, inodes_used: { value: 10 } };
  const stats = [{ attributes: { id: 'a' }, writable_layer: written }, { attributes: { id: 'b' } }];
  const bytes = service.ListContainerStats?.responseSerialize({ stats }) ?? Buffer.alloc(0);
  const none = { timestamp: 0, fsId: { mountpoint: '' }, usedBytes: { value: 0 }, inodesUsed: { value: 0 } };
  expect(decode(LIST_STATS.output, bytes).stats).toEqual([
    {
      attributes: { id: 'a' },
      writableLayer: { timestamp: 2 ** 40, fsId: { mountpoint }, usedBytes: { value: 5_025_792 }, inodesUsed: { value: 10 } },
    },
    { attributes: { id: 'b' }, writableLayer: none },
  ]);
  const status = service.ContainerStatus?.responseSerialize({ status: { log_path: '/var/log/a.log' } }) ?? Buffer.alloc(0);
  expect(decode(CONTAINER_STATUS.output, status)).toEqual({ status: { logPath: '/var/log/a.log' }, info: {} });
});

test('the filesystems of images and containers are decoded', () => {
  const on = (mountpoint: string) => ({ timestamp: 1, fs_id: { mountpoint }, used_bytes: { value: 2 }, inodes_used: { value: 3 } });
  const bytes = service.ImageFsInfo?.responseSerialize({ image_filesystems: [on('/i'), on('/j')], container_filesystems: [on('/c')] });
  const { imageFilesystems, containerFilesystems } = decode(IMAGE_FS_INFO.output, bytes ?? Buffer.alloc(0));
  expect(imageFilesystems.map(({ fsId }) => fsId.mountpoint)).toEqual(['/i', '/j']);
  expect(containerFilesystems.map(({ fsId }) => fsId.mountpoint)).toEqual(['/c']);
});

test('another codec decodes the messages of this one', () => {
  fc.assert(
    fc.property(fc.record({ containerId: text, verbose: fc.boolean() }), ({ containerId, verbose }) => {
      const bytes = encode(CONTAINER_STATUS.input, { containerId, verbose });
      expect(service.ContainerStatus?.requestDeserialize(bytes)).toEqual({ container_id: containerId, verbose });
    }),
    { numRuns: 50 },
  );
});

test('another codec decodes the timeout of StopContainer, and the pod of StopPodSandbox', () => {
  expect(service.StopContainer?.requestDeserialize(encode(STOP_CONTAINER.input, { containerId: 'a', timeout: 300 }))).toEqual({
    container_id: 'a',
    timeout: 300,
  });
  expect(service.RemoveContainer?.requestDeserialize(encode(REMOVE_CONTAINER.input, { containerId: 'a' }))).toEqual({ container_id: 'a' });
  expect(service.StopPodSandbox?.requestDeserialize(encode(STOP_POD.input, { podSandboxId: 'p' }))).toEqual({ pod_sandbox_id: 'p' });
  expect(service.RemovePodSandbox?.requestDeserialize(encode(REMOVE_POD.input, { podSandboxId: 'p' }))).toEqual({ pod_sandbox_id: 'p' });
});

test('every field of api.proto is used', () => {
  expect(Object.keys(service).sort()).toEqual(Object.keys(calls).sort());
});

test.each(Object.entries(calls))('%s has the path of api.proto', (name, { path }) => {
  expect(service[name]?.path).toBe(path);
});

const table = {
  name: [1, 'text'],
  count: [2, 'whole'],
  labels: [3, 'texts'],
  inner: [4, { message: { name: [1, 'text'] } }],
} as const satisfies Table;

describe('invalid bytes', () => {
  test('an empty message decodes to default values', () => {
    expect(decode(table, Buffer.alloc(0))).toEqual({ name: '', count: 0, labels: {}, inner: { name: '' } });
  });

  test('unknown fields of all kinds are skipped', () => {
    const unknown = [0x78, 0x96, 0x01, 0x7a, 0x02, 0x68, 0x69, 0x79, 1, 2, 3, 4, 5, 6, 7, 8, 0x7d, 1, 2, 3, 4];
    expect(decode(table, Buffer.from([...unknown, 0x0a, 1, 0x61, ...unknown]))).toMatchObject({ name: 'a' });
  });

  test('__proto__ is a label like others', () => {
    const { labels } = decode(table, encode(table, { labels: Object.fromEntries([['__proto__', 'x']]) }));
    expect(Object.entries(labels)).toEqual([['__proto__', 'x']]);
  });

  test.each<[rule: string, bytes: readonly number[]]>([
    ['cut off in a number', [0x10, 0x80]],
    ['a number without an end', [0x10, ...Array<number>(11).fill(0x80)]],
    ['cut off in a text', [0x0a, 5, 0x61]],
    ['a length beyond all', [0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f]],
    ['a group, which protobuf has no longer', [0x0b]],
  ])('%s', (_rule, bytes) => {
    expect(() => decode(table, Buffer.from(bytes))).toThrow(RangeError);
  });

  test('any bytes decode to a message or a RangeError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        try {
          decode(LIST_PODS.output, Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});
