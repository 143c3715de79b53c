import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { FilesystemPaths } from '../../../../src/core/signal/layout.js';
import { parseQuantity } from '../../../../src/core/quantity/quantity.js';
import type { Signal } from '../../../../src/core/signal/signal.js';
import type { Threshold } from '../../../../src/core/threshold/threshold.js';
import { openNode, type LinuxNode } from '../../../../src/host/linux/node.js';
import type { Wake } from '../../../../src/monitor/ports/ports.js';
import { native } from '../../../../src/native/index.js';
import { eventually } from '../../../support/eventually.js';
import { fuseWorks, mountFuse } from '../../../support/fuse.js';
import { loopFilesystem, loopWorks, type LoopFilesystem } from '../../../support/loop-filesystem.js';

const fuse = await fuseWorks();
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

function disk(): LoopFilesystem {
  const made = loopFilesystem();
  cleanups.push(() => {
    made.remove();
  });
  return made;
}
function mounted(): LoopFilesystem {
  const made = disk();
  made.mount();
  return made;
}

function open(filesystems: FilesystemPaths, thresholds: readonly Threshold[] = []): LinuxNode {
  const node = openNode({ node: { cgroup: undefined }, filesystems, thresholds }, native);
  cleanups.push(() => {
    node.close();
    expect(native.watchCount()).toBe(0);
  });
  return node;
}

const answered = (node: LinuxNode) =>
  new Promise<void>((reported) => {
    node.requestFilesystems((outstanding) => {
      if (outstanding === 0) reported();
    });
  });

async function seen(node: LinuxNode) {
  await answered(node);
  const { observed, missing } = node.read();
  const of = (signal: Signal): string => observed.get(signal)?.source ?? missing.get(signal) ?? 'not there';
  return {
    layout: node.layout(),
    nodefs: of('nodefs.available'),
    imagefs: of('imagefs.available'),
    containerfs: of('containerfs.available'),
  };
}

const below = (signal: Signal, text: string): Threshold => {
  return { signal, value: { kind: 'quantity', quantity: parseQuantity(text) }, gracePeriodNs: 0n, minReclaim: undefined };
};

