import { expect, onTestFinished, test } from 'vitest';
import type { ReportedNode } from '../../../src/features/kubernetes/reports/reported-node.js';
import { initialState, type State } from '../../../src/core/decide/state.js';
import type { StepInput } from '../../../src/core/decide/step-input.js';
import type { ConditionType } from '../../../src/core/signal/signal.js';
import { ClusterReports } from '../../../src/features/kubernetes/reports/cluster-reports.js';
import { NodeReport, type NodeReportParts } from '../../../src/features/kubernetes/reports/node-report.js';
import { input, observations, SECOND } from '../../core/support.js';
import { startKubelet } from '../../support/kubernetes/kubelet.js';
import { eventually } from '../../support/eventually.js';
import { cluster, type Cluster } from './cluster.js';
import { request, softEviction } from './pod.js';

const TAINT = { key: 'evictd.dev/memory-pressure', value: '', effect: 'NoSchedule' } as const;
const OTHER = { key: 'team', value: 'a', effect: 'NoExecute' };

type Config = Partial<NodeReportParts['config']>;

/** An evictd by what it has saved. */
function report(
  { ask }: Pick<Cluster, 'ask'>,
  config: Config = {},
  saved: { section?: unknown } = {},
  more: Partial<NodeReportParts> = {},
) {
  const log: string[] = [];
  const note = (line: string): number => log.push(line);
  const keep = (value: unknown): void => {
    saved.section = value;
  };
  const made = new NodeReport({
    ...{
      ask,
      nodeName: 'node-1',
      config: { kubeconfig: '/kubeconfig', taint: TAINT, conditions: 'own', ...config },
      isLeaving: false,
      bootId: 'boot-1',
    },
    ...{
      section: { before: saved.section as ReportedNode | undefined, keep },
      log: { info: note, warn: note },
      pauseMs: () => 5,
      conflictMs: 5,
      ...more,
    },
  });
  onTestFinished(() => {
    made.close();
  });
  const publish = (seconds: number, state: Partial<State>, asked: Partial<StepInput> = {}): void => {
    const nowNs = BigInt(seconds) * SECOND;
    made.stepped({ state: { ...initialState, ...state }, input: { ...input(nowNs, observations(nowNs, {})), ...asked } });
  };
  const step = (seconds: number, ...conditions: ConditionType[]): void => {
    publish(seconds, { conditions });
  };
  return { report: made, step, publish, log };
}

const published = (made: NodeReport) => made.published(60_000);
const nodeOf = ({ server }: Cluster) => server.store.get('nodes', undefined, 'node-1');
const taintsOf = (at: Cluster) => nodeOf(at)?.spec?.taints as object[] | undefined;
const conditionsOf = (at: Cluster) =>
  (nodeOf(at)?.status?.conditions ?? []) as { type: string; status: string; lastTransitionTime: string }[];

/** Another program, which keeps a condition and a taint of its own. */
function other(at: Cluster): void {
  const node = nodeOf(at);
  if (node === undefined) throw new Error('there is no node');
  const conditions = [{ type: 'Ready', status: 'True' }];
  at.server.store.put('nodes', { ...node, spec: { taints: [OTHER] }, status: { conditions } });
}

test('memory pressure sets own conditions and the taint beside those of others, and removes both at its end', async () => {
  const at = await cluster();
  other(at);
  const { report: made, step } = report(at);
  step(1, 'MemoryPressure');
  await published(made);
  expect(taintsOf(at)).toEqual([OTHER, { key: TAINT.key, effect: 'NoSchedule', timeAdded: expect.any(String) as string }]);
  await eventually('its conditions are published', () => conditionsOf(at).length === 4);
  expect(conditionsOf(at)).toMatchObject([
    { type: 'Ready', status: 'True' },
    { type: 'EvictdMemoryPressure', status: 'True', reason: 'EvictdHasInsufficientMemory' },
    { type: 'EvictdDiskPressure', status: 'False', reason: 'EvictdHasNoDiskPressure' },
    { type: 'EvictdPIDPressure', status: 'False', reason: 'EvictdHasSufficientPID' },
  ]);
  step(2);
  await eventually('it is over', () => conditionsOf(at)[1]?.status === 'False');
  expect(taintsOf(at)).toEqual([OTHER]);
});

