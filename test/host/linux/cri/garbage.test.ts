import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openContainerRuntime } from '../../../../src/host/linux/cri/container-runtime.js';
import type { ContainerRuntime } from '../../../../src/monitor/ports/ports.js';
import { FakeRuntime, type Handlers } from './fake-runtime.js';

const label = { 'io.kubernetes.pod.uid': 'u' };
const RUNNING = 1;
const EXITED = 2;

/**
 * A pod whose one container runs, one with a container that has ended beside it, and one that has ended with all of
 * its.
 */
const handlers: Handlers = {
  ListPodSandbox: () => ({
    items: [
      { id: 'up', state: 0 },
      { id: 'job', state: 0 },
      { id: 'over', state: 1 },
      { id: 'stopping', state: 1 },
    ],
  }),
  ListContainers: () => ({
    containers: [
      { id: 'web', pod_sandbox_id: 'up', state: RUNNING, image: { image: 'web:1' }, image_ref: 'sha256:web' },
      { id: 'init', pod_sandbox_id: 'job', state: EXITED, image: { image: 'init:1' }, image_ref: 'sha256:init' },
      { id: 'done', pod_sandbox_id: 'over', state: EXITED, image: { image: 'web:1' }, image_ref: 'sha256:web' },
      { id: 'last', pod_sandbox_id: 'stopping', state: RUNNING, image: { image: 'web:1' }, image_ref: 'sha256:web' },
    ],
  }),
  ListImages: () => ({
    images: [
      { id: 'sha256:web', repo_tags: ['docker.io/library/web:1'], size: 10 },
      { id: 'sha256:init', repo_tags: ['docker.io/library/init:1'], size: 20 },
      { id: 'sha256:old', repo_tags: ['docker.io/library/web:0'], size: 30 },
      { id: 'sha256:box', repo_tags: ['mirror/box:1'], size: 40 },
    ],
  }),
  Status: () => ({ info: { config: JSON.stringify({ sandboxImage: 'mirror/box:1' }) } }),
  RemoveContainer: () => ({}),
  StopPodSandbox: () => ({}),
  RemovePodSandbox: () => ({}),
  RemoveImage: () => ({}),
};

let fake: FakeRuntime;
let runtime: ContainerRuntime;
const removals = (): unknown[] =>
  fake.requests.filter(([call]) => /^(Remove|Stop)/.test(call)).map(([call, request]) => [call, ...Object.values(request)]);

beforeEach(async () => {
  fake = await new FakeRuntime(handlers).start();
  runtime = openContainerRuntime(fake.endpoint);
});
afterEach(() => {
  runtime.close();
  fake.remove();
});

test('containers that have ended, and pods with only such containers, are garbage', async () => {
  expect(await runtime.collect('containers')).toEqual([]);
  expect(removals()).toEqual([
    ['RemoveContainer', 'init'],
    ['RemoveContainer', 'done'],
    ['StopPodSandbox', 'over'],
    ['RemovePodSandbox', 'over'],
  ]);
});

test('images without a container, running or not, are garbage', async () => {
  expect(await runtime.collect('images')).toEqual([]);
  expect(removals()).toEqual([['RemoveImage', { image: 'sha256:old' }]]);
});

test('the image of a container created during the listing is kept', async () => {
  let hasBegun = false;
  const begun = { id: 'new', pod_sandbox_id: 'up', state: RUNNING, image: { image: 'web:0' }, image_ref: 'sha256:old' };
  fake.handlers = {
    ...handlers,
    ListContainers: () => ({ containers: hasBegun ? [begun] : [] }),
    ListImages: (request) => {
      hasBegun = true;
      return handlers.ListImages?.(request) ?? {};
    },
  };
  expect((await runtime.garbage()).images.map(({ id }) => id)).not.toContain('sha256:old');
  hasBegun = false;
  await runtime.collect('images');
  expect(removals()).not.toContainEqual(['RemoveImage', { image: 'sha256:old' }]);
});

test('images with a container are in use, also those of a kubelet', async () => {
  fake.handlers = { ...handlers, ListPodSandbox: () => ({ items: [{ id: 'up', state: 0, labels: label }] }) };
  expect((await runtime.usedImages()).map(({ id, size }) => [id, size])).toEqual([
    ['sha256:web', 10],
    ['sha256:init', 20],
  ]);
  fake.handlers = {};
  await expect(runtime.usedImages()).rejects.toThrow();
});

test('listing the garbage removes nothing', async () => {
  const { containers, pods, images } = await runtime.garbage();
  expect([containers, pods, images.map(({ id, size }) => [id, size])]).toEqual([['init', 'done'], ['over'], [['sha256:old', 30]]]);
  expect(removals()).toEqual([]);
});

test.each<[whose: string, handler: Handlers]>([
  ['a pod', { ListPodSandbox: () => ({ items: [{ id: 'over', state: 1, labels: label }] }) }],
  ['a container', { ListContainers: () => ({ containers: [{ id: 'done', state: EXITED, labels: label }] }) }],
])('where a kubelet has made %s, all garbage is left to the kubelet', async (_whose, handler) => {
  fake.handlers = { ...handlers, ...handler };
  for (const collection of ['containers', 'images'] as const) expect(await runtime.collect(collection)).toEqual([]);
  expect(removals()).toEqual([]);
});

test('an image that is newer than the first list is kept', async () => {
  await runtime.garbage();
  fake.handlers = { ...handlers, ListImages: () => ({ images: [{ id: 'sha256:new' }, { id: 'sha256:old' }] }) };
  await runtime.collect('images');
  expect(removals()).toEqual([['RemoveImage', { image: 'sha256:old' }]]);
});

test('a container that cannot be removed is reported, and the others are removed', async () => {
  fake.handlers = {
    ...handlers,
    RemoveContainer: ({ container_id }) => {
      if (container_id === 'init') throw Object.assign(new Error(), { code: status.INTERNAL, details: 'it is busy' });
      throw Object.assign(new Error(), { code: status.NOT_FOUND });
    },
  };
  expect(await runtime.collect('containers')).toEqual(['container init: it is busy']);
  expect(removals()).toHaveLength(4);
});

test('a runtime that does not run is reported', async () => {
  fake.stop();
  expect(await runtime.collect('images')).toEqual([expect.stringMatching(/./)]);
  await expect(runtime.garbage()).rejects.toThrow();
});
