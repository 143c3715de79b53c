import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { CgroupHierarchy } from '../../../src/core/workload/cgroup.js';
import { MemoryNotifiers } from '../../../src/host/linux/memory/memory-notifiers.js';
import { cgroupMemory } from '../../../src/host/linux/memory/cgroup-memory.js';
import { LinuxNodeReader, type NodeParts } from '../../../src/host/linux/node-reader.js';
import { native } from '../../../src/native/index.js';
import { threshold } from '../../core/support.js';
import { eventually } from '../../support/eventually.js';

const MIB = 1 << 20;

/** Files that say what the kernel is seldom seen to say. */
function openNode(): { readonly node: LinuxNodeReader; readonly show: (file: string, text: string) => void; readonly change: () => void } {
  const mountPoint = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  const hierarchy: CgroupHierarchy = { version: 2, controller: '', mountPoint, root: '/' };
  const show = (file: string, text: string): void => {
    mkdirSync(dirname(join(mountPoint, file)), { recursive: true });
    writeFileSync(join(mountPoint, file), text);
  };
  show('node/memory.current', '0\n');
  show('node/memory.stat', 'inactive_file 0\nanon 0\nfile 0\n');
  const memoryOf = (path: string): Pick<NodeParts, 'memory' | 'notifiers'> => {
    const memory = cgroupMemory(hierarchy, path, false);
    const plan = {
      signal: 'memory.available',
      nodeName: path,
      thresholdDirectory: undefined,
      sampled: memory.sampled,
      pressureFile: undefined,
      eventsDirectory: undefined,
      oomDirectory: undefined,
      pageSize: 4096n,
    } as const;
    return { memory, notifiers: new MemoryNotifiers(native, plan) };
  };
  let changed: ReturnType<typeof memoryOf> | undefined;
  const nothing = { read: () => [], states: () => [], close: () => undefined, arm: () => false, look: () => false, lookAtNs: undefined };
  const node = new LinuxNodeReader({
    native,
    hierarchy,
    identity: { name: 'test', cgroup: '/node', cgroupVersion: 2 },
    filesystems: { nodefs: '/' },
    thresholds: [],
    ...memoryOf('/node'),
    changedMemory: () => {
      const now = changed;
      changed = undefined;
      return now;
    },
    pids: { files: [], read: () => ({ missing: 'not here' }) },
    oomKills: { read: () => undefined, close: () => undefined },
    own: nothing as unknown as NodeParts['own'],
    allocatable: { missing: 'not here' },
  });
  onTestFinished(() => {
    node.close();
    rmSync(mountPoint, { recursive: true });
  });
  const change = (): void => {
    changed = memoryOf('/limited');
  };
  return { node, show, change };
}

test('with statistics that lag behind the usage page cache is not usage, and another reading is due', async () => {
  const { node, show } = openNode();
  const used = (): number => {
    const memory = node.read().observed.get('memory.available');
    return memory === undefined ? NaN : Number(memory.capacity - memory.available) / MIB;
  };
  expect([used(), node.lookAtNs(), node.look()]).toEqual([0, undefined, false]);

  show('node/memory.current', `${String(200 * MIB)}\n`);
  show('node/pod/memory.stat', `inactive_file ${String(190 * MIB)}\n`);
  const beforeNs = process.hrtime.bigint();
  expect(used()).toBe(10);
  expect(node.lookAtNs()).toBeGreaterThan(beforeNs);
  const dueNs = node.lookAtNs() ?? 0n;
  const looked = node.look();
  expect(looked && process.hrtime.bigint() < dueNs).toBe(false);
  await eventually('its time has come', () => looked || node.look());
  expect(node.lookAtNs()).toBeUndefined();

  show('node/memory.stat', `inactive_file ${String(150 * MIB)}\nanon 0\nfile ${String(195 * MIB)}\n`);
  expect(used()).toBe(50);
  expect(node.lookAtNs()).toBeUndefined();
});

test('from the tick on at which other memory counts, it is read, watched, and compared for a standing order', () => {
  const { node, show, change } = openNode();
  const hard = threshold('memory.available', '10Mi');
  node.arm([hard], () => undefined);
  const source = (): string | undefined => node.read().observed.get('memory.available')?.source;
  expect(source()).toBe('memory.current − inactive_file of /node');
  show('limited/memory.current', `${String(20 * MIB)}\n`);
  show('limited/memory.stat', 'inactive_file 0\nanon 0\nfile 0\n');
  show('limited/memory.max', `${String(64 * MIB)}\n`);
  change();
  expect(source()).toBe('memory.current − inactive_file of /node');
  expect(node.arm([hard], () => undefined)).toBe(true);
  expect(node.read().observed.get('memory.available')).toMatchObject({ capacity: BigInt(64 * MIB), available: BigInt(44 * MIB) });
  expect(node.notifiers().map(({ target }) => target)).toEqual([expect.stringContaining('of /limited')]);
  expect(node.crossing(hard)?.[0]?.atLeast).toBe(54 * MIB + 1);
  expect(node.countsKernelMemory).toBe(true);
});

test('a node whose other memory counts from now on is not steady, and the next arming follows it', () => {
  const { node, show, change } = openNode();
  const hard = threshold('memory.available', '10Mi');
  node.arm([hard], () => undefined);
  show('limited/memory.current', `${String(20 * MIB)}\n`);
  show('limited/memory.stat', 'inactive_file 0\nanon 0\nfile 0\n');
  show('limited/memory.max', `${String(64 * MIB)}\n`);
  change();
  expect([node.steady(), node.steady()]).toEqual([undefined, undefined]);
  expect(node.arm([hard], () => undefined)).toBe(true);
  expect(node.read().observed.get('memory.available')?.capacity).toBe(BigInt(64 * MIB));
});

test('has a signal that only a policy needs: that of a filesystem that is not named, and why allocatable memory has no value', async () => {
  const { node } = openNode();
  const read = () => {
    const { observed, missing } = node.read();
    return [observed.has('nodefs.available'), observed.has('containerfs.available'), missing.get('allocatableMemory.available')];
  };
  await eventually('the filesystem has answered', () => read()[0]);
  expect(read()).toEqual([true, false, undefined]);
  node.arm([], () => undefined, ['containerfs.available', 'allocatableMemory.available']);
  expect(read()).toEqual([true, true, 'not here']);
  node.arm([], () => undefined);
  expect(read()).toEqual([true, true, undefined]);
});
