import { statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openCgroupEvictor } from '../../../src/evict/cgroup/cgroup-evictor.js';
import { Removals } from '../../../src/evict/cri/container-removals.js';
import { openPodEvictor } from '../../../src/evict/cri/pod-evictor.js';
import type { RuntimePart } from '../../../src/core/workload/pod-sandbox.js';
import type { Workload } from '../../../src/core/workload/workload.js';
import { openContainerRuntime } from '../../../src/host/linux/cri/container-runtime.js';
import { readHierarchies } from '../../../src/host/linux/cgroup/hierarchies.js';
import type { ContainerRuntime, KillInProgress, SignalResult } from '../../../src/monitor/ports/ports.js';
import { native } from '../../../src/native/index.js';
import { SECOND, workload } from '../../core/support.js';
import { FakeRuntime } from '../../host/linux/cri/fake-runtime.js';
import { testCgroup, type TestCgroup, type TestProcess } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';

// Real processes in a real cgroup; the runtime is one that can be made to hang and to refuse. What a real one does:
// test/e2e/containers.test.ts.

const part: RuntimePart = { endpoint: '', podId: 'p', containers: ['a', 'b'], isPod: true, labels: {}, byKubelet: false };
const broken = () => Promise.reject(new Error());
const nothing = () => ({});

let victim: TestCgroup;
let member: TestProcess;
let fake: FakeRuntime;
let runtime: ContainerRuntime;
/** What a removal asks now. */
let source: ContainerRuntime | undefined;
let removals: Removals;
let outcomes: (string | undefined)[];

beforeEach(async () => {
  const own: (string | undefined)[] = []; // removals of an earlier test do not count here
  outcomes = own;
  removals = new Removals(
    () => source,
    (_workload, error) => own.push(error),
  );
  fake = new FakeRuntime({
    Version: nothing,
    ListContainers: nothing,
    StopContainer: () => 'hang',
    RemoveContainer: nothing,
    StopPodSandbox: nothing,
    RemovePodSandbox: nothing,
  });
  await fake.start();
  runtime = openContainerRuntime(fake.endpoint);
  // Connected, as before every eviction. Connecting alone takes a slow machine seconds.
  await runtime.reported();
  fake.requests.length = 0;
  source = runtime;
  victim = testCgroup();
  member = await victim.spawn('sleep', ['600']);
});
afterEach(async () => {
  runtime.close();
  fake.remove();
  await victim.cleanup();
});

function begin(own: Partial<RuntimePart> = {}, graceNs = 30n * SECOND, others: Partial<Workload> = {}): KillInProgress {
  const evictor = openPodEvictor(openCgroupEvictor(native, readHierarchies()), () => runtime, removals);
  const { path, dir } = victim;
  const startOrder = statSync(dir, { bigint: true }).ino;
  const kill = evictor.begin(
    workload('default/web', { id: path, path, startOrder, runtime: { ...part, ...own }, ...others }),
    undefined,
    graceNs,
  );
  onTestFinished(() => {
    kill.close();
  });
  return kill;
}

const calls = (): string[] =>
  fake.requests.map(([call, { container_id, pod_sandbox_id }]) => [call, container_id ?? pod_sandbox_id].filter(Boolean).join(' '));
const isGone = (kill: KillInProgress): Promise<unknown> => eventually('it is gone', () => kill.read().processes === 0, { ms: 20_000 });
const isReported = (count: number): Promise<unknown> => eventually('it is reported', () => outcomes.length === count);