test('a heartbeat after five minutes keeps the transition time, and a tick without a change sends nothing', async () => {
  const at = await cluster();
  const { report: made, step } = report(at);
  step(1);
  await eventually('its conditions are published', () => conditionsOf(at).length === 3);
  const before = conditionsOf(at).map(({ lastTransitionTime }) => lastTransitionTime);
  step(2);
  made.skipped(299n * SECOND);
  await published(made);
  const sent = at.server.received.length;
  made.skipped(301n * SECOND);
  await eventually('it is sent again', () => at.server.received.length === sent + 2);
  const { body } = at.server.received.at(-1) ?? {};
  expect(JSON.stringify(body)).toContain('lastHeartbeatTime');
  expect(JSON.stringify(body)).not.toContain('lastTransitionTime');
  expect(conditionsOf(at).map(({ lastTransitionTime }) => lastTransitionTime)).toEqual(before);
});

test('taints that another program changes at the same time are kept', async () => {
  const at = await cluster();
  let edits = 0;
  at.server.instead = ({ method }) => {
    const node = nodeOf(at);
    if (method !== 'PATCH' || edits === 3 || node === undefined) return undefined;
    const taints = [...(taintsOf(at) ?? []), { key: `other-${String(edits++)}`, effect: 'NoSchedule' }];
    at.server.store.put('nodes', { ...node, spec: { taints } });
    return undefined;
  };
  const { report: made, step } = report(at, { conditions: 'none' });
  step(1, 'MemoryPressure');
  await published(made);
  expect(taintsOf(at)?.map((taint) => (taint as typeof TAINT).key)).toEqual(['other-0', 'other-1', 'other-2', TAINT.key]);
});

test('conditions and taints of evictd stay when the kubelet rewrites MemoryPressure and its taint', async () => {
  const at = await cluster();
  other(at);
  onTestFinished(startKubelet(at.server));
  const { report: made, step } = report(at);
  step(1, 'MemoryPressure');
  await published(made);
  const hasTaint = (key: string) => JSON.stringify(taintsOf(at)).includes(`"${key}"`);
  const ofKubelet = () => conditionsOf(at).find(({ type }) => type === 'MemoryPressure')?.status;
  const node = nodeOf(at);
  if (node)
    at.server.store.put('nodes', { ...node, status: { conditions: [...conditionsOf(at), { type: 'MemoryPressure', status: 'True' }] } });
  await eventually('the taint of the kubelet', () => hasTaint('node.kubernetes.io/memory-pressure'));
  step(400, 'MemoryPressure'); // a heartbeat meanwhile
  await eventually('the kubelet has rewritten its condition', () => ofKubelet() === 'False');
  await eventually('its taint is gone', () => !hasTaint('node.kubernetes.io/memory-pressure'));
  expect([hasTaint(TAINT.key), hasTaint(OTHER.key)]).toEqual([true, true]);
  expect(conditionsOf(at)).toContainEqual(expect.objectContaining({ type: 'EvictdMemoryPressure', status: 'True' }));
  expect(JSON.stringify(at.server.received.map(({ body }) => body ?? ''))).not.toContain('"MemoryPressure"');
});

test("a kubelet's credential may not change taints, which is logged once, and the conditions are still published", async () => {
  const at = await cluster({ token: 'kubelet-token' });
  const { report: made, step, log } = report(at, { conditions: 'kubelet' });
  step(1, 'MemoryPressure');
  await published(made);
  expect(conditionsOf(at)).toHaveLength(3);
  step(400, 'MemoryPressure');
  await eventually('a heartbeat', () => at.server.received.filter(({ path }) => path.endsWith('/status')).length === 2);
  expect(conditionsOf(at)[0]).toMatchObject({ type: 'MemoryPressure', status: 'True', reason: 'KubeletHasInsufficientMemory' });
  expect(log).toEqual([expect.stringContaining('does not let evictd change its taint: it answers 403') as string]);
});

test('an admission policy that denies the taint is logged once, and the conditions are still published', async () => {
  const at = await cluster();
  at.server.instead = ({ method, path }) => {
    const message = 'evictd may only change its own taints';
    return method === 'PATCH' && path.endsWith('/node-1') ? { code: 422, body: { kind: 'Status', message } } : undefined;
  };
  const { report: made, step, log } = report(at);
  step(1, 'MemoryPressure');
  await published(made);
  expect(conditionsOf(at)).toHaveLength(3);
  step(2);
  step(3, 'MemoryPressure');
  await published(made);
  expect(log).toEqual([expect.stringContaining('does not let evictd change its taint: it answers 422: evictd may only') as string]);
});

