import { expect, onTestFinished, test } from 'vitest';
import { Containerd, hasContainerd } from '../support/cri/containerd.js';
import { loopFilesystem, loopWorks } from '../support/loop-filesystem.js';
import { available } from './disk-holder.js';
import { Evictd } from './evictd.js';
import { MIB, ON, testNode } from './node.js';

const UNUSED = 'evictd.test/unused:1';
const works = hasContainerd && loopWorks();

test.runIf(works)(
  `images on one disk, layers on another (${ON}): images go for the one, containers that have ended for the other`,
  async () => {
    const node = testNode(); // gone after the runtime is: what that could not end it keeps
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
    /** evictd wants 4 MiB more than there are; resolves when it has them. */
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
