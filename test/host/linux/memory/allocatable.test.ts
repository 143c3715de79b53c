import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseQuantity } from '../../../../src/core/quantity/quantity.js';
import type { Signal } from '../../../../src/core/signal/signal.js';
import type { Threshold } from '../../../../src/core/threshold/threshold.js';
import { openNode, type LinuxNode, type NotifierMode } from '../../../../src/host/linux/node.js';
import type { Wake } from '../../../../src/monitor/ports/ports.js';
import { native } from '../../../../src/native/index.js';
import { memoryController, testCgroup, type TestCgroup } from '../../../support/cgroup.js';
import { eventually } from '../../../support/eventually.js';
import { holdMemory } from '../../../support/hold-memory.js';

const MiB = 1024n * 1024n;
const v1 = memoryController()?.version === 1;
const MAIN = v1 ? 'memcg_threshold' : 'sampler';

const below = (signal: Signal, text: string): Threshold => {
  const value = text.endsWith('%')
    ? ({ kind: 'percentage', fraction: Number.parseFloat(text) / 100, text } as const)
    : ({ kind: 'quantity', quantity: parseQuantity(text) } as const);
  return { signal, value, gracePeriodNs: 0n, minReclaim: undefined };
};

/** Of the test: the machine is the node, this is what the workloads share. */
let pods: TestCgroup;
const opened: LinuxNode[] = [];

function open(allocatable: { cgroup: string; capacity: bigint | undefined } | undefined, mode?: NotifierMode): LinuxNode {
  const node = openNode({ node: { cgroup: undefined }, filesystems: { nodefs: '/' }, allocatable }, native, mode);
  opened.push(node);
  return node;
}

const allocatableOf = (node: LinuxNode) => node.read().observed.get('allocatableMemory.available');
const armed = (node: LinuxNode) => node.notifiers().filter(({ signal }) => signal === 'allocatableMemory.available');

beforeEach(() => {
  pods = testCgroup();
});
afterEach(async () => {
  for (const node of opened.splice(0)) node.close();
  await pods.cleanup();
});

test('available is the configured capacity minus the usage below the cgroup, whatever its limit', async () => {
  pods.limit(64n * MiB);
  const node = open({ cgroup: `${pods.path}/`, capacity: 128n * MiB });
  const before = allocatableOf(node);
  expect(before).toMatchObject({ capacity: 128n * MiB });
  expect(before?.source).toContain(`inactive_file of ${pods.path}`);
  expect(before?.available).toBeGreaterThan(120n * MiB);
  await holdMemory(pods.child('pod'), 40);
  await eventually('40 MiB to be taken', () => {
    const available = allocatableOf(node)?.available ?? 0n;
    return available < 90n * MiB && available > 64n * MiB;
  });
});

test('without a capacity it is the limit of the cgroup, as it is now, and a crossing wakes evictd', async () => {
  const name = `${pods.path}/later`;
  const node = open({ cgroup: name, capacity: undefined });
  const threshold = [below('allocatableMemory.available', '50%')];
  expect(node.arm(threshold, () => undefined)).toBe(false);
  expect(node.read().absent?.get('allocatableMemory.available')).toBe(`${name} does not exist`);
  const kubepods = pods.child('later');
  kubepods.limit(512n * MiB);
  expect(allocatableOf(node)).toMatchObject({ capacity: 512n * MiB });
  kubepods.limit(128n * MiB);
  expect(allocatableOf(node)).toMatchObject({ capacity: 128n * MiB });
  const wakes: Wake[] = [];
  expect(node.arm(threshold, (wake) => wakes.push(wake))).toBe(true);
  await holdMemory(kubepods, 70);
  await eventually('70 MiB to be taken', () => (allocatableOf(node)?.available ?? 0n) < 64n * MiB);
  await eventually('a wake', () => wakes.some(({ source, approaching }) => source === MAIN && !approaching));
});

test('more usage than capacity leaves nothing available', async () => {
  const node = open({ cgroup: pods.path, capacity: 10n * MiB });
  await holdMemory(pods, 20);
  await eventually('20 MiB to be taken', () => allocatableOf(node)?.available === 0n);
});

test('a crossing wakes evictd, and a percentage is of the configured capacity', async () => {
  const node = open({ cgroup: pods.path, capacity: 128n * MiB });
  const wakes: Wake[] = [];
  node.read();
  expect(node.arm([below('allocatableMemory.available', '50%')], (wake) => wakes.push(wake))).toBe(true);
  expect(armed(node)).toContainEqual(expect.objectContaining({ mechanism: MAIN, live: true, essential: true, reason: undefined }));
  expect(armed(node)[0]?.target).toContain(pods.path);
  await holdMemory(pods, 70);
  await eventually('a wake', () => wakes.some(({ source, approaching }) => source === MAIN && !approaching));
});

test('each memory signal has its own watches, which end with its threshold', () => {
  const node = open({ cgroup: pods.path, capacity: 128n * MiB }, 'sample');
  const both = [below('memory.available', '1Mi'), below('allocatableMemory.available', '64Mi')];
  expect(node.arm(both, () => undefined)).toBe(true);
  expect(new Set(node.notifiers().map(({ signal }) => signal))).toEqual(new Set(['memory.available', 'allocatableMemory.available']));
  expect(node.arm(both, () => undefined)).toBe(false);
  node.arm(both.slice(0, 1), () => undefined);
  expect(armed(node)).toEqual([]);
  node.close();
  expect(native.watchCount()).toBe(0);
});

test('a cgroup that is created later is read and watched from then on', () => {
  const name = `${pods.path}/later`;
  const node = open({ cgroup: name, capacity: 128n * MiB });
  const threshold = [below('allocatableMemory.available', '64Mi')];
  expect(node.arm(threshold, () => undefined)).toBe(false);
  expect(node.read().absent?.get('allocatableMemory.available')).toBe(`${name} does not exist`);
  expect(armed(node)).toEqual([]);
  pods.child('later'); // on v2 it also gets the controller
  expect(allocatableOf(node)).toMatchObject({ capacity: 128n * MiB });
  expect(node.arm(threshold, () => undefined)).toBe(true);
  expect(armed(node)[0]).toMatchObject({ live: true });
});

test('allocatable memory that is not configured is absent until a threshold uses it', () => {
  const node = open(undefined);
  const standsIn = (): boolean[] => {
    const { observed, missing, absent } = node.read();
    return [observed, missing, absent ?? new Map()].map((map) => map.has('allocatableMemory.available'));
  };
  expect(standsIn()).toEqual([false, false, false]);
  expect(node.arm([below('allocatableMemory.available', '64Mi')], () => undefined)).toBe(false);
  expect(standsIn()).toEqual([false, false, true]);
  expect(node.read().absent?.get('allocatableMemory.available')).toBe('needs allocatable: {cgroup}');
});