test('a server that is back gets the newest state', async () => {
  const at = await cluster();
  await at.server.away();
  const { step, log } = report(at);
  step(1, 'MemoryPressure');
  await eventually('it has failed', () => log.length > 0);
  step(2, 'DiskPressure');
  await at.server.back();
  await eventually('it is published', () => conditionsOf(at).length === 3);
  expect(conditionsOf(at).map(({ status }) => status)).toEqual(['False', 'True', 'False']);
  expect(taintsOf(at) ?? []).toEqual([]);
});

const CORDONED: Partial<State> = { drain: { beganNs: 0n, pending: [], total: 0, lookedNs: 0n, over: 'cordoned' } };
const isCordoned = (at: Cluster) => nodeOf(at)?.spec?.unschedulable;

test('a new configuration removes the taints and conditions of the old one, and one without an API server removes all', async () => {
  const at = await cluster();
  other(at);
  const saved = {};
  const first = report(at, {}, saved);
  first.publish(1, { ...CORDONED, conditions: ['MemoryPressure'] });
  await published(first.report);
  first.report.close();
  expect([taintsOf(at)?.length, conditionsOf(at).length, isCordoned(at)]).toEqual([2, 5, true]);
  const next = { key: 'team/short', value: '', effect: 'NoSchedule' } as const;
  const second = report(at, { taint: next, conditions: 'none' }, saved);
  second.publish(1, { ...CORDONED, conditions: ['MemoryPressure'] });
  await published(second.report);
  second.report.close();
  expect(taintsOf(at)).toMatchObject([OTHER, { key: next.key }]);
  expect(conditionsOf(at).map(({ type }) => type)).toEqual(['Ready', 'EvictdCordoned']);
  const last = report(at, { taint: undefined, conditions: 'none' }, saved, { isLeaving: true });
  last.publish(1, { ...CORDONED, conditions: ['MemoryPressure'] });
  await published(last.report);
  expect([taintsOf(at), conditionsOf(at).length, isCordoned(at)]).toEqual([[OTHER], 1, undefined]);
  expect(saved).toEqual({ section: undefined });
  const sent = at.server.received.length;
  last.report.skipped(400n * SECOND);
  await published(last.report);
  expect(at.server.received).toHaveLength(sent);
});

test('without permission the taint of an earlier configuration stays remembered', async () => {
  const at = await cluster({ token: 'kubelet-token' });
  const stale = { key: 'team/short', value: '', effect: 'NoSchedule' };
  const node = nodeOf(at);
  if (node) at.server.store.put('nodes', { ...node, spec: { taints: [stale] } });
  const saved = { section: { kubeconfig: '/kubeconfig', nodeName: 'node-1', taints: [stale] } };
  const { report: made, step } = report(at, { taint: undefined }, saved);
  step(1);
  await published(made);
  expect(saved.section.taints).toEqual([stale]);
});

test('a cordoned node is unschedulable in the cluster, also for a kubelet, and evictd uncordons only its own cordon', async () => {
  const at = await cluster({ token: 'kubelet-token' });
  const { report: made, publish } = report(at, { taint: undefined, conditions: 'none' });
  publish(1, CORDONED);
  await published(made);
  expect([isCordoned(at), conditionsOf(at)[0]?.type]).toEqual([true, 'EvictdCordoned']);
  publish(2, {});
  await published(made);
  expect([isCordoned(at), conditionsOf(at)]).toEqual([undefined, []]);
  const node = nodeOf(at);
  if (node) at.server.store.put('nodes', { ...node, spec: { unschedulable: true } });
  publish(3, CORDONED);
  await published(made);
  publish(4, {});
  await published(made);
  expect([isCordoned(at), conditionsOf(at)]).toEqual([true, []]);
});

test('a cordon that was refused is tried again with the next report', async () => {
  const at = await cluster();
  let isDenied = true;
  at.server.instead = ({ method, path, body }) =>
    isDenied && method === 'PATCH' && path.endsWith('/node-1') && JSON.stringify(body).includes('unschedulable')
      ? { code: 403, body: { kind: 'Status', message: 'no' } }
      : undefined;
  const { report: made, publish, log } = report(at);
  publish(1, CORDONED);
  await published(made);
  expect([isCordoned(at), log]).toEqual([undefined, [expect.stringContaining('change that it is cordoned: it answers 403') as string]]);
  isDenied = false;
  made.skipped(400n * SECOND);
  await published(made);
  expect(isCordoned(at)).toBe(true);
});