describe.runIf(loopWorks())('filesystems (where loop devices can be mounted)', () => {
  test('unchanged paths keep their answers, and new ones are read when they have answered', async () => {
    const [first, second] = [mounted().directory, mounted().directory];
    const statfs = (directory: string): string => `statfs of ${directory}`;
    const node = open({ nodefs: first }, [below('imagefs.available', '1Mi')]);
    node.arm([below('imagefs.available', '1Mi')], () => undefined);
    expect(await seen(node)).toMatchObject({ layout: 'single', nodefs: statfs(first), imagefs: statfs(first) });
    node.place({ nodefs: first, imagefs: second });
    expect(node.read().observed.get('nodefs.available')?.source).toBe(statfs(first));
    expect(await seen(node)).toMatchObject({ layout: 'imagefs', nodefs: statfs(first), imagefs: statfs(second) });
    expect(JSON.stringify(node.notifiers())).toContain(second);
    node.place({ nodefs: first });
    expect(await seen(node)).toMatchObject({ layout: 'single', nodefs: statfs(first), imagefs: statfs(first) });
  });

  test('the image filesystem is neither read nor sampled before a runtime has reported it', async () => {
    const [first, second] = [mounted().directory, mounted().directory];
    const requested = [below('imagefs.available', '1Mi'), below('containerfs.inodesFree', '1Mi')];
    const node = open({ nodefs: first }, requested);
    const found: { isAwaited: boolean; nodefs: string; imagefs?: string } = { nodefs: first, isAwaited: true };
    node.place(found);
    node.arm(requested, () => undefined);
    const notReported = expect.stringMatching(/no container runtime has reported/) as string;
    expect(await seen(node)).toEqual({ layout: 'single', nodefs: `statfs of ${first}`, imagefs: notReported, containerfs: notReported });
    expect(JSON.stringify(node.notifiers())).not.toContain(first);
    Object.assign(found, { isAwaited: false, imagefs: second });
    node.place(found);
    expect(await seen(node)).toMatchObject({ layout: 'imagefs', imagefs: `statfs of ${second}`, containerfs: `statfs of ${second}` });
    expect(JSON.stringify(node.notifiers())).toContain(second);
  });

  test('the layout follows from the devices, and each device is read by one path', async () => {
    const [first, second, third] = [mounted().directory, mounted().directory, mounted().directory];
    const read = async (filesystems: FilesystemPaths) => seen(open(filesystems));
    const statfs = (path: string): string => `statfs of ${path}`;
    expect(await read({ nodefs: first })).toEqual({
      layout: 'single',
      nodefs: statfs(first),
      imagefs: 'not there',
      containerfs: 'not there',
    });
    expect(await read({ nodefs: first, imagefs: `${first}/lost+found` })).toEqual({
      layout: 'single',
      nodefs: statfs(first),
      imagefs: statfs(first),
      containerfs: 'not there',
    });
    expect(await read({ nodefs: first, imagefs: second, containerfs: second })).toEqual({
      layout: 'imagefs',
      nodefs: statfs(first),
      imagefs: statfs(second),
      containerfs: statfs(second),
    });
    expect(await read({ nodefs: first, imagefs: second, containerfs: `${first}/lost+found` })).toMatchObject({
      layout: 'split',
      containerfs: statfs(first),
    });
    expect(await read({ nodefs: first, containerfs: second })).toMatchObject({
      containerfs: expect.stringMatching(/none for images/) as string,
    });
    const three = await read({ nodefs: first, imagefs: second, containerfs: third });
    expect(three).toMatchObject({
      layout: 'split',
      imagefs: statfs(second),
      containerfs: expect.stringMatching(/unsupported layout/) as string,
    });
  });

  test('with several paths the layout is unknown before the first answer, and with one path it is single', () => {
    expect(open({ nodefs: mounted().directory, imagefs: mounted().directory }).layout()).toMatchObject({
      error: expect.stringMatching(/not read yet$/) as string,
    });
    expect(open({ nodefs: '/' }).layout()).toBe('single');
  });

  test('a filesystem that is mounted later is found, and so is its unmount', async () => {
    const images = disk();
    const node = open({ nodefs: mounted().directory, imagefs: `${images.directory}/lost+found` });
    expect(await seen(node)).toMatchObject({ layout: 'single', imagefs: expect.stringMatching(/ENOENT/) as string });
    images.mount();
    expect(await seen(node)).toMatchObject({ layout: 'imagefs', imagefs: `statfs of ${images.directory}/lost+found` });
    images.unmount();
    expect((await seen(node)).imagefs).toMatch(/ENOENT/);
  });

  test('two signals of one device have one sampler, and both wake evictd', async () => {
    const { directory } = mounted();
    const wakes: Wake[] = [];
    const node = open({ nodefs: directory, imagefs: `${directory}/lost+found` });
    node.arm([below('nodefs.available', '1Mi'), below('imagefs.available', '4Mi')], (wake) => wakes.push(wake));
    await answered(node);
    expect(native.watchCount()).toBe(1);
    expect(
      node
        .notifiers()
        .map(({ signal }) => signal)
        .sort(),
    ).toEqual(['imagefs.available', 'nodefs.available']);
    writeFileSync(join(directory, 'file'), Buffer.alloc(5 << 20));
    await eventually('the wake', () => wakes.some(({ approaching }) => !approaching));
    const { observed } = node.read();
    expect(observed.get('imagefs.available')).toEqual(observed.get('nodefs.available'));
    expect(observed.get('imagefs.available')?.available).toBeLessThan(BigInt(4 << 20));
  });

  test.runIf(fuse)('a filesystem that hangs delays no other (where FUSE can be mounted)', async () => {
    const hanging = await mountFuse();
    onTestFinished(() => hanging.remove());
    const { directory } = mounted();
    const node = open({ nodefs: hanging.directory, imagefs: directory });
    await answered(node);
    const first = node.read().observed.get('imagefs.available')?.timeNs ?? 0n;
    await hanging.hang('untaken');
    const outstanding = await new Promise<number>((reported) => {
      node.requestFilesystems(reported);
    });
    expect(outstanding).toBe(1);
    expect(node.read().observed.get('imagefs.available')?.timeNs).toBeGreaterThan(first);
    expect(node.layout()).toBe('imagefs');
  });

  test('a disk that is named later is judged by its own mounts at its first answer', async () => {
    const node = open({ nodefs: mounted().directory });
    expect((await seen(node)).nodefs).toContain('statfs of');
    const { directory } = mounted();
    execFileSync('mount', ['-o', 'remount,ro', directory]);
    node.place({ nodefs: directory });
    expect((await seen(node)).nodefs).toContain('is read-only (ext4): it cannot fill up');
  });

  test('an overlay that writes to a tmpfs is not read, whatever filesystem it hides', async () => {
    const { directory } = mounted();
    const [memory, merged] = [mkdtempSync(join(tmpdir(), 'evictd-test-')), mkdtempSync(join(tmpdir(), 'evictd-test-'))];
    cleanups.push(() => {
      for (const made of [memory, merged]) rmdirSync(made);
    });
    for (const size of ['size=1m,nr_inodes=50', 'size=50%']) {
      execFileSync('mount', ['-t', 'tmpfs', '-o', size, 'evictd-test', memory]);
      execFileSync('mkdir', [`${memory}/upper`, `${memory}/work`]);
      const layers = `lowerdir=${directory},upperdir=${memory}/upper,workdir=${memory}/work`;
      execFileSync('mount', ['-t', 'overlay', '-o', layers, 'evictd-test', merged]);
      const { nodefs } = await seen(open({ nodefs: merged }));
      execFileSync('umount', [merged]);
      execFileSync('umount', [memory]);
      expect(nodefs).toContain('is in memory (overlay on tmpfs), not on a disk: set filesystems.nodefs');
    }
  });

  test.each(['tmpfs', 'ramfs'])('a filesystem in memory (%s) is not read, and its sampler is closed', async (type) => {
    const { directory } = mounted();
    const node = open({ nodefs: directory });
    node.arm([below('nodefs.available', '1Mi'), below('nodefs.inodesFree', '5')], () => undefined);
    await answered(node);
    expect(native.watchCount()).toBe(2);
    execFileSync('mount', ['-t', type, 'evictd-test', directory]);
    cleanups.push(() => {
      execFileSync('umount', [directory]);
    });
    expect((await seen(node)).nodefs).toBe(
      `${directory} is in memory (${type}), not on a disk: set filesystems.nodefs to a directory on a disk`,
    );
    expect(node.read().missing.has('nodefs.inodesFree')).toBe(true);
    expect(native.watchCount()).toBe(0);
  });
});

test('imagefs is nodefs where only a threshold uses imagefs', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-asked-'));
  cleanups.push(() => {
    rmdirSync(directory);
  });
  const node = open({ nodefs: directory });
  expect((await seen(node)).imagefs).toBe('not there');
  node.arm([below('imagefs.available', '1')], () => undefined);
  expect(node.layout()).toBe('single');
  const { nodefs, imagefs } = await seen(node);
  expect(imagefs).toBe(nodefs);
});

test('imagefs is nodefs before the first reading, too', async () => {
  const { nodefs, imagefs } = await seen(open({ nodefs: '/' }, [below('imagefs.available', '1')]));
  expect(imagefs).toBe(nodefs);
});
