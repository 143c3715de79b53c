import { expect, onTestFinished, test } from 'vitest';
import { Containerd, hasContainerd } from '../support/cri/containerd.js';
import { loopFilesystem, loopWorks } from '../support/loop-filesystem.js';
import { available } from './disk-holder.js';
import { Evictd } from './evictd.js';
import { MIB, ON, testNode } from './node.js';

const UNUSED = 'evictd.test/unused:1';
const works = hasContainerd && loopWorks();

test.runIf(works)(
  `images on one disk, layers on another (${ON}): reclaim removes images for the one, ended containers for the other`,
  async () => {
    const node = testNode(); // removed after the runtime, which keeps what it could not end
    const [onNodefs, onImagefs] = [loopFilesystem(64, 4_000), loopFilesystem(64, 4_000)];
    const runtime = new Containerd();
    onTestFinished(async () => {
      await runtime.remove().finally(() => {
        onNodefs.remove();
        onImagefs.remove();
      });
    });
    onNodefs.mount();
    onImagefs.mount();
    const [nodefs, imagefs] = [onNodefs.directory, onImagefs.directory];
    await runtime.start(`${imagefs}/containerd`, `${nodefs}/layers`);
    const ended = `head -c ${String(8 * MIB)} /dev/zero > /left`;
    const { containers } = await runtime.pod({ name: 'web', cgroup: node.path, containers: { ended, app: 'sleep 600' } });
    runtime.image(UNUSED, 8);
    const nothing = { 'memory.available': '0%', 'imagefs.available': '0%', 'imagefs.inodesFree': '0%' };
    const config = {
      evictionHard: nothing,
      node: { cgroup: node.path },
      filesystems: { nodefs, imagefs, containerfs: nodefs },
      workloads: [{ cri: { endpoint: runtime.endpoint } }],
      monitoringInterval: '1s',
    };
    const guard = await new Evictd({ config }).guarding();
    await guard.until('a container has ended', () => !runtime.running().includes(containers.ended ?? ''));
    const left = () => ({ unused: runtime.images().includes(UNUSED), ended: runtime.containers().includes(containers.ended ?? '') });
    /** Raises the threshold to 4 MiB above what is available; resolves when the reclaim was enough. */
    const lacking = async (signal: string, directory: string): Promise<void> => {
      await guard.reloaded({ ...config, evictionHard: { ...nothing, [signal]: String(available(directory) + 4 * MIB) } });
      const isOver = (): boolean =>
        guard.journal().some((line) => line.type === 'threshold' && line.signal === signal && line.met === false);
      await guard.until(`${signal} is enough`, isOver);
    };

    await lacking('imagefs.available', imagefs);
    expect(left()).toEqual({ unused: false, ended: true });
    await lacking('nodefs.available', nodefs);
    expect(left()).toEqual({ unused: false, ended: false });
    expect(guard.journal().filter(({ type }) => type === 'reclaimed')).toMatchObject([
      { signal: 'imagefs.available', collections: ['images'], enough: true, errors: [] },
      { signal: 'nodefs.available', collections: ['containers'], enough: true, errors: [] },
    ]);
    expect(guard.journal().filter(({ type }) => type === 'decision' || type === 'alert')).toEqual([]);
    expect(runtime.running()).toContain(containers.app);
  },
);