describe('a soft eviction of a pod', () => {
  test('asks the runtime to stop each container with the grace in seconds, and sends no signal', async () => {
    const kill = begin();
    expect(kill.terminate()).toMatchObject({ processes: 1, error: undefined });
    await eventually('it is asked', () => calls().length === 3);
    expect(calls().sort()).toEqual(['StopContainer a', 'StopContainer b', 'Version']);
    expect(fake.requests.find(([call]) => call === 'StopContainer')?.[1]).toMatchObject({ timeout: 30 });
    expect(kill.read().processes).toBe(1);
    expect(removals.unfinished).toEqual([]);
  });

  test('rounds a part of a second up, because 0 would be SIGKILL', async () => {
    begin({}, SECOND / 10n).terminate();
    await eventually('it is asked', () => fake.requests.some(([call]) => call === 'StopContainer'));
    expect(fake.requests.find(([call]) => call === 'StopContainer')?.[1]).toMatchObject({ timeout: 1 });
  });

  test('stops the pod when its containers have ended, and removes it when all processes have', async () => {
    fake.handlers = { ...fake.handlers, StopContainer: nothing, StopPodSandbox: () => (member.child.kill('SIGKILL'), {}) };
    const kill = begin();
    kill.terminate();
    await isGone(kill);
    await isReported(1);
    expect(outcomes).toEqual([undefined]);
    expect(calls().slice(-2)).toEqual(['StopPodSandbox p', 'RemovePodSandbox p']);
  });

  test.each([
    ['refuses', { StopContainer: broken }],
    ['hangs', { Version: () => 'hang' as const }],
  ])('sends SIGTERM if the runtime %s', async (_how, handlers) => {
    fake.handlers = { ...fake.handlers, ...handlers };
    const kill = begin({}, 2n * SECOND);
    kill.terminate();
    await isGone(kill);
    expect(await member.ended).toBe('SIGTERM');
  });

  test('sends SIGTERM if there is no runtime', async () => {
    fake.stop();
    const kill = begin();
    kill.terminate();
    await isGone(kill);
    expect(await member.ended).toBe('SIGTERM');
  });

  test('sends SIGTERM to a pod of a kubelet, and does not ask its runtime to stop or remove it', async () => {
    const kill = begin({}, 30n * SECOND, { kubernetes: { uid: 'u', namespace: 'shop', name: 'web', labels: {}, priority: 0 } });
    kill.terminate();
    await isGone(kill);
    kill.close();
    expect([await member.ended, calls(), removals.unfinished]).toEqual(['SIGTERM', [], []]);
  });

  test('leaves the containers to a runtime that answers slowly', async () => {
    const kill = begin({}, 10n * SECOND);
    const since = process.hrtime.bigint();
    kill.terminate();
    const stop = runtime.stop(part, 10n * SECOND);
    await eventually('it has answered', () => stop() === 'alive');
    await eventually('longer than it is waited for', () => process.hrtime.bigint() - since > 1_200_000_000n);
    expect(kill.read().processes).toBe(1);
    expect(kill.kill()).toMatchObject({ error: undefined });
    await isGone(kill);
    expect(await member.ended).toBe('SIGKILL');
  });
});

describe('a hard eviction of a pod', () => {
  test('kills its processes first, and removes it then', async () => {
    const kill = begin();
    kill.kill();
    await isGone(kill);
    expect(await member.ended).toBe('SIGKILL');
    await isReported(1);
    expect(outcomes).toEqual([undefined]);
    expect(calls()).toEqual(['StopPodSandbox p', 'RemovePodSandbox p']);
    kill.close();
    expect(removals.unfinished).toEqual([]);
  });

  test('of a container leaves the pod if it has another one', async () => {
    fake.handlers = { ...fake.handlers, ListContainers: () => ({ containers: [{ id: 'b', pod_sandbox_id: 'p', state: 2 }] }) };
    const kill = begin({ containers: ['a'], isPod: false });
    kill.kill();
    await isGone(kill);
    await isReported(1);
    expect(calls()).toEqual(['RemoveContainer a', 'ListContainers']);
  });

  test('of the last container removes the pod, too', async () => {
    fake.handlers = { ...fake.handlers, ListContainers: () => ({ containers: [{ id: 'z', pod_sandbox_id: 'other', state: 1 }] }) };
    const kill = begin({ containers: ['a'], isPod: false });
    kill.kill();
    await isGone(kill);
    await isReported(1);
    expect(calls()).toEqual(['RemoveContainer a', 'ListContainers', 'StopPodSandbox p', 'RemovePodSandbox p']);
  });

  test('accepts a pod that is already removed', async () => {
    fake.handlers = { ...fake.handlers, RemovePodSandbox: () => Promise.reject(Object.assign(new Error(), { code: 5 })) };
    const kill = begin();
    kill.kill();
    await isGone(kill);
    await isReported(1);
    expect(outcomes).toEqual([undefined]);
  });

  test('reports a failed removal once, and repeats it until it works', async () => {
    const { handlers } = fake;
    fake.handlers = { ...handlers, RemovePodSandbox: broken };
    const kill = begin();
    kill.kill();
    await isGone(kill);
    await isReported(1);
    const removesAsked = (): number => fake.requests.filter(([call]) => call === 'RemovePodSandbox').length;
    removals.retry();
    await eventually('it is asked again', () => removesAsked() === 2);
    expect(removals.unfinished.map(({ name }) => name)).toEqual(['default/web']);
    fake.handlers = handlers;
    await eventually('it is removed', () => {
      removals.retry();
      return removals.unfinished.length === 0;
    });
    expect(outcomes).toEqual(['broken', undefined]);
  });
});

