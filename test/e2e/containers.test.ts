import { readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { TestCgroup } from '../support/cgroup.js';
import { Containerd, hasContainerd, type Pod, type PodOptions } from '../support/cri/containerd.js';
import { Evictd, evictd, victimOf } from './evictd.js';
import { loopFilesystem, loopWorks } from '../support/loop-filesystem.js';
import { ABOVE_128_MIB, MIB, ON, testNode } from './node.js';
import { SLOWNESS } from '../support/slowness.js';
import { aWhile } from './wait.js';

// A real containerd and real pods, in a cgroup that is the node.

const QUIET = 'sleep 600';
/** Takes `bytes` once /tmp/grow exists: tail keeps a line without an end in memory. */
const leaking = (bytes: number): string =>
  `until [ -e /tmp/grow ]; do sleep 0.05; done; head -c ${String(bytes)} /dev/zero | tail | sleep 600`;

/** Pids in the cgroup of a container, wherever it is below the node. */
function pids(node: TestCgroup, container = '', pod?: Pod): number[] {
  try {
    const path = `${node.dir}/${pod ? `pod${pod.uid}/` : ''}${container}/cgroup.procs`;
    return readFileSync(path, 'utf8').split('\n').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function grow(node: TestCgroup, pod: Pod): void {
  const [shell = 0] = [...pids(node, pod.containers.app, pod), ...pids(node, pod.containers.app)];
  writeFileSync(`/proc/${String(shell)}/root/tmp/grow`, '');
}

const victims = (guard: Evictd, type: string): readonly unknown[] =>
  guard
    .journal()
    .filter((line) => line.type === type)
    .map(victimOf);

describe.runIf(hasContainerd)(`pods of containerd (${ON})`, () => {
  let runtime: Containerd;
  beforeAll(async () => {
    runtime = new Containerd();
    await runtime.start();
  });
  afterAll(() => runtime.remove());

  const podIn = (node: TestCgroup, options: Omit<PodOptions, 'cgroup'>): Promise<Pod> => runtime.pod({ ...options, cgroup: node.path });
  const guarding = (node: TestCgroup, rules: readonly object[] = []) => {
    const { endpoint } = runtime;
    return {
      evictionHard: ABOVE_128_MIB,
      node: { cgroup: node.path },
      workloads: [{ cri: { endpoint } }],
      rules,
      monitoringInterval: '1s',
    };
  };
  /** Removed before its cgroup: a runtime keeps containers that it could not end. */
  const nodeOfPods = (): TestCgroup => {
    const node = testNode();
    onTestFinished(() => runtime.clear());
    return node;
  };

  test('a leaking pod is evicted while containerd is down, its neighbours live, and it is removed when containerd is back', async () => {
    const node = nodeOfPods();
    const leak = await podIn(node, { name: 'leak', ownCgroup: true, containers: { app: leaking(2e8) } });
    const neighbours = await podIn(node, { name: 'neighbours', containers: { app: QUIET, other: QUIET } });
    await runtime.stop('SIGKILL');
    const guard = await new Evictd({ config: guarding(node) }).guarding();
    await guard.logged(/cannot query workload source cri.*none of its pods is a candidate/);
    await runtime.run();
    await guard.logged(/is solved/);
    await runtime.stop('SIGKILL');
    await guard.logged(/cannot query workload source cri.*its 3 known workloads stay candidates/);

    grow(node, leak);
    const outcome = await guard.recorded('outcome');
    await aWhile(); // a second victim would be a defect

    expect(outcome).toMatchObject({ result: 'killed', victim: { name: 'default/leak' } });
    expect(pids(node, leak.containers.app, leak)).toEqual([]);
    expect(Object.values(neighbours.containers).map((id) => pids(node, id).length)).toEqual([1, 1]);
    expect(victims(guard, 'decision')).toEqual(['default/leak']);
    expect(await guard.recorded('removal')).toMatchObject({ removed: false, victim: { name: 'default/leak' } });
    await runtime.run();
    await guard.until('the pod is removed', async () => (await runtime.pods()).join() === neighbours.id);
    await guard.removed('default/leak');
  });

  test('a soft eviction stops the pod by containerd and removes it; workloads are named by labels and by their creator', async () => {
    const node = nodeOfPods();
    const orderly = await podIn(node, {
      name: 'orderly',
      ownCgroup: true,
      annotations: { 'evictd.dev/priority': '-5' },
      containers: { app: `trap 'exit 0' TERM; ${leaking(2e8)} & while :; do sleep 1000 & wait; done` },
    });
    const web = await podIn(node, { name: 'web', labels: { app: 'web' }, containers: { app: QUIET } });
    const config = {
      ...guarding(node, [{ match: { labels: { app: 'web' } }, priority: 7 }]),
      evictionHard: { 'memory.available': '5%' },
      evictionSoft: { 'memory.available': '384Mi' },
      evictionSoftGracePeriod: { 'memory.available': '1s' },
      evictionMaxPodGracePeriod: 20,
    };
    const guard = await new Evictd({ config }).guarding();
    const ranked = async () => {
      const { stdout } = await evictd('rank', '--config', guard.configFile, '-o', 'json');
      const { workloads } = JSON.parse(stdout) as { workloads: { name: string; priority: number; protection: string | null }[] };
      return Object.fromEntries(workloads.map(({ name, priority, protection }) => [name, [priority, protection]]));
    };
    expect(await ranked()).toEqual({ 'default/orderly': [-5, null], 'default/web/app': [7, null] });

    grow(node, orderly);
    expect(await guard.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'default/orderly' } });
    await guard.removed('default/orderly');
    expect(victims(guard, 'escalation')).toEqual([]);
    expect(await runtime.pods()).toEqual([web.id]);
    expect(pids(node, web.containers.app)).toHaveLength(1);

    const labels = { 'io.kubernetes.pod.uid': 'u' };
    await podIn(node, { name: 'kube', namespace: 'x', labels, ownCgroup: true, containers: { app: QUIET } });
    const byKubelet = 'a kubelet manages it, and would start it again';
    expect(await ranked()).toEqual({ 'default/web/app': [7, byKubelet], 'x/kube': [0, byKubelet] });
  });

  test('evictd reclaim removes ended containers and unused images, and nothing else', async () => {
    const node = nodeOfPods();
    const pod = await podIn(node, { name: 'job', containers: { done: 'exit 0', app: QUIET } });
    runtime.image('evictd.test/unused:1');
    const [kept = '', unused = ''] = runtime.images();
    const file = `${runtime.directory}/config.yaml`;
    writeFileSync(file, JSON.stringify({ workloads: [{ cri: { endpoint: runtime.endpoint } }] }), { mode: 0o600 });
    const reclaim = (...args: readonly string[]) => evictd('reclaim', '--config', file, ...args);
    expect((await reclaim('--dry-run')).stdout).toMatch(/^containers +1 container .*\nimages .*, 1 image /m);
    expect(runtime.images()).toEqual([kept, unused]);

    expect(await reclaim()).toMatchObject({ code: 0, stderr: '' });
    expect(runtime.images()).toEqual([kept]);
    expect((await reclaim('--dry-run')).stdout).toMatch(/^containers +0B, 0 containers .*\nimages +0B, 0 images /m);
    expect(pids(node, pod.containers.app)).not.toEqual([]);
    await runtime.clear();
    // No container uses the pause image now, but each new pod needs it.
    expect(await reclaim('--step', 'images')).toMatchObject({ code: 0, stderr: '' });
    expect(runtime.images()).toEqual([kept]);
  });
});

describe.runIf(hasContainerd && loopWorks())(`a disk of containerd (${ON}; where containerd and loop devices are)`, () => {
  /** Removed after the runtime, which keeps what it could not end. */
  const runtimeOnDisk = async () => {
    const node = testNode();
    const disk = loopFilesystem(192, 4_000);
    disk.mount();
    const runtime = await new Containerd().start(`${disk.directory}/containerd`);
    onTestFinished(async () => {
      await runtime.remove().finally(() => {
        disk.remove();
      });
    });
    /** The threshold is met when this many MiB of the space that is free now are used. */
    const guarding = (mib: number): Record<string, unknown> => ({
      evictionHard: { 'nodefs.available': String(available(disk.directory) - mib * MIB), 'memory.available': '0%' },
      node: { cgroup: node.path },
      filesystems: { nodefs: disk.directory },
      workloads: [{ cri: { endpoint: runtime.endpoint } }],
      monitoringInterval: '1s',
    });
    return { node, directory: disk.directory, runtime, guarding };
  };
  const available = (directory: string): number => {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  };

  // An emulated runtime that has a disk full of layers is slow.
  const options = { timeout: 120_000 * SLOWNESS };
  test('a container that fills its writable layer is evicted, the layer is removed, and its neighbours live', options, async () => {
    const { node, directory, runtime, guarding } = await runtimeOnDisk();
    const filling = `echo begun; until [ -e /tmp/grow ]; do sleep 0.05; done; head -c ${String(40 * MIB)} /dev/zero > /tmp/file; sleep 600`;
    const web = await runtime.pod({
      name: 'web',
      cgroup: node.path,
      containers: { app: `head -c ${String(8 * MIB)} /dev/zero > /tmp/file; ${QUIET}` },
    });
    const hog = await runtime.pod({ name: 'hog', cgroup: node.path, containers: { app: filling, side: QUIET } });
    const idle = await runtime.pod({ name: 'idle', cgroup: node.path, ownCgroup: true, containers: { app: QUIET } });
    const guard = await new Evictd({ config: guarding(24) }).guarding();
    await guard.until('web has written', async () => {
      const { stdout } = await evictd('rank', '--signal', 'nodefs.available', '-o', 'json', '--config', guard.configFile);
      const { victim, workloads, holders } = JSON.parse(stdout) as {
        victim: string | null;
        workloads: { name: string; freesBytes: number | null }[];
        holders: { kind: string; name?: string }[];
      };
      expect(holders.filter(({ kind }) => kind === 'image')).toMatchObject([{ name: runtime.images()[0], inUse: true }]);
      return victim === 'default/web/app' && (workloads[0]?.freesBytes ?? 0) >= 8 * MIB;
    });
    const before = available(directory);

    grow(node, hog);
    const outcome = await guard.recorded('outcome');
    expect(outcome).toMatchObject({ result: 'killed', victim: { name: 'default/hog/app' } });
    // Measured while the disk was short, possibly during writes; web has at most 8 MiB.
    expect(outcome.expectedBytes).toBeGreaterThan(12 * MIB);
    // On a busy machine the runtime may need longer than the minute that the outcome waits.
    const { time: decided } = await guard.recorded('decision');
    const waitedMs = Date.parse(outcome.time) - Date.parse(decided);
    expect([outcome.freedBytes, waitedMs]).toSatisfy(([freed = 0, ms = 0]: number[]) => freed > 12 * MIB || ms >= 60_000);
    await guard.removed('default/hog/app');
    await guard.until('the shortage is over', () => guard.journal().some(({ type, met }) => type === 'threshold' && met === false));
    await aWhile(); // a second victim would be a defect
    expect(victims(guard, 'decision')).toEqual(['default/hog/app']);
    expect(available(directory)).toBeGreaterThan(before - 2 * MIB);
    const alive = [pids(node, web.containers.app), pids(node, hog.containers.side), pids(node, idle.containers.app, idle)];
    expect(alive.map(({ length }) => length)).toEqual([1, 1, 1]);
    expect(readFileSync(`${hog.logs}/app.log`, 'utf8')).toContain('begun'); // is not evictd's to remove
  });

  test('containerd reports the image filesystem if none is configured, and a container is evicted for imagefs', async () => {
    const { node, directory, runtime, guarding } = await runtimeOnDisk();
    const filling = `until [ -e /tmp/grow ]; do sleep 0.05; done; head -c ${String(40 * MIB)} /dev/zero > /tmp/file; sleep 600`;
    const hog = await runtime.pod({ name: 'hog', cgroup: node.path, containers: { app: filling } });
    const { filesystems: _, ...config } = guarding(24);
    const { 'nodefs.available': limit, ...others } = config.evictionHard as Record<string, string>;
    const evictionHard = { ...others, 'imagefs.available': limit, 'nodefs.available': '0%', 'nodefs.inodesFree': '0%' };
    const unwatched = { ...evictionHard, 'imagefs.available': '0%' };
    const beside = new Evictd({ config: { ...config, evictionHard: unwatched }, args: ['--dry-run'] });
    await beside.logged(/not on nodefs: no threshold watches imagefs/);
    const guard = await new Evictd({ config: { ...config, evictionHard } }).guarding();
    const found = await guard.recorded('filesystems');
    expect(String(found.imagefs)).toMatch(new RegExp(`^${directory}/containerd/`));
    grow(node, hog);
    expect(await guard.recorded('outcome')).toMatchObject({ victim: { name: 'default/hog/app' }, signal: 'imagefs.available' });
    await guard.removed('default/hog/app');
    const { stdout } = await evictd('rank', '--signal', 'imagefs.available', '-o', 'json', '--config', guard.configFile);
    expect(JSON.parse(stdout)).toMatchObject({ workloads: [] });
  });

  test('removing unused images ends the shortage, and no workload is evicted', async () => {
    const { node, directory, runtime, guarding } = await runtimeOnDisk();
    const pod = await runtime.pod({ name: 'web', cgroup: node.path, containers: { app: QUIET } });
    runtime.image('evictd.test/unused:1', 24);
    const guard = await new Evictd({ config: guarding(16) }).guarding();
    writeFileSync(`${directory}/logs`, Buffer.alloc(24 * MIB, 1));
    const reclaimed = await guard.recorded('reclaimed');
    expect(reclaimed).toMatchObject({ collections: ['containers', 'images'], enough: true, errors: [] });
    expect(runtime.images()).toEqual(['evictd.test/busybox:1']);
    await guard.until('the shortage is over', () => guard.journal().some(({ type, met }) => type === 'threshold' && met === false));
    expect(guard.journal().filter(({ type }) => type === 'decision' || type === 'alert')).toEqual([]);
    expect(pids(node, pod.containers.app)).not.toEqual([]);
  });
});
