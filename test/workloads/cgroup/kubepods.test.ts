import { randomUUID } from 'node:crypto';
import { chownSync, existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NodePod } from '../../../src/core/kubernetes/node-pod.js';
import type { RuntimeWorkload } from '../../../src/core/workload/pod-sandbox.js';
import { workloadOfPod } from '../../../src/kubernetes/pod.js';
import type { NodePods } from '../../../src/monitor/ports/node-pods.js';
import type { ContainerRuntime, WorkloadSource } from '../../../src/monitor/ports/ports.js';
import { native } from '../../../src/native/index.js';
import { openWorkloads } from '../../../src/workloads/cgroup/cgroup-workloads.js';
import { cgroupAt, memoryHierarchy, testCgroup, type TestCgroup } from '../../support/cgroup.js';

const hierarchy = memoryHierarchy();
let top: TestCgroup;
let source: WorkloadSource | undefined;

beforeEach(() => {
  top = testCgroup();
});
afterEach(async () => {
  source?.close();
  await top.cleanup();
});

/** What protects each child of a cgroup, by the pass and by the look at a victim. */
const protectionsBelow = (cgroup: string, rules: Parameters<typeof openWorkloads>[0]['rules'] = []) => {
  const identity = { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy.version };
  source = openWorkloads({ workloads: [{ cgroup }], rules }, native, { identity, hierarchy });
  const { usages, veto } = source.candidates();
  return Object.fromEntries(usages.map(({ workload }) => [workload.name, (workload.protection ?? veto?.(workload))?.kind]));
};

test('nothing in the cgroup of all pods is a workload without a source that knows pods, and no rule lifts that', async () => {
  const kubepods = top.child('kubepods');
  const [burstable, guaranteed] = [kubepods.child('burstable'), kubepods.child(`pod${randomUUID()}`)];
  for (const cgroup of [kubepods.child('besteffort'), burstable.child('pod1'), guaranteed.child('app'), kubepods.child('other')]) {
    await cgroup.spawn('sleep', ['600']);
  }
  const rules = [{ match: {}, critical: false, liftProtection: true, priority: -10 }];
  const found = [kubepods, burstable, guaranteed].map(({ path }) => protectionsBelow(path, rules));
  // A container may own its cgroup, and name those below.
  await guaranteed.child('mine').child('worker').spawn('sleep', ['600']);
  chownSync(`${guaranteed.dir}/mine`, 4242, 4242);
  expect(protectionsBelow(`${guaranteed.path}/mine`)).toEqual({ worker: 'kubelet' });
  const [whole, ofClass, ofPod] = found;
  expect(Object.entries(whole ?? {}).map(([, kind]) => kind)).toEqual(['kubelet', 'kubelet', 'kubelet', 'kubelet']);
  expect([ofClass, ofPod]).toEqual([{ pod1: 'kubelet' }, { app: 'kubelet' }]);
});

test('the cgroup of all pods is not a workload', async () => {
  for (const name of ['kubepods', 'kubepods.slice', 'other']) await top.child(name).spawn('sleep', ['600']);
  expect(protectionsBelow(top.path)).toEqual({ kubepods: 'kubelet', 'kubepods.slice': 'kubelet', other: undefined });
});

test('no cgroup that contains the cgroup of all pods is a workload, whatever is between', async () => {
  const inhabited = async (...names: string[]) => names.reduce((above, name) => above.child(name), top).spawn('sleep', ['600']);
  await inhabited('kubelet', 'kubepods');
  await inhabited('deep', 'a', 'b', 'kubepods', 'burstable', 'pod1');
  await inhabited('k8s.slice', 'k8s-kubepods.slice');
  await inhabited('x.slice', 'x-y.slice', 'x-y-kubepods.slice', 'x-y-kubepods-besteffort.slice', 'cri.scope');
  await inhabited(`docker-${'a'.repeat(64)}.scope`, 'kubelet.slice', 'kubelet-kubepods.slice');
  await inhabited('web', 'pods', 'burstable');
  const contains = ['kubelet', 'deep', 'k8s.slice', 'x.slice', `docker-${'a'.repeat(64)}.scope`].map((name) => [name, 'contains']);
  expect(protectionsBelow(top.path)).toEqual({ ...Object.fromEntries(contains), web: undefined });
});

test('a user cannot protect a program by these names', async () => {
  const users = top.child('users');
  await users.child('kubepods').spawn('sleep', ['600']);
  await users.child('mine').child('kubepods').spawn('sleep', ['600']);
  chownSync(users.dir, 4242, 4242);
  expect(protectionsBelow(users.path)).toEqual({ kubepods: undefined, mine: undefined });
  await top.child('session').child('app').child('kubepods').spawn('sleep', ['600']);
  chownSync(`${top.dir}/session/app`, 4242, 4242);
  expect(protectionsBelow(top.path)).toMatchObject({ session: undefined });
});

