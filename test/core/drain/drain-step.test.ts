import { API_SERVER } from '../../../src/core/kubernetes/kubernetes-part.js';
import { expect, test } from 'vitest';
import { askedOnce, type PolicyBudget } from '../../../src/core/disruption/disruption-budget.js';
import { drained } from '../../../src/core/drain/brief-drain.js';
import { drainPlan } from '../../../src/core/drain/drain-step.js';
import { drainMessage } from '../../../src/core/message/drain-message.js';
import type { Policy } from '../../../src/core/decide/state.js';
import type { Protection, Workload } from '../../../src/core/workload/workload.js';
import { candidates, policy, SECOND, workload } from '../support.js';
import { Timeline } from '../timeline.js';

const two: PolicyBudget = {
  name: 'web',
  match: { name: 'web-*' },
  limit: { of: 'minAvailable', value: 2, isPercentage: false },
  unhealthyPolicy: 'IfHealthyBudget',
  os: 'linux',
};
const WEB = [1, 2, 3].map((index) => [workload(`web-${String(index)}`), 1n] as [ReturnType<typeof workload>, bigint]);
const DB = workload('db', { protection: { kind: 'critical' } });

function run(overrides: Partial<Policy> = {}): Timeline {
  return new Timeline(policy([], { disruptionBudgets: [two], ...overrides }), candidates(...WEB, [DB, 1n]));
}
const drain = (timeoutSeconds?: number) => ({
  request: {
    kind: 'drain',
    graceNs: 5n * SECOND,
    ...(timeoutSeconds !== undefined && { timeoutNs: BigInt(timeoutSeconds) * SECOND }),
  } as const,
});
const left = ({ state }: Timeline): (string | undefined)[] | undefined =>
  state.drain?.pending.map(({ name, waits }) => (waits ? `${name} waits` : name));

const names = ({ state }: Timeline): string[] | undefined => state.drain?.pending.map(({ name }) => name);

test('a drain evicts workloads one after the other as budgets permit, and protected workloads stay', () => {
  const made = run();
  expect(made.effects(1, {}, {}, drain())).toEqual(['drain begin 3/3', 'evict web-1 grace 5']);
  expect(left(made)).toEqual(['web-1', 'web-2 waits', 'web-3 waits']);
  expect(made.state.drain?.pending[1]?.waits).toBe('the disruption budget web needs 2 healthy workloads and has 2 currently');
  // The outcome of the first is at once the turn of the second: its processes are back.
  expect(made.effects(2, {}, { 1: { processes: 0 } })).toEqual(['killed web-1 0Mi', 'evict web-2 grace 5']);
  expect(made.effects(3, {}, { 2: { processes: 0 } })).toEqual(['killed web-2 0Mi', 'evict web-3 grace 5']);
  expect(made.effects(4, {}, { 3: { processes: 0 } })).toEqual(['killed web-3 0Mi', 'drain end drained 0/3']);
  expect(made.state.drain).toMatchObject({ over: 'drained', total: 3 });
});

test('a plan says why the drain waits: a budget permits too few evictions, or evictd evicts nothing at all', () => {
  const { policy: inForce, state, candidates: all } = run();
  const found = askedOnce(all);
  const waits = (hasWorkloadSource: boolean) => drainPlan({ policy: { ...inForce, hasWorkloadSource }, state, found, nowNs: 0n }).waits;
  const budget = 'the disruption budget web permits 1 of 3 evictions now: the drain waits until workloads of it are up again';
  expect(waits(true)).toEqual([budget]);
  expect(waits(false)).toEqual([expect.stringMatching(/^evictd evicts nothing/), budget]);
});

test('a plan names the workloads that stay, but no cgroup without processes', () => {
  const { policy, state, candidates: all } = run();
  const planned = (...vacant: string[]) => {
    const veto = ({ name }: Workload): Protection | undefined => (vacant.includes(name) ? { kind: 'vacant' } : undefined);
    const { ends, stays } = drainPlan({ policy, state, found: askedOnce({ ...all, veto }), nowNs: 0n });
    return [ends.map(({ name }) => name), stays.map(({ workload: { name }, why }) => `${name}: ${why}`)];
  };
  expect(planned('web-1')).toEqual([['web-2', 'web-3'], ['db: critical']]);
  expect(planned('db', 'web-2')).toEqual([['web-1', 'web-3'], []]);
});

