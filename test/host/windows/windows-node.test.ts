import { expect, test } from 'vitest';
import { parseQuantity } from '../../../src/core/quantity/quantity.js';
import type { Signal } from '../../../src/core/signal/signal.js';
import type { Threshold } from '../../../src/core/threshold/threshold.js';
import type { LinuxNode } from '../../../src/host/select.js';
import { openWindowsNode, type WindowsNode } from '../../../src/host/windows/windows-node.js';
import { Status } from '../../../src/metrics/status.js';
import type { Wake } from '../../../src/monitor/ports/ports.js';
import { Reporter } from '../../../src/monitor/reporter.js';
import type { WindowsBinding } from '../../../src/native/windows-binding.js';
import { performanceInfo, PlayedBinding } from './binding.js';

const GIB = 1024n ** 3n;
const C = { nodefs: 'C:\\' };

function hard(signal: Signal, amount = '1Gi'): Threshold {
  return { signal, value: { kind: 'quantity', quantity: parseQuantity(amount) }, gracePeriodNs: 0n, minReclaim: undefined };
}

function open(windows: PlayedBinding, options: Partial<Parameters<typeof openWindowsNode>[0]> = {}): WindowsNode {
  return openWindowsNode({ filesystems: C, ...options }, windows.binding as WindowsBinding);
}

const disk = { totalBytes: 100n * GIB, freeBytes: 40n * GIB, availableBytes: 30n * GIB, atNs: 1n };

test('a pass reads the commit limit and the volume, and says why Windows has neither inodes nor process ids', () => {
  const windows = new PlayedBinding();
  windows.disks.set('C:\\', disk);
  const { observed, missing, absent } = open(windows).read();
  expect([...observed.keys()]).toEqual(['memory.available', 'nodefs.available']);
  expect(observed.get('memory.available')).toMatchObject({ available: 8n * GIB, capacity: 16n * GIB });
  expect(observed.get('nodefs.available')).toMatchObject({ available: 30n * GIB, capacity: 100n * GIB, timeNs: 1n });
  expect(missing).toEqual(new Map());
  expect([...(absent ?? [])]).toEqual([
    ['nodefs.inodesFree', 'Windows counts no inodes: NTFS and ReFS make file records as they need them'],
    ['pid.available', 'Windows does not limit process ids; too many processes show in memory.available'],
  ]);
});

test('a GetPerformanceInfo that fails is a missing reading with its reason, and the disk is still read', () => {
  const windows = new PlayedBinding();
  windows.disks.set('C:\\', disk);
  windows.info = PlayedBinding.refusal('ERROR_NOT_ENOUGH_MEMORY', 8, 'GetPerformanceInfo');
  const node = open(windows, { thresholds: [hard('memory.kernelAvailable')] });
  const { observed, missing } = node.read();
  const reason = 'GetPerformanceInfo: ERROR_NOT_ENOUGH_MEMORY (not enough memory)';
  expect([...missing]).toEqual([
    ['memory.available', reason],
    ['memory.kernelAvailable', reason],
  ]);
  expect([...observed.keys()]).toEqual(['nodefs.available']);
  expect(node.look()).toBe(false);
});

test('a GetPerformanceInfo that keeps failing causes one warning for each signal, and none after it works again', () => {
  const windows = new PlayedBinding();
  windows.disks.set('C:\\', disk);
  const thresholds = [hard('memory.available'), hard('memory.kernelAvailable')];
  const node = open(windows, { thresholds });
  node.arm(thresholds, () => undefined);
  const said: string[] = [];
  const note = (level: string) => (message: string) => said.push(`${level} ${message}`);
  const log = {
    debug: note('debug'),
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
    dropped: 0,
    flush: () => Promise.resolve(),
  };
  const reporter = new Reporter(log, new Status());
  const pass = (): void => {
    node.look();
    const observations = node.read();
    reporter.sampled(observations, thresholds);
    node.decided(observations);
  };
  pass();
  expect(said).toEqual([]);
  windows.info = PlayedBinding.refusal('ERROR_NOT_ENOUGH_MEMORY', 8, 'GetPerformanceInfo');
  for (let looks = 0; looks < 5; looks++) pass();
  const sentence = (signal: Signal): string => `${signal} cannot be read: GetPerformanceInfo: ERROR_NOT_ENOUGH_MEMORY (not enough memory)`;
  const failing = (['memory.available', 'memory.kernelAvailable'] as const).map((signal) => `warn ${sentence(signal)}`);
  expect(said).toEqual(failing);
  windows.info = performanceInfo({});
  for (let looks = 0; looks < 2; looks++) pass();
  expect(said.slice(failing.length)).toHaveLength(2);
  expect(said.slice(failing.length).every((text) => text.startsWith('info can be read again'))).toBe(true);
});