test('after a restart evictd does not cordon again what an operator has uncordoned with kubectl, but does at the next cordon', async () => {
  const at = await cluster();
  const saved: { section?: unknown } = {};
  const first = report(at, {}, saved);
  first.publish(1, CORDONED);
  await published(first.report);
  first.report.close();
  const node = nodeOf(at);
  if (node) at.server.store.put('nodes', { ...node, spec: {} });
  const next = report(at, {}, saved);
  next.publish(1, CORDONED);
  await published(next.report);
  expect(isCordoned(at)).toBeUndefined();
  next.publish(2, {});
  await published(next.report);
  expect(saved.section).toMatchObject({ hasCordoned: false });
  next.publish(3, CORDONED);
  await published(next.report);
  expect([isCordoned(at), saved.section]).toEqual([true, expect.objectContaining({ hasCordoned: true })]);
});

test('after a reboot evictd uncordons the node, and does not cordon again what an operator uncordons with kubectl', async () => {
  const at = await cluster();
  const first = report(at);
  first.publish(1, CORDONED);
  await published(first.report);
  const node = nodeOf(at);
  if (node) at.server.store.put('nodes', { ...node, spec: {} });
  first.report.skipped(400n * SECOND);
  await published(first.report);
  expect(isCordoned(at)).toBeUndefined();
  first.publish(401, {});
  first.publish(402, CORDONED);
  await published(first.report);
  expect(isCordoned(at)).toBe(true);
  first.report.close();
  const next = report(at, {}, {}, { bootId: 'boot-2' });
  next.step(1);
  await published(next.report);
  expect([isCordoned(at), conditionsOf(at).length]).toEqual([undefined, 3]);
});

test('the cordon of a node that is another machine, or whose kubelet has not reported since the reboot, waits for the report', async () => {
  const at = await cluster();
  const first = report(at);
  first.publish(1, CORDONED);
  await published(first.report);
  first.report.close();
  const runs = (bootID: string): void => {
    const node = nodeOf(at);
    const versions = [
      'machineID',
      'systemUUID',
      'kernelVersion',
      'osImage',
      'containerRuntimeVersion',
      'kubeletVersion',
      'kubeProxyVersion',
    ];
    const others = [...versions, 'operatingSystem', 'architecture'].map((key) => [key, '']);
    const nodeInfo = { ...(Object.fromEntries(others) as object), bootID };
    if (node) at.server.store.put('nodes', { ...node, status: { ...node.status, nodeInfo } });
  };
  runs('boot-1');
  const next = report(at, {}, {}, { bootId: 'boot-2' });
  next.step(1);
  await eventually('it says so', () => next.log.length > 0);
  expect([isCordoned(at), next.log]).toEqual([true, [expect.stringContaining('status.nodeInfo.bootID') as string]]);
  expect(JSON.stringify(conditionsOf(at))).toContain('in boot boot-1');
  runs('boot-2');
  await eventually('it is uncordoned', () => isCordoned(at) === undefined);
});

test('the saved state of this boot was lost: the node stays cordoned, over restarts, until an operator asks', async () => {
  const at = await cluster();
  const first = report(at);
  first.publish(1, CORDONED);
  await published(first.report);
  first.report.close();
  const saved: { section?: unknown } = {};
  const bare = { taint: undefined, conditions: 'none' } as const;
  for (const _ of ['first', 'second']) {
    const next = report(at, bare, saved);
    next.publish(1, {});
    await published(next.report);
    next.publish(2, { conditions: ['MemoryPressure'] });
    await published(next.report);
    expect([isCordoned(at), conditionsOf(at).map(({ type }) => type)]).toEqual([true, expect.arrayContaining(['EvictdCordoned'])]);
    expect(next.log).toEqual([expect.stringContaining('node node-1 stays cordoned') as string]);
    next.report.close();
  }
  const asked = report(at, bare, saved);
  asked.publish(1, {}, { request: { kind: 'uncordon' } });
  await published(asked.report);
  expect([isCordoned(at), conditionsOf(at)]).toEqual([undefined, []]);
  expect([asked.log, saved.section]).toEqual([[], expect.objectContaining({ isDrainKnown: true })]);
});