test('pods of a DaemonSet stay, as with kubectl drain --ignore-daemonsets', () => {
  const pod = (kind: string) =>
    workload(kind, { kubernetes: { uid: kind, namespace: 'a', name: kind, labels: {}, priority: 0, owner: { kind, name: 'of' } } });
  const { policy, state } = run();
  const found = askedOnce(candidates([pod('DaemonSet'), 1n], [pod('ReplicaSet'), 1n]));
  const { ends, stays } = drainPlan({ policy, state, found, nowNs: 0n });
  expect(ends.map(({ name }) => name)).toEqual(['ReplicaSet']);
  expect(stays.map(({ why }) => why)).toEqual(['the DaemonSet of would start it again on this node']);
});

test('the request for a drain is in its effects and in its evictions', () => {
  const made = run();
  const by = 'uid 0, process 4711 (evictd)';
  const made1 = made.at(1, {}, {}, { request: { ...drain().request, by } });
  expect(made1).toMatchObject([
    { kind: 'drain', by },
    { kind: 'evict', decision: { cause: { reason: 'drain', by } } },
  ]);
  const other = 'uid 7, process 9 (curl)';
  const [uncordon] = made.at(2, {}, {}, { request: { kind: 'uncordon', by: other } });
  expect(uncordon).toMatchObject({ kind: 'drain', event: 'uncordon', by: other });
  expect(uncordon?.kind === 'drain' && drainMessage(uncordon)).toMatch(/^uid 7, process 9 .curl. uncordoned the node; /);
});

test('while evictd evicts no workload at all, a drain has the same workloads, and waits', () => {
  const made = run({ hasWorkloadSource: false });
  expect(made.effects(1, {}, {}, drain())).toEqual(['drain begin 3/3']);
  expect(left(made)).toEqual(['web-1 waits', 'web-2 waits', 'web-3 waits']);
});

test('a waiting drain checks once a second whether a budget permits the next eviction', () => {
  const made = run();
  made.effects(1, {}, {}, drain());
  made.candidates = candidates(...WEB.slice(1), [DB, 1n]);
  expect(made.effects(2, {}, { 1: { processes: 0 } })).toEqual(['killed web-1 0Mi']);
  const { asked } = made;
  expect(made.effects(2.5, {})).toEqual([]);
  expect(made.asked).toBe(asked);
  expect(made.dueAtNs).toBe(3n * SECOND);
  made.candidates = candidates(...WEB, [DB, 1n]);
  expect(made.effects(3, {})).toEqual(['evict web-2 grace 5']);
});

test('while nothing changes a drain checks less and less often, at least every 10 s', () => {
  const made = run();
  made.effects(1, {}, {}, drain());
  made.candidates = candidates(...WEB.slice(1), [DB, 1n]);
  made.effects(2, {}, { 1: { processes: 0 } });
  const looks: number[] = [];
  for (let at = 2; at < 200; at = Number(made.dueAtNs) / 1e9) {
    looks.push(at);
    made.effects(at, {});
  }
  const gaps = looks.slice(1).map((at, index) => at - (looks[index] ?? 0));
  expect([gaps[0], gaps.at(-1)]).toEqual([1, 10]);
  expect(made.asked).toBe(looks.length + 1);
  made.candidates = candidates(...WEB, [DB, 1n]);
  expect(made.effects(Number(made.dueAtNs) / 1e9, {})).toEqual(['evict web-2 grace 5']);
  expect(Number((made.state.drain?.changedNs ?? 0n) / SECOND)).toBeGreaterThan(200);
});

test('a check after an outcome reads only the processes of the next victims, and the next check reads the others', () => {
  const made = run({ disruptionBudgets: [] });
  const many = Array.from({ length: 40 }, (_, at) => [workload(`w${String(at)}`), 1n] as [Workload, bigint]);
  const asked: string[] = [];
  const veto = ({ name }: Workload): Protection | undefined => {
    asked.push(name);
    return name === 'w39' ? { kind: 'vacant' } : undefined;
  };
  made.candidates = { ...candidates(...many), veto };
  made.effects(1, {}, {}, drain());
  expect(names(made)).toHaveLength(39);
  asked.length = 0;
  expect(made.effects(1.5, {}, { 1: { processes: 0 } })).toEqual(['killed w0 0Mi', 'evict w38 grace 5']);
  expect(asked).toEqual(['w38']);
  made.effects(3, {});
  expect(asked).toHaveLength(7);
});

