import { chownSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { RuntimePart, RuntimeWorkload } from '../../../src/core/workload/pod-sandbox.js';
import type { Rule } from '../../../src/core/workload/rule.js';
import type { ContainerRuntime, WorkloadSource } from '../../../src/monitor/ports/ports.js';
import { native } from '../../../src/native/index.js';
import { openWorkloads } from '../../../src/workloads/cgroup/cgroup-workloads.js';
import { memoryHierarchy, testCgroup, type TestCgroup } from '../../support/cgroup.js';

// A runtime that says what a test wants it to; what it tells of are real cgroups with real processes.
const hierarchy = memoryHierarchy();
const ENDPOINT = 'unix:///run/test.sock';

class ListedRuntime implements ContainerRuntime {
  readonly endpoint = ENDPOINT;
  hasReported = true;
  list: readonly RuntimeWorkload[] = [];
  followed = 0;
  failure: ReturnType<ContainerRuntime['problem']>;
  workloads(): readonly RuntimeWorkload[] {
    return this.list;
  }
  follow(): void {
    this.followed += 1;
  }
  reported(): Promise<void> {
    return Promise.resolve();
  }
  filesystemsReported(): Promise<void> {
    return Promise.resolve();
  }
  stop(): () => 'refused' {
    return () => 'refused';
  }
  remove(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
  collect(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }
  garbage(): ReturnType<ContainerRuntime['garbage']> {
    return Promise.resolve({ containers: [], pods: [], images: [] });
  }
  usedImages(): Promise<never[]> {
    return Promise.resolve([]);
  }
  filesystems(): undefined {
    return undefined;
  }
  files(): Promise<never[]> {
    return Promise.resolve([]);
  }
  problem(): ReturnType<ContainerRuntime['problem']> {
    return this.failure;
  }
  close(): void {
    return;
  }
}

let top: TestCgroup;
let runtime: ListedRuntime;
let source: WorkloadSource | undefined;

beforeEach(() => {
  top = testCgroup();
  runtime = new ListedRuntime();
});
afterEach(async () => {
  source?.close();
  source = undefined;
  await top.cleanup();
});

function open({ rules = [], parents = [] }: { rules?: readonly Rule[]; parents?: readonly string[] } = {}): WorkloadSource {
  const identity = { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy.version };
  const workloads = [...parents.map((cgroup) => ({ cgroup })), { cri: { endpoint: ENDPOINT } }];
  source = openWorkloads({ workloads, rules }, native, { identity, hierarchy }, true, { runtimes: [runtime] });
  return source;
}

async function inhabited(name: string): Promise<TestCgroup> {
  const cgroup = top.child(name);
  await cgroup.spawn('sleep', ['600']);
  return cgroup;
}
const runtimeWorkload = (name: string, { path }: Pick<TestCgroup, 'path'>, part: Partial<RuntimePart> = {}): RuntimeWorkload => {
  return { name, path, runtime: { endpoint: ENDPOINT, podId: 'p', containers: [], isPod: true, labels: {}, byKubelet: false, ...part } };
};
const names = (): string[] => source?.candidates().usages.map(({ workload }) => workload.name) ?? [];

test('candidates are the reported workloads, with the reported facts', async () => {
  const cgroup = await inhabited('a');
  await inhabited('other');
  runtime.list = [runtimeWorkload('default/web', cgroup, { priority: 7, terminationGracePeriodNs: 5n, labels: { app: 'web' } })];
  const [usage, ...others] = open().candidates().usages;
  expect(others).toEqual([]);
  expect(usage?.workload).toMatchObject({
    name: 'default/web',
    path: cgroup.path,
    priority: 7,
    terminationGracePeriodNs: 5n,
    protection: undefined,
    runtime: { labels: { app: 'web' } },
  });
  expect(usage?.stats?.usageBytes).toBeGreaterThan(0n);
});

test('the next pass has workloads that were reported later, and none that are no longer reported', async () => {
  const [a, b] = [await inhabited('a'), await inhabited('b')];
  runtime.list = [runtimeWorkload('default/a', a)];
  open();
  runtime.list = [runtimeWorkload('default/a', a), runtimeWorkload('default/b', b)];
  expect(names().sort()).toEqual(['default/a', 'default/b']);
  runtime.list = [runtimeWorkload('default/b', b)];
  expect(names()).toEqual(['default/b']);
});

test('a workload whose cgroup was removed is not a candidate, though the runtime still reports it', async () => {
  const cgroup = await inhabited('a');
  runtime.list = [runtimeWorkload('default/a', cgroup)];
  open();
  await cgroup.cleanup();
  expect(names()).toEqual([]);
  expect(source?.candidates().unreadable).toEqual([]);
});

test('the runtime is read at ticks and when candidates are read', () => {
  const opened = open();
  const before = runtime.followed;
  opened.refresh();
  opened.candidates();
  expect(runtime.followed).toBe(before + 2);
});

test('a rule overrides an annotation', async () => {
  runtime.list = [runtimeWorkload('default/web', await inhabited('a'), { priority: 7, terminationGracePeriodNs: 5n })];
  const [usage] = open({ rules: [{ match: { name: 'default/*' }, priority: -1, terminationGracePeriodNs: 9n }] }).candidates().usages;
  expect(usage?.workload).toMatchObject({ priority: -1, terminationGracePeriodNs: 9n });
});

test('rules match labels', async () => {
  runtime.list = [
    runtimeWorkload('default/a', await inhabited('a'), { labels: { app: 'db' } }),
    runtimeWorkload('default/b', await inhabited('b')),
  ];
  const { usages } = open({ rules: [{ match: { labels: { app: 'db' } }, critical: true }] }).candidates();
  expect(usages.map(({ workload }) => [workload.name, workload.protection?.kind])).toEqual([
    ['default/a', 'critical'],
    ['default/b', undefined],
  ]);
});

describe('one cgroup is one workload', () => {
  test('with the name that the runtime gives it, whichever source found it first', async () => {
    const cgroup = await inhabited('a');
    open({ parents: [top.path], rules: [{ match: { labels: { app: 'web' } }, priority: 3 }] });
    expect(names()).toEqual(['a']);
    runtime.list = [runtimeWorkload('default/web', cgroup, { labels: { app: 'web' } })];
    const { usages } = source?.candidates() ?? { usages: [] };
    expect(usages.map(({ workload }) => [workload.name, workload.priority])).toEqual([['default/web', 3]]);
  });

  test('also if the runtime does not report it any more', async () => {
    const cgroup = await inhabited('a');
    runtime.list = [runtimeWorkload('default/web', cgroup)];
    open({ parents: [top.path] });
    expect(names()).toEqual(['default/web']);
    runtime.list = [];
    names();
    expect(names()).toEqual(['a']);
  });
});

describe('a workload of a kubelet', () => {
  test('is ranked, and protected', async () => {
    runtime.list = [runtimeWorkload('default/web', await inhabited('a'), { byKubelet: true })];
    expect(
      open()
        .candidates()
        .usages.map(({ workload }) => workload.protection),
    ).toEqual([{ kind: 'kubelet' }]);
  });

  test('protects the cgroup that contains it', async () => {
    const parent = top.child('parent');
    const pod = parent.child('pod');
    await pod.spawn('sleep', ['600']);
    runtime.list = [runtimeWorkload('default/web', pod, { byKubelet: true })];
    const { usages } = open({ parents: [top.path] }).candidates();
    expect(Object.fromEntries(usages.map(({ workload }) => [workload.name, workload.protection?.kind]))).toEqual({
      parent: 'contains',
      'default/web': 'kubelet',
    });
  });
});

describe('a cgroup that has the name of a container or a pod', () => {
  const ID = 'a'.repeat(64);
  const kinds = () =>
    Object.fromEntries(source?.candidates().usages.map(({ workload }) => [workload.name, workload.protection?.kind]) ?? []);

  test('is not evicted before the runtime has reported it', async () => {
    const cgroup = await inhabited(`cri-containerd-${ID}.scope`);
    await inhabited('other');
    open({ parents: [top.path], rules: [{ match: { labels: { app: 'db' } }, critical: true }] });
    expect(kinds()).toEqual({ [`cri-containerd-${ID}.scope`]: 'unreported', other: undefined });
    runtime.list = [runtimeWorkload('default/db', cgroup, { labels: { app: 'db' } })];
    expect(kinds()).toEqual({ 'default/db': 'critical', other: undefined });
  });

  test('is evicted as any other if a user named it', async () => {
    const users = top.child('users');
    await users.child(`cri-containerd-${ID}.scope`).spawn('sleep', ['600']);
    chownSync(users.dir, 4242, 4242);
    open({ parents: [users.path] });
    expect(kinds()).toEqual({ [`cri-containerd-${ID}.scope`]: undefined });
  });

  test('may be evicted after the report', async () => {
    const cgroup = await inhabited(ID);
    open({ parents: [top.path] });
    expect(kinds()).toEqual({ [ID]: 'unreported' });
    runtime.list = [runtimeWorkload('default/web', cgroup)];
    expect(kinds()).toEqual({ 'default/web': undefined });
  });

  test('protects the cgroup that contains it before the report', async () => {
    const slices = testCgroup(`evictdtestpods${String(process.pid)}.slice`);
    onTestFinished(() => slices.cleanup());
    await slices.child('inner.slice').child(`crio-${ID}.scope`).spawn('sleep', ['600']);
    const found = open({ parents: [slices.path] }).candidates();
    const [usage] = found.usages;
    expect(usage && found.veto?.(usage.workload)).toEqual({ kind: 'contains', name: `crio-${ID}.scope` });
  });

  test.each<[rule: string, part: Partial<RuntimePart>, rules: readonly Rule[], kind: string | undefined]>([
    ["a kubelet's", { byKubelet: true }, [], 'kubelet'],
    ['a critical pod', { labels: { app: 'db' } }, [{ match: { labels: { app: 'db' } }, critical: true }], 'critical'],
    ['any other pod', {}, [], undefined],
  ])('that is a part of a pod has the protection of the pod: %s', async (_rule, part, rules, kind) => {
    const pod = top.child('pod');
    await pod.child(ID).spawn('sleep', ['600']);
    runtime.list = [runtimeWorkload('default/web', pod, part)];
    open({ parents: [pod.path], rules });
    expect(kinds()).toEqual({ 'default/web': kind, [ID]: kind });
  });
});

test('a cgroup belongs to the innermost workload, also after its removal', async () => {
  const pod = await inhabited('pod');
  runtime.list = [runtimeWorkload('default/web', pod)];
  const opened = open({ parents: [top.path.slice(0, top.path.lastIndexOf('/')) || '/'] });
  expect(opened.holding(`${pod.path}/gone`)).toEqual({ name: 'default/web', path: pod.path });
  expect(opened.holding(pod.path)).toEqual({ name: 'default/web', path: pod.path });
  expect(opened.holding(`${top.path}/other`)?.path).toBe(top.path);
});

test('a runtime that has reported nothing yet is awaited', () => {
  runtime.hasReported = false;
  const opened = open();
  expect(opened.candidates().awaitedRuntimes).toEqual([ENDPOINT]);
  runtime.hasReported = true;
  expect(opened.candidates().awaitedRuntimes).toEqual([]);
});

test('a runtime that cannot be reached is a problem', () => {
  runtime.failure = { code: 'EVICTD_CRI_UNREACHABLE', message: 'gone' };
  expect(open().problems()).toEqual([{ code: 'EVICTD_CRI_UNREACHABLE', message: 'gone' }]);
});