test('after a loss of the saved state, on a node that is not cordoned or that kubectl uncordons, the next cordon is undone', async () => {
  const at = await cluster();
  const saved: { section?: unknown } = {};
  const { report: made, publish } = report(at, {}, saved);
  for (const [seconds, cordoned] of [1, 2, 3].entries()) {
    publish(seconds + 1, cordoned === 2 ? CORDONED : {});
    await published(made);
    expect(isCordoned(at)).toBe(cordoned === 2 ? true : undefined);
    expect(saved.section).toMatchObject({ isDrainKnown: cordoned > 1 });
  }
  const lost = report(at);
  const node = nodeOf(at);
  const status = { conditions: [{ type: 'EvictdCordoned', status: 'True' }] };
  if (node) at.server.store.put('nodes', { ...node, status });
  lost.step(1);
  await published(lost.report);
  expect(conditionsOf(at).map(({ type }) => type)).not.toContain('EvictdCordoned');
  expect(lost.log).toEqual([]);
});

const UNUSED = {
  restored: { state: initialState, signals: new Map(), abandoned: new Map() },
  bootId: 'boot-1',
  section: { before: [], keep: () => undefined },
  metrics: { budgetViolated: () => undefined, podEvictionRefused: () => undefined },
  onRestart: () => undefined,
};

test.each<[credential: string, token: string, left: boolean, isDrainKnown?: boolean, cordonBoot?: string]>([
  ['that may change all nodes, are removed', 'agent-token', false],
  ['that may do so, are removed but for a cordon that evictd does not know of', 'agent-token', false, false],
  ['that may do so, are removed but for a cordon of another boot', 'agent-token', false, true, 'boot-0'],
  ["of a kubelet, stay, and one warning names kubectl's commands", 'kubelet-token', true],
  ['that may not read other nodes, stay', 'reads-own-token', true],
])(
  'with another node name the marks on the former node, with a credential %s',
  async (_credential, token, isLeft, isDrainKnown = true, cordonBoot = 'boot-1') => {
    const at = await cluster({ token: token === 'reads-own-token' ? 'agent-token' : token });
    const refusal = { code: 403, body: { kind: 'Status', message: 'may only read its own node' } };
    if (token === 'reads-own-token') at.server.instead = ({ path }) => (path.endsWith('/node-0') ? refusal : undefined);
    const conditions = ['Ready', 'EvictdMemoryPressure', 'EvictdCordoned'].map((type) => ({
      type,
      status: 'True',
      message: `evictd: an operator has cordoned the node with evictd in boot ${cordonBoot}`,
    }));
    const former = { metadata: { name: 'node-0' }, spec: { taints: [OTHER, TAINT], unschedulable: true }, status: { conditions } };
    at.server.store.put('nodes', former);
    const saved: { section?: unknown } = { section: { kubeconfig: '/former', nodeName: 'node-0', taints: [TAINT], isDrainKnown } };
    const keep = (value: unknown): void => {
      saved.section = value;
    };
    const log: string[] = [];
    const credentials: unknown[] = [];
    const warn = (message: string, { hint = '' }: { readonly hint?: string } = {}): number => log.push(`${message} (${hint})`);
    const config = {
      kubeconfig: '/kubeconfig',
      nodeName: 'node-1',
      budgets: 'respect',
      taint: TAINT,
      conditions: 'none',
      kubelet: 'present',
    } as const;
    const reports = new ClusterReports(
      { ask: (kubeconfig) => (credentials.push(kubeconfig), at.ask) },
      { nodeName: 'node-1', config, isLeaving: false, log: { info: warn, warn } },
      { ...UNUSED, nodeSection: { before: [saved.section as ReportedNode], keep } },
    );
    onTestFinished(() => {
      reports.close();
    });
    expect(saved.section).toMatchObject([{ nodeName: 'node-1' }, { nodeName: 'node-0', taints: [TAINT] }]);
    expect(credentials).toEqual(['/kubeconfig', '/former']);
    const step = { wake: { source: 'tick', atNs: 0n }, input: input(SECOND, undefined), state: initialState, effects: [] };
    reports.stepped(step as unknown as Parameters<typeof reports.stepped>[0]);
    await eventually('the former node is done', () => (saved.section as unknown[]).length === 1);
    const now = at.server.store.get('nodes', undefined, 'node-0');
    const isCordonLeft = isLeft || !isDrainKnown || cordonBoot !== 'boot-1';
    expect(now?.spec).toEqual(isLeft ? former.spec : { taints: [OTHER], ...(isCordonLeft && { unschedulable: true }) });
    const types = ['Ready', ...(isLeft ? ['EvictdMemoryPressure'] : []), ...(isCordonLeft ? ['EvictdCordoned'] : [])];
    expect((now?.status?.conditions as { type: string }[]).map(({ type }) => type)).toEqual(types);
    const byHand =
      'kubectl taint node node-0 evictd.dev/memory-pressure:NoSchedule-; and if evictd has cordoned it: kubectl uncordon node-0';
    const stays = 'node node-0 stays cordoned: this evictd does not know';
    expect(log).toEqual(isCordonLeft ? [expect.stringContaining(isLeft ? byHand : stays) as string] : []);
  },
);