test('a timeout ends the drain, and evictions with SIGTERM sent are finished', () => {
  const made = run();
  made.effects(1, {}, {}, drain(2));
  expect(made.effects(3, {}, { 1: {} })).toEqual(['drain end timeout 3/3']);
  expect(made.effects(6, {}, { 1: {} })).toEqual(['escalate: grace period over']);
  expect(made.effects(7, {}, { 1: { processes: 0 } })).toEqual(['killed web-1 0Mi']);
  expect(made.state.drain?.over).toBe('timeout');
});

test('a drain tries again to evict a workload that could not be evicted', () => {
  const made = run({ disruptionBudgets: [] });
  made.candidates = candidates(...WEB.slice(0, 1));
  made.effects(1, {}, {}, drain());
  expect(made.effects(2, {}, { 1: { error: 'EPERM' } })).toEqual(['failed web-1 0Mi']);
  expect(left(made)).toEqual(['web-1 waits']);
  expect(made.effects(63, {})).toEqual(['evict web-1 grace 5']);
});

test('an outcome counts also in a step with a signal for another workload', () => {
  const made = run({ disruptionBudgets: [] });
  made.candidates = candidates(...WEB.slice(0, 2));
  made.effects(1, {}, {}, drain());
  expect(made.effects(6, {}, { 1: { error: 'EPERM' }, 2: {} })).toEqual(['failed web-1 0Mi', 'escalate: grace period over']);
  made.effects(7, {}, { 2: {} });
  expect(names(made)).toEqual(['web-1', 'web-2']);
});

const RUNTIME = { podId: 'p', containers: [], isPod: true, labels: {}, byKubelet: false };
const POD = { uid: 'p', namespace: 'default', name: 'pod', labels: {}, priority: 0 };

test.each([
  ['a container runtime', 'unix:///run/cri.sock', { runtime: { ...RUNTIME, endpoint: 'unix:///run/cri.sock' } }],
  ['an API server', API_SERVER, { kubernetes: POD }],
])('%s that answers after the drain began: the drain adds its containers, and no other workload', (_, endpoint, part) => {
  const made = run({ disruptionBudgets: [] });
  const pod = [workload('default/pod', part), 1n] as [Workload, bigint];
  made.candidates = { ...candidates(), awaitedRuntimes: [endpoint] };
  expect(made.effects(1, {}, {}, drain())).toEqual(['drain begin 0/0']);
  expect(drainPlan({ policy: made.policy, state: made.state, found: askedOnce(made.candidates), nowNs: 0n }).waits).toEqual([
    `${endpoint} has not answered: the drain waits for its containers`,
  ]);
  expect(made.effects(2, {})).toEqual([]);
  made.candidates = candidates(pod, ...WEB);
  expect(made.effects(3, {})).toEqual(['evict default/pod grace 5']);
  expect(made.effects(4, {}, { 1: { processes: 0 } })).toEqual(['killed default/pod 0Mi', 'drain end drained 0/1']);
});

test('a workload that ends by itself is done; uncordon ends the drain, and a second uncordon changes nothing', () => {
  const made = run();
  made.effects(1, {}, {}, drain());
  expect(made.effects(1.5, {}, {}, drain(1))).toEqual([]);
  made.candidates = candidates(...WEB.slice(0, 2));
  made.effects(3, {});
  expect(left(made)).toEqual(['web-1', 'web-2 waits']);
  made.candidates = { ...made.candidates, veto: ({ name }) => (name === 'web-2' ? { kind: 'vacant' } : undefined) };
  made.effects(4, {});
  expect(left(made)).toEqual(['web-1']);
  expect(made.effects(5, {}, {}, { request: { kind: 'uncordon' } })).toEqual(['drain uncordon 1/3']);
  expect(made.state.drain).toBeUndefined();
  expect(made.effects(6, {})).toEqual([]);
});