test('a pod whose runtime a reload takes away and brings back is removed by the new runtime', async () => {
  source = undefined;
  const kill = begin();
  kill.kill();
  await isGone(kill);
  await isReported(1);
  runtime.close();
  const again = openContainerRuntime(fake.endpoint);
  onTestFinished(() => {
    again.close();
  });
  source = again;
  removals.retry();
  await isReported(2);
  expect(outcomes).toEqual(['its container runtime is not a workload source any more', undefined]);
});

test('a pod that was not signalled is not removed', () => {
  const kill = begin();
  kill.read();
  kill.close();
  expect(removals.unfinished).toEqual([]);
});

test('a pod that an earlier evictd killed is removed', async () => {
  const kill = begin();
  member.child.kill('SIGKILL');
  kill.resume?.(true);
  await isGone(kill);
  await isReported(1);
  expect(calls()).toEqual(['StopPodSandbox p', 'RemovePodSandbox p']);
});

test.each<[rule: string, answer: Pick<SignalResult, 'error' | 'passing'>, isRemoved: boolean]>([
  ['evictd itself is in it', { error: 'evictd itself is in it' }, false],
  ['SIGKILL could not be sent', { error: 'EMFILE', passing: 'unsent' }, false],
  ['SIGKILL has reached some', { error: 'EPERM', passing: 'in part' }, true],
  ['SIGKILL has reached all, and a process hangs', { error: undefined }, true],
])('a pod that has not ended when its eviction ends is removed or not: %s', async (_rule, answer, isRemoved) => {
  const cgroup: KillInProgress = {
    terminate: () => ({ atNs: 0n, processes: 1, error: undefined }),
    kill: () => ({ atNs: 0n, processes: 1, ...answer }),
    read: () => ({ processes: 1, usageBytes: 0n, removed: false }),
    onExit: () => undefined,
    close: () => undefined,
  };
  const kill = openPodEvictor({ begin: () => cgroup }, () => runtime, removals).begin(workload('default/web', { runtime: part }));
  kill.kill();
  kill.close();
  expect(removals.unfinished).toHaveLength(isRemoved ? 1 : 0);
  if (isRemoved) await isReported(1);
});

test('a workload that is not a pod is evicted by the other evictor', async () => {
  const evictor = openPodEvictor(openCgroupEvictor(native, readHierarchies()), () => undefined, removals);
  const { path, dir } = victim;
  const kill = evictor.begin(workload('web', { id: path, path, startOrder: statSync(dir, { bigint: true }).ino }));
  expect(kill.kill().error).toBeUndefined();
  await member.ended;
  kill.close();
  expect(removals.unfinished).toEqual([]);
});

test('no pod is removed at a shutdown of the machine', async () => {
  const { path, dir } = victim;
  const pod = workload('default/web', { id: path, path, startOrder: statSync(dir, { bigint: true }).ino, runtime: part });
  const kill = openPodEvictor(openCgroupEvictor(native, readHierarchies()), () => runtime, undefined).begin(pod);
  kill.kill();
  await member.ended;
  await eventually('no process is left', () => kill.read().processes === 0);
  kill.close();
  await new Promise((done) => setTimeout(done, 50));
  expect(fake.requests.filter(([call]) => call.startsWith('Remove'))).toEqual([]);
});