describe('pods that the API server has named', () => {
  const ENDPOINT = 'unix:///run/test.sock';
  let pods: readonly NodePod[];
  let hasReported: boolean;
  let reported: readonly RuntimeWorkload[];
  beforeEach(() => {
    [pods, reported, hasReported] = [[], [], true];
  });

  const pod = (part: Partial<NodePod> = {}, spec: Readonly<Record<string, unknown>> = {}, annotations = {}): NodePod => {
    const [uid, namespace, name] = [randomUUID(), 'shop', part.name ?? 'web'];
    const workload = workloadOfPod({ metadata: { uid, namespace, name, annotations }, spec });
    return { uid, cgroupUid: uid, namespace, name, labels: {}, workload, phase: 'Running', restartPolicy: 'Always', ...part };
  };
  const cgroupOf = (path: string): TestCgroup =>
    path.split('/').reduce((above, name) => {
      return existsSync(`${above.dir}/${name}`) ? cgroupAt(`${above.path}/${name}`) : above.child(name);
    }, top);
  const inhabited = async (path: string): Promise<TestCgroup> => {
    const cgroup = cgroupOf(path);
    await cgroup.spawn('sleep', ['600']);
    return cgroup;
  };
  const burstable = ({ cgroupUid }: NodePod): string => `kubepods/burstable/pod${cgroupUid}`;
  const slice = (above: string, { uid }: NodePod): string => `${above}-pod${uid.replaceAll('-', '_')}.slice`;

  const open = (rules: Parameters<typeof openWorkloads>[0]['rules'] = [], parents: readonly string[] = []): WorkloadSource => {
    const identity = { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy.version };
    const nodePods: NodePods = {
      pods: () => pods,
      ageNs: () => 0n,
      problem: () => undefined,
      get hasReported() {
        return hasReported;
      },
    };
    const runtime = { endpoint: ENDPOINT, hasReported: true, workloads: () => reported, follow: () => undefined, problem: () => undefined };
    const others = [{ cri: { endpoint: ENDPOINT } }, { kubernetes: true as const }];
    const workloads = [...parents.map((cgroup) => ({ cgroup: top.path + cgroup })), ...others];
    const facts = { nodePods, runtimes: [runtime as unknown as ContainerRuntime] };
    source = openWorkloads({ workloads, rules }, native, { identity, hierarchy }, true, facts);
    return source;
  };
  /** What protects each, by the pass and by the look at a victim. */
  const protections = () => {
    const { usages, veto } = source?.candidates() ?? { usages: [] };
    return Object.fromEntries(
      usages.map(({ workload }) => [workload.name, (workload.protection ?? veto?.(workload))?.kind ?? 'evictable']),
    );
  };

  test.each<[layout: string, path: (pod: NodePod) => string]>([
    ['cgroupfs', burstable],
    ['cgroupfs, guaranteed', ({ uid }) => `kubepods/pod${uid}`],
    ['systemd', (one) => `kubepods.slice/kubepods-besteffort.slice/${slice('kubepods-besteffort', one)}`],
    ['systemd, guaranteed', (one) => `kubepods.slice/${slice('kubepods', one)}`],
    ['--cgroup-root, in a container', ({ uid }) => `docker/${'a'.repeat(64)}/kubelet/kubepods/burstable/pod${uid}`],
    ['--cgroup-root, systemd', (one) => `kubelet.slice/kubelet-kubepods.slice/${slice('kubelet-kubepods', one)}`],
  ])('are candidates with the facts of the API: %s', async (_layout, pathOf) => {
    const containers = [{ name: 'a', resources: { requests: { memory: '64Mi' } } }];
    const spec = { priority: 7, terminationGracePeriodSeconds: 5, overhead: { memory: '1Mi' }, containers, tolerations: [{ key: 'gpu' }] };
    const web = pod({ labels: { app: 'web' } }, spec);
    const cgroup = cgroupOf(pathOf(web));
    // The names of containers of a kubelet.
    await inhabited(`${pathOf(web)}/cri-containerd-${'b'.repeat(64)}.scope`);
    pods = [web];
    const { usages } = open([{ match: { name: 'shop/*' }, terminationGracePeriodNs: 9n }]).candidates();
    expect(usages.map(({ workload }) => workload)).toMatchObject([
      {
        ...{ name: 'shop/web', path: cgroup.path, priority: 7, qosClass: 'Burstable', terminationGracePeriodNs: 9n, pod: undefined },
        ...{ requests: { memory: 65n * 1_048_576n * 1_000_000_000n }, tolerations: [{ key: 'gpu' }] },
        kubernetes: { uid: web.uid, namespace: 'shop', name: 'web', labels: { app: 'web' }, terminationGracePeriodNs: 5_000_000_000n },
      },
    ]);
    expect(protections()).toEqual({ 'shop/web': 'evictable' });
  });

  test('are never evicted if they are static or critical, and neither are pods that the API has not named', async () => {
    const mirror = pod({ name: 'etcd', cgroupUid: 'a'.repeat(32) }, {}, { 'kubernetes.io/config.mirror': 'a' });
    const critical = pod({ name: 'cni' }, { priority: 2_000_000_000 });
    const [web, unknown] = [pod(), pod()];
    for (const one of [mirror, critical, web, unknown]) await inhabited(burstable(one));
    pods = [mirror, critical, web];
    open([{ match: {}, critical: false, priority: -1 }], ['', '/kubepods', '/kubepods/burstable']);
    expect(protections()).toEqual({
      ...{ 'shop/etcd': 'static', 'shop/cni': 'critical', 'shop/web': 'evictable' },
      ...{ kubepods: 'kubelet', burstable: 'kubelet', [`pod${unknown.uid}`]: 'unreported' },
    });
  });

  test('do not lose their cgroup to a mirror pod that names their uid, in any order', async () => {
    const web = pod();
    const mirror = pod({ name: 'mirror', cgroupUid: web.uid }, {}, { 'kubernetes.io/config.mirror': 'a' });
    await inhabited(burstable(web));
    pods = [web, mirror];
    open();
    expect(protections()).toEqual({ 'shop/web': 'evictable' });
    pods = [mirror, web];
    expect(protections()).toEqual({ 'shop/web': 'evictable' });
  });

  test('are not evicted in part, if another source names a part', async () => {
    const web = pod();
    await inhabited(`${burstable(web)}/app`);
    pods = [web];
    open([], [`/${burstable(web)}`]);
    expect(protections()).toEqual({ 'shop/web': 'evictable', app: 'kubelet' });
  });

  test("are the kubelet's, also if a container runtime has reported them, when the API no longer has them", async () => {
    const web = pod();
    const { path } = await inhabited(burstable(web));
    const runtime = { endpoint: ENDPOINT, podId: 'p', containers: ['c'], isPod: true, labels: {}, byKubelet: true };
    reported = [{ name: 'shop/web', path, runtime }];
    open();
    expect(protections()).toEqual({ 'shop/web': 'kubelet' });
    pods = [web];
    expect(protections()).toEqual({ 'shop/web': 'evictable' });
    expect(source?.candidates().usages[0]?.workload.runtime).toBe(runtime);
    const before = reported;
    reported = [];
    expect(protections()).toEqual({ 'shop/web': 'evictable' });
    reported = before;
    pods = [{ ...web, workload: { ...web.workload, protection: { kind: 'critical' } } }];
    expect(protections()).toEqual({ 'shop/web': 'critical' });
    pods = [];
    expect(protections()).toEqual({ 'shop/web': 'kubelet' });
  });

  test('are found when their cgroup appears: in the next pass, and the first one at the next tick', async () => {
    const [web, later] = [pod(), pod({ name: 'later' })];
    pods = [web, later];
    const opened = open();
    await inhabited(burstable(web));
    opened.refresh();
    expect(protections()).toEqual({ 'shop/web': 'evictable' });
    await inhabited(burstable(later));
    expect(protections()).toEqual({ 'shop/web': 'evictable', 'shop/later': 'evictable' });
  });

  test('are no candidates when they have ended, and have the rest of their grace period while they are being deleted', async () => {
    const ended = pod({ name: 'ended', phase: 'Succeeded' });
    const ending = pod({ name: 'ending', deletionSeconds: 2 }, { terminationGracePeriodSeconds: 30 });
    for (const one of [ended, ending]) await inhabited(burstable(one));
    pods = [ended, ending];
    const { usages } = open().candidates();
    expect(usages.map(({ workload }) => [workload.name, workload.terminationGracePeriodNs])).toEqual([['shop/ending', 2_000_000_000n]]);
  });

  test('match rules by their present labels', async () => {
    const web = pod({ labels: { tier: 'low' } });
    await inhabited(burstable(web));
    pods = [web];
    open([{ match: { labels: { tier: 'high' } }, critical: true }]);
    expect(protections()).toEqual({ 'shop/web': 'evictable' });
    pods = [{ ...web, labels: { tier: 'high' } }];
    expect(protections()).toEqual({ 'shop/web': 'critical' });
  });

  test('are not found by a name that a user gave, or that two cgroups have', async () => {
    const twice = pod({ name: 'twice' });
    const fakes = ['users', 'all/kubepods', 'class/kubepods/burstable'].map((owned) => ({ owned, fake: pod({ name: owned }) }));
    for (const { owned, fake } of fakes) {
      await inhabited(`${owned.split('/')[0] ?? ''}/${burstable(fake)}`);
      chownSync(`${top.dir}/${owned}`, 4242, 4242);
    }
    await inhabited(burstable(twice));
    await inhabited(`kubelet/${burstable(twice)}`);
    pods = [...fakes.map(({ fake }) => fake), twice];
    open();
    expect(protections()).toEqual({});
  });

  test('stand for the cgroup that holds theirs, which is awaited before the first report', async () => {
    const web = pod();
    const { path } = await inhabited(burstable(web));
    [pods, hasReported] = [[web], false];
    const opened = open();
    expect(opened.holding(`${path}/container`)).toEqual({ name: 'shop/web', path });
    expect(opened.candidates().awaitedRuntimes).toEqual(['kubernetes']);
    hasReported = true;
    expect(opened.candidates().awaitedRuntimes).toEqual([]);
  });
});