test('the node is like those of Linux, without a hierarchy of cgroups', () => {
  const node: LinuxNode = open(new PlayedBinding());
  expect([node.hierarchy, node.identity, node.oomKills()]).toEqual([
    undefined,
    { name: 'machine', cgroup: undefined, cgroupVersion: undefined },
    undefined,
  ]);
});

test('physical memory is read if a threshold uses it', () => {
  const windows = new PlayedBinding();
  const { observed } = open(windows, { thresholds: [hard('memory.kernelAvailable')] }).read();
  expect(observed.get('memory.kernelAvailable')).toMatchObject({ available: 4n * GIB, capacity: 8n * GIB });
});

test.each<Signal>(['swap.available', 'memory.pressure.full', 'allocatableMemory.available', 'pid.available'])(
  '%s is absent if a threshold uses it',
  (signal) => {
    const { missing, absent } = open(new PlayedBinding(), { thresholds: [hard(signal)] }).read();
    expect(absent?.get(signal)).toMatch(/Windows|page files/);
    expect([...missing.keys()]).toEqual(['nodefs.available']); // which has not answered
  },
);

test('images on a separate drive are another layout, once both have answered', () => {
  const windows = new PlayedBinding();
  windows.disks.set('C:\\', disk);
  const node = open(windows, { filesystems: { nodefs: 'C:\\', imagefs: 'D:\\images' } });
  node.read();
  expect(node.layout()).toEqual({ error: 'D:\\images: not read yet' });
  windows.disks.set('D:\\images', { ...disk, availableBytes: 7n });
  const { observed, absent } = node.read();
  expect(node.layout()).toBe('imagefs');
  expect(observed.get('imagefs.available')).toMatchObject({ available: 7n });
  expect(absent?.has('imagefs.inodesFree')).toBe(true);
});

test('a request for the filesystems gets the number still awaited', () => {
  const windows = new PlayedBinding();
  const node = open(windows, { filesystems: { nodefs: 'C:\\', imagefs: 'D:\\' } });
  const outstanding: number[] = [];
  for (const { answer } of windows.requested.splice(0)) answer(); // of the start
  node.requestFilesystems((left) => outstanding.push(left));
  for (const { answer } of windows.requested) answer();
  expect(outstanding).toEqual([1, 0]);
});

test('between ticks memory is read: a threshold that was crossed since the last decision causes a pass, until one has decided', () => {
  const windows = new PlayedBinding();
  const node = open(windows);
  expect(node.lookAtNs()).toBeUndefined();
  expect(node.arm([hard('memory.available')], () => undefined)).toBe(true);
  expect(node.arm([], () => undefined)).toBe(true);
  expect(node.lookAtNs()).toBeUndefined();
  node.arm([hard('memory.available')], () => undefined);
  node.decided(node.read());
  expect(node.look()).toBe(false);
  windows.info = performanceInfo({ commitTotal: performanceInfo({}).commitLimit - 262_143n });
  expect([node.look(), node.look()]).toEqual([true, true]);
  node.decided(node.read());
  expect(node.look()).toBe(false);
  expect(node.lookAtNs()).toBeGreaterThan(process.hrtime.bigint());
});

test('a threshold of a disk alone waits for the tick', () => {
  const node = open(new PlayedBinding());
  node.arm([hard('nodefs.available')], () => undefined);
  expect(node.lookAtNs()).toBeUndefined();
  expect(node.notifiers()).toEqual([]);
});

test('the notification of low memory wakes evictd, and without it the readings are enough', () => {
  const windows = new PlayedBinding();
  const wakes: Wake[] = [];
  const node = open(windows);
  node.arm([hard('memory.available')], (wake) => wakes.push(wake));
  windows.notifications[0]?.fire();
  expect(wakes).toEqual([{ source: 'memory_notification', atNs: 5n }]);
  expect(node.notifiers()).toMatchObject([
    { mechanism: 'sampler', signal: 'memory.available', live: true, essential: true },
    { mechanism: 'memory_notification', live: true, essential: false },
  ]);
  const poor = new PlayedBinding();
  poor.notificationFailure = PlayedBinding.refusal('ERROR_NO_SYSTEM_RESOURCES', 1450, 'CreateMemoryResourceNotification');
  const other = open(poor);
  other.arm([hard('memory.available')], () => undefined);
  expect(other.notifiers()[1]).toMatchObject({ live: false, reason: 'ERROR_NO_SYSTEM_RESOURCES (not enough resources of the system)' });
  expect(other.lookAtNs()).toBeDefined();
});

test('the node closes its handles with close()', () => {
  const windows = new PlayedBinding();
  const node = open(windows, { filesystems: { nodefs: 'C:\\', imagefs: 'D:\\' } });
  node.arm([hard('memory.available')], () => undefined);
  node.place({ nodefs: 'C:\\' });
  expect([windows.open, windows.opened]).toEqual([1, 2]); // one that stays keeps its last answer
  node.close();
  expect(windows.open).toBe(0);
  expect(windows.notifications.map(({ live }) => live)).toEqual([false]);
});
