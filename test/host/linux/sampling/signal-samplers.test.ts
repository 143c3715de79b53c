import { existsSync, mkdirSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { parseQuantity } from '../../../../src/core/quantity/quantity.js';
import type { Signal } from '../../../../src/core/signal/signal.js';
import { resolve, type Threshold } from '../../../../src/core/threshold/threshold.js';
import { openNode, type LinuxNode } from '../../../../src/host/linux/node.js';
import type { Wake } from '../../../../src/monitor/ports/ports.js';
import { native } from '../../../../src/native/index.js';
import { memoryController, testCgroup } from '../../../support/cgroup.js';
import { eventually } from '../../../support/eventually.js';
import { loopFilesystem, loopWorks } from '../../../support/loop-filesystem.js';

const MiB = 1 << 20;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const below = (signal: Signal, text: string): Threshold => {
  const value = text.endsWith('%')
    ? ({ kind: 'percentage', fraction: Number.parseFloat(text) / 100, text } as const)
    : ({ kind: 'quantity', quantity: parseQuantity(text) } as const);
  return { signal, value, gracePeriodNs: 0n, minReclaim: undefined };
};

/** A node whose nodefs is a filesystem of 8 MiB and 100 inodes that no other process writes to. */
function openOnDisk(cgroup?: string): { node: LinuxNode; directory: string; wakes: Wake[]; woken: (wake: Wake) => void } {
  const disk = loopFilesystem();
  cleanups.push(() => {
    disk.remove();
  });
  disk.mount();
  const { directory } = disk;
  const node = openNode({ node: { cgroup }, filesystems: { nodefs: directory } }, native);
  cleanups.push(() => {
    node.close();
    expect(native.watchCount()).toBe(0);
  });
  const wakes: Wake[] = [];
  return { node, directory, wakes, woken: (wake) => wakes.push(wake) };
}

const answered = (node: LinuxNode) =>
  new Promise<void>((reported) => {
    node.requestFilesystems(() => {
      reported();
    });
  });

describe.runIf(loopWorks())('the filesystem (where loop devices can be mounted)', () => {
  const fill = (directory: string): void => {
    writeFileSync(join(directory, 'file'), Buffer.alloc(5 * MiB));
  };

  test.each<[signal: 'nodefs.available' | 'nodefs.inodesFree', value: string, fill: (directory: string) => void]>([
    ['nodefs.available', '4Mi', fill],
    ['nodefs.available', '50%', fill],
    [
      'nodefs.inodesFree',
      '50',
      (directory) => {
        for (let n = 0; n < 60; n += 1) writeFileSync(join(directory, String(n)), '');
      },
    ],
  ])('%s < %s wakes evictd without a tick, and the next reading meets the threshold', async (signal, value, take) => {
    const { node, directory, wakes, woken } = openOnDisk();
    node.arm([below(signal, value)], woken);
    await answered(node); // before that there is no capacity
    expect(node.notifiers()).toMatchObject([{ mechanism: 'sampler', signal, live: true, essential: true }]);
    await eventually('its period', () => (node.notifiers()[0]?.periodMs ?? 0) > 0);
    take(directory);
    const wake = await eventually('the wake', () => wakes.find(({ approaching }) => !approaching));
    expect(wake.source).toBe('sampler');
    const { available = 0n, capacity = 0n } = node.read().observed.get(signal) ?? {};
    // Read while it was being filled, maybe.
    expect(available < resolve(below(signal, value).value, capacity)).toBe(true);
  });

  test('a limit may be crossed again after a pass has read a value below it', async () => {
    const { node, directory, wakes, woken } = openOnDisk();
    node.arm([below('nodefs.available', '4Mi')], woken);
    await answered(node);
    for (let round = 1; round <= 5; round += 1) {
      wakes.length = 0;
      fill(directory);
      await eventually(`wake ${String(round)}`, () => wakes.some(({ approaching }) => !approaching));
      rmSync(join(directory, 'file')); // it may take the sampler 100 ms to see that
      await answered(node);
      expect(node.read().observed.get('nodefs.available')?.available).toBeGreaterThan(BigInt(4 * MiB));
    }
  });

  test('an approach to a limit is reported, and is not a crossing', async () => {
    const { node, directory, wakes, woken } = openOnDisk();
    const { bavail, bsize } = statfsSync(directory);
    node.arm([below('nodefs.available', String(bavail * bsize - MiB / 16))], woken); // near at any rate that a core may be able to
    await answered(node);
    await eventually('a wake', () => wakes.length > 0);
    expect(wakes).toMatchObject([{ source: 'sampler', approaching: true }]);
    fill(directory); // which may come near once more
    await eventually('the crossing', () => wakes.some(({ approaching }) => approaching === undefined));
  });

  test('a removed threshold is not watched any more', async () => {
    const { node, woken } = openOnDisk();
    node.arm([below('nodefs.available', '4Mi'), below('nodefs.inodesFree', '50')], woken);
    await answered(node);
    expect(native.watchCount()).toBe(2);
    node.arm([below('nodefs.inodesFree', '50')], woken);
    expect(node.notifiers().map(({ signal }) => signal)).toEqual(['nodefs.inodesFree']);
  });
});

describe('process ids', () => {
  const pids = memoryController()?.version === 1 ? '/sys/fs/cgroup/pids' : '/sys/fs/cgroup';

  test.runIf(existsSync(pids))('each level with a limit is watched, and the narrowest level wakes evictd', async () => {
    const cgroup = testCgroup();
    cleanups.push(() => cgroup.cleanup());
    const directory = pids + cgroup.path;
    if (directory !== cgroup.dir) {
      mkdirSync(directory);
      cleanups.push(() => {
        rmdirSync(directory);
      });
    }
    writeFileSync(`${directory}/pids.max`, '40');
    const { node, wakes, woken } = openOnDisk(cgroup.path);
    node.arm([below('pid.available', '30')], woken);
    expect(node.notifiers().map(({ signal, live }) => [signal, live])).toContainEqual(['pid.available', true]);
    expect(node.notifiers().at(-1)?.target).toBe(`pids.max − pids.current of ${cgroup.path} < 30`);
    await eventually('its period', () => (node.notifiers().at(-1)?.periodMs ?? 0) > 0);
    expect(wakes.filter(({ approaching }) => !approaching)).toEqual([]);
    const members = await Promise.all(Array.from({ length: 12 }, () => cgroup.spawn('/bin/sleep', ['600'])));
    for (const { pid } of members) writeFileSync(`${directory}/cgroup.procs`, String(pid));
    cleanups.push(() => Promise.all(members.map(({ child, ended }) => (child.kill('SIGKILL'), ended))));
    const wake = await eventually('the wake', () => wakes.find(({ approaching }) => !approaching));
    expect(wake.source).toBe('sampler');
    expect(node.read().observed.get('pid.available')).toMatchObject({ capacity: 40n, available: 28n });
    const watched = native.watchCount();
    writeFileSync(`${directory}/pids.max`, 'max');
    node.read();
    node.arm([below('pid.available', '30')], woken);
    expect(native.watchCount()).toBe(watched - 1);
  });
});
