import { describe, expect, test } from 'vitest';
import { containerCgroup, runtimeWorkloads, type PodSandbox, type SandboxContainer } from '../../../src/core/workload/pod-sandbox.js';

const ID = 'f9d27c33e35fb828d72c158fa87c671c501d8059897f2d972fb9a205b009f51a';
const OTHER = '3e0f7ebce271efe48303ffdbbdd387e07acb355615e0b62cda6fa5cf0e397bad';
const UID = '1f0c3a52-9d1e-4f57-8f4c-0a4a2b5d7c11';

const container = (rest: Partial<SandboxContainer> = {}): SandboxContainer => {
  return { id: ID, name: 'app', labels: {}, annotations: {}, cgroupsPath: `/k8s.io/${ID}`, ...rest };
};
const pod = (rest: Partial<PodSandbox> = {}): PodSandbox => {
  return { id: 'p', namespace: 'default', name: 'web', uid: UID, labels: {}, annotations: {}, containers: [container()], ...rest };
};
const found = (...pods: readonly PodSandbox[]) => runtimeWorkloads('unix:///r', pods, false);

describe('the cgroup of a container', () => {
  test.each<[rule: string, cgroupsPath: string, path: string | undefined]>([
    ['cgroupfs', `/k8s.io/${ID}`, `/k8s.io/${ID}`],
    ['cgroupfs of a kubelet', `/kubepods/burstable/pod${UID}/${ID}`, `/kubepods/burstable/pod${UID}/${ID}`],
    [
      'systemd, containerd',
      `kubepods-burstable-pod1_2.slice:cri-containerd:${ID}`,
      `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice/cri-containerd-${ID}.scope`,
    ],
    ['systemd, CRI-O', `batch.slice:crio:${ID}`, `/batch.slice/crio-${ID}.scope`],
    ['systemd without a slice', `:cri-containerd:${ID}`, `/system.slice/cri-containerd-${ID}.scope`],
    ['systemd without a prefix', `batch.slice::${ID}`, `/batch.slice/${ID}.scope`],
    ['the root slice', `-.slice:crio:${ID}`, `/crio-${ID}.scope`],
    ['a relative path, which is below the cgroup of the runtime', `k8s.io/${ID}`, undefined],
    ['none', '', undefined],
    ['a cgroup of another container, because the id is not in it', '/k8s.io/shared', undefined],
    ['the id is only above it', `/${ID}/workers`, undefined],
    ['a path without a slice', `batch:cri-containerd:${ID}`, undefined],
    ['a slice as the container', `batch.slice:x:${ID}.slice`, undefined],
    ['a path with too many parts', `batch.slice:x:${ID}:y`, undefined],
  ])('%s', (_rule, cgroupsPath, path) => {
    expect(containerCgroup({ id: ID, cgroupsPath })).toBe(path);
  });

  test('an id that is too short is not accepted as one', () => {
    expect(containerCgroup({ id: 'a', cgroupsPath: '/system.slice/a' })).toBeUndefined();
  });
});