test('a workload that has become protected stays, and no workload is examined twice in a step', () => {
  const made = run({ disruptionBudgets: [{ ...two, limit: { ...two.limit, value: 0 } }] });
  made.candidates = { ...made.candidates, awaited: () => true };
  made.effects(1, {}, {}, drain());
  const changed = new Set(['web-2']); // a veto says so once
  const examined: string[] = [];
  const veto = ({ name }: Workload): Protection | undefined => {
    examined.push(name);
    return changed.delete(name) ? { kind: 'changed' } : undefined;
  };
  made.candidates = { ...candidates(...WEB, [DB, 1n]), veto };
  expect(made.effects(2, {})).toEqual(['evict web-1 grace 5', 'evict web-3 grace 5']);
  expect(examined.sort()).toEqual(['web-1', 'web-2', 'web-3']);
});

test('a workload that has changed when the drain begins is read again, and evicted if it still may be', () => {
  const made = run({ disruptionBudgets: [] });
  const changed = new Set(['web-2']);
  made.candidates = {
    ...made.candidates,
    veto: ({ name }): Protection | undefined => (changed.delete(name) ? { kind: 'changed' } : undefined),
  };
  const request = { ...drain().request, ends: WEB.map(([one]) => drained(one)), awaited: [] };
  expect(made.effects(1, {}, {}, { request })).toEqual(['drain begin 3/3', 'evict web-1 grace 5', 'evict web-3 grace 5']);
  expect(made.effects(2, {})).toEqual(['evict web-2 grace 5']);
});

test('a unit that systemd was asked about is not evicted after the drain is over', () => {
  const made = run({ disruptionBudgets: [] });
  made.candidates = { ...made.candidates, awaited: () => true };
  expect(made.effects(1, {}, {}, drain())).toEqual(['drain begin 3/3']);
  expect(made.state.disruptions.size).toBe(3);
  made.candidates = candidates(...WEB);
  expect(made.effects(1.1, {}, {}, { request: { kind: 'uncordon' } })).toEqual(['drain uncordon 3/3']);
  expect(made.state.disruptions.size).toBe(0);
  const late = run({ disruptionBudgets: [] });
  late.candidates = { ...late.candidates, awaited: () => true };
  late.effects(1, {}, {}, drain(1));
  late.candidates = candidates(...WEB);
  expect(late.effects(2, {})).toEqual(['drain end timeout 3/3']);
});

test('a workload that cannot be read for a moment is not done: a container after a restart, a cgroup with a read error', () => {
  for (const hidden of [
    { awaitedRuntimes: ['/run/containerd.sock'] },
    { unreadable: [{ name: 'web-2', path: '/web-2', reason: 'EIO' }] },
  ]) {
    const made = run();
    made.candidates = candidates(...WEB.slice(0, 2));
    made.effects(1, {}, {}, drain());
    made.candidates = { ...candidates(...WEB.slice(0, 1)), ...hidden };
    made.effects(2, {});
    expect(names(made)).toEqual(['web-1', 'web-2']);
    made.candidates = candidates(...WEB.slice(0, 1));
    made.effects(3, {});
    expect(names(made)).toEqual(['web-1']);
  }
});

test('the number of workloads long ago is not the number expected now', () => {
  const made = run();
  made.state = { ...made.state, disruptedBudgets: new Map([['web', { expected: 9, atNs: 0n }]]) };
  made.policy = policy([], { disruptionBudgets: [{ ...two, limit: { ...two.limit, of: 'maxUnavailable' } }] });
  made.effects(4000, {}, {}, drain());
  expect(made.state.disruptedBudgets).toEqual(new Map([['web', { expected: 3, atNs: 4000n * SECOND }]]));
});

test('cordon evicts no workload', () => {
  const made = run();
  expect(made.effects(1, {}, {}, { request: { kind: 'cordon' } })).toEqual(['drain cordon 0/0']);
  expect(made.effects(9, {})).toEqual([]);
  expect(made.state.drain?.over).toBe('cordoned');
});

test('a drain evicts the least important workload first', () => {
  const made = run({ disruptionBudgets: [{ ...two, match: {} }] });
  made.candidates = candidates([workload('a', { priority: 5 }), 1n], [workload('b', { priority: -1 }), 1n], [workload('c'), 1n]);
  expect(made.effects(1, {}, {}, drain())).toEqual(['drain begin 3/3', 'evict b grace 5']);
});