test('a read of the node and the first patch take their tokens of the rate limit together', async () => {
  const at = await cluster();
  const tokens: unknown[] = [];
  const ask: Cluster['ask'] = (call) => {
    tokens.push([call.method, call.tokens]);
    return at.ask(call);
  };
  const { report: made, step } = report({ ask });
  step(1, 'MemoryPressure');
  await published(made);
  expect(tokens).toEqual([
    ['GET', 2],
    ['PATCH', 0],
    ['PATCH', 1],
  ]);
});

test('the taint is set before a soft eviction', async () => {
  const at = await cluster();
  const config = {
    kubeconfig: undefined,
    nodeName: undefined,
    budgets: 'respect',
    taint: TAINT,
    conditions: 'none',
    kubelet: 'present',
  } as const;
  const nothing = (): undefined => undefined;
  const log = { info: nothing, warn: nothing };
  const asked: string[] = [];
  const ask: Cluster['ask'] = async (call) => {
    asked.push(`${call.method} ${call.path}`);
    await new Promise((resolve) => setImmediate(resolve));
    return { status: 200, body: nodeOf(at) };
  };
  const reports = new ClusterReports(
    { ask: () => ask },
    { nodeName: 'node-1', config, isLeaving: false, log },
    { ...UNUSED, nodeSection: { before: [], keep: nothing } },
  );
  onTestFinished(() => {
    reports.close();
  });
  const decision = softEviction();
  const answer = reports.request(request(decision));
  const state = { ...initialState, conditions: ['MemoryPressure' as const] };
  const step = { wake: { source: 'tick', atNs: 0n }, input: input(SECOND, undefined), state, effects: [{ kind: 'evict', decision }] };
  reports.stepped(step as unknown as Parameters<typeof reports.stepped>[0]);
  await eventually('it is answered', () => answer() === 'accepted');
  const [node, pod] = ['/api/v1/nodes/node-1', '/api/v1/namespaces/shop/pods/web'];
  expect(asked.filter((call) => !call.includes('/events'))).toEqual([`GET ${node}`, `PATCH ${node}`, `POST ${pod}/eviction`]);
});

test('the test server refuses what a real one refuses: a malformed event, condition, eviction and taint', async () => {
  const at = await cluster();
  const statusOf = async (method: 'POST' | 'PATCH', path: string, body: object) =>
    (await at.ask({ method, path, body, contentType: 'application/merge-patch+json', withinMs: 60_000 })).status;
  const event = {
    metadata: { name: 'web.1' },
    eventTime: '2026-01-02T03:04:05.000000Z',
    regarding: { kind: 'Pod', namespace: 'shop', name: 'web' },
    ...{ reportingController: 'evictd.dev/evictd', reportingInstance: 'n', type: 'Warning', reason: 'Evicted', action: 'Evict', note: 'x' },
  };
  const post = (more: object) => statusOf('POST', '/apis/events.k8s.io/v1/namespaces/shop/events', { ...event, ...more });
  expect(await post({ eventTime: undefined })).toBe(422);
  expect(await post({ eventTime: '2026-01-02T03:04:05Z' })).toBe(422);
  expect(await post({ note: 'x'.repeat(1_025) })).toBe(422);
  expect(await post({ regarding: { kind: 'Node', name: 'node-1' } })).toBe(422);
  expect(await post({ reporter: 'evictd' })).toBe(400);
  expect(await post({})).toBe(201);
  const [node, pod] = ['/api/v1/nodes/node-1', '/api/v1/namespaces/shop/pods/web'];
  expect(await statusOf('PATCH', `${node}/status`, { status: { conditions: [{ type: 'EvictdMemoryPressure' }] } })).toBe(422);
  expect(await statusOf('PATCH', node, { spec: { taints: [{ key: 'a' }] } })).toBe(422);
  expect(await statusOf('PATCH', `${pod}/status`, { status: { conditions: [{ type: 'A', status: 'True', because: 'x' }] } })).toBe(400);
  expect(await statusOf('POST', `${pod}/eviction`, { metadata: { name: 'web' }, deleteOptions: { gracePeriodSeconds: '30' } })).toBe(422);
  expect(at.pod()?.metadata).not.toHaveProperty('deletionTimestamp');
});