describe('the workloads of pods', () => {
  const sidecar = container({ id: OTHER, name: 'side', cgroupsPath: `/k8s.io/${OTHER}` });

  test('are the containers if the pod has no cgroup of its own', () => {
    expect(found(pod({ containers: [container(), sidecar] })).map(({ name, path }) => [name, path])).toEqual([
      ['default/web/app', `/k8s.io/${ID}`],
      ['default/web/side', `/k8s.io/${OTHER}`],
    ]);
  });

  test.each([
    ['cgroupfs', `/kubepods/pod${UID}`, `/kubepods/pod${UID}/${ID}`, `/kubepods/pod${UID}/${OTHER}`],
    [
      'systemd',
      `/kubepods.slice/kubepods-pod${UID.replaceAll('-', '_')}.slice`,
      `kubepods-pod${UID.replaceAll('-', '_')}.slice:cri-containerd:${ID}`,
      `kubepods-pod${UID.replaceAll('-', '_')}.slice:cri-containerd:${OTHER}`,
    ],
  ])("are whole pods if the pod's cgroup has its uid (%s)", (_driver, path, own, others) => {
    const containers = [container({ cgroupsPath: own }), { ...sidecar, cgroupsPath: others }];
    expect(found(pod({ containers })).map((workload) => [workload.name, workload.path])).toEqual([['default/web', path]]);
  });

  test.each<[rule: string, pods: readonly PodSandbox[], names: readonly string[]]>([
    ['a cgroup that others may be in', [pod({ containers: [container({ cgroupsPath: `/batch/${ID}` })] })], ['default/web/app']],
    ['no uid', [pod({ uid: '', containers: [container({ cgroupsPath: `/pod/${ID}` })] })], ['default/web/app']],
    [
      'containers that are not together',
      [pod({ containers: [container({ cgroupsPath: `/pod${UID}/${ID}` }), sidecar] })],
      ['default/web/app', 'default/web/side'],
    ],
    [
      'two pods of one name',
      [
        pod({ containers: [container({ cgroupsPath: `/pod${UID}/${ID}` })] }),
        pod({ name: 'b', containers: [container({ id: OTHER, cgroupsPath: `/pod${UID}/${OTHER}` })] }),
      ],
      ['default/web/app', 'default/b/app'],
    ],
    [
      'a container of another pod in the cgroup, because of its cgroup_parent',
      [
        pod({ containers: [container({ cgroupsPath: `/pod${UID}/${ID}` })] }),
        pod({ name: 'b', uid: 'b', containers: [container({ id: OTHER, cgroupsPath: `/pod${UID}/${OTHER}` })] }),
      ],
      ['default/web/app', 'default/b/app'],
    ],
    [
      'a container of another pod further below, because of its cgroup_parent',
      [
        pod({ containers: [container({ cgroupsPath: `/pod${UID}/${ID}` })] }),
        pod({ name: 'b', uid: 'b', containers: [container({ id: OTHER, cgroupsPath: `/pod${UID}/podb/${OTHER}` })] }),
      ],
      ['default/web/app', 'default/b'],
    ],
    [
      'a container of another pod in a cgroup without its id, because of its cgroup_parent',
      [
        pod({ containers: [container({ cgroupsPath: `/pod${UID}/${ID}` })] }),
        pod({ name: 'b', uid: 'b', containers: [container({ id: OTHER, cgroupsPath: `/pod${UID}/shared` })] }),
      ],
      ['default/web/app'],
    ],
    ['a container whose cgroup is not known for sure', [pod({ containers: [container({ cgroupsPath: '/k8s.io' })] })], []],
  ])('are never whole pods with %s', (_rule, pods, names) => {
    expect(found(...pods).map(({ name }) => name)).toEqual(names);
  });
});

describe('the annotations and labels of a pod', () => {
  const GRACE = 'io.kubernetes.pod.terminationGracePeriod';
  const part = (own: Partial<PodSandbox>, of: Partial<SandboxContainer> = {}) =>
    found(pod({ ...own, containers: [container(of)] }))[0]?.runtime;

  test.each<[rule: string, text: string, priority: number | undefined]>([
    ['a number', '1000', 1000],
    ['below zero', '-10', -10],
    ['the least', '-2147483648', -2147483648],
    ['below the least', '-2147483649', undefined],
    ['text that is not a whole number', '1.5', undefined],
    ['a word', 'high', undefined],
    ['nothing', '', undefined],
  ])('set the priority: %s', (_rule, text, priority) => {
    expect(part({ annotations: { 'evictd.dev/priority': text } })?.priority).toBe(priority);
    expect(part({}, { annotations: { 'evictd.dev/priority': text } })?.priority).toBe(priority);
  });

  test('set the priority before those of its containers', () => {
    expect(part({ annotations: { 'evictd.dev/priority': '1' } }, { annotations: { 'evictd.dev/priority': '2' } })?.priority).toBe(1);
  });

  test('give the longest grace period of all containers, in seconds', () => {
    expect(part({ annotations: { [GRACE]: '5' } }, { annotations: { [GRACE]: '30' } })?.terminationGracePeriodNs).toBe(30_000_000_000n);
    expect(part({ annotations: { [GRACE]: '-1' } })).not.toHaveProperty('terminationGracePeriodNs');
    expect(part({})).not.toHaveProperty('terminationGracePeriodNs');
  });

  test('are listed before the labels of the containers', () => {
    expect(part({ labels: { app: 'web', tier: 'front' } }, { labels: { app: 'x', own: 'y' } })?.labels).toEqual({
      app: 'web',
      tier: 'front',
      own: 'y',
    });
  });
});
