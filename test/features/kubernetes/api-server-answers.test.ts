import { request } from 'node:https';
import { expect, test } from 'vitest';
import { evictionAnswer } from '../../../src/core/kubernetes/eviction-answer.js';
import { evictCall } from '../../../src/core/kubernetes/pod-call.js';
import { budgetsPath, violatedBudgets } from '../../../src/core/kubernetes/violated-budgets.js';
import { aPod } from '../../support/kubernetes/a-pod.js';
import { NODE } from '../../support/kubernetes/api-server.js';
import { cluster, type Cluster } from './cluster.js';
import { PART } from './pod.js';

// What the API server of the tests answers is what evictd is built upon: the answers of a kube-apiserver v1.36.2.

type Call = Parameters<Cluster['client']['ask']>[0];

const WITHIN = { withinMs: 10_000 };
const PODS = `/api/v1/namespaces/${PART.namespace}/pods`;
const POD = `${PODS}/${PART.name}`;
const EVENTS = `/apis/events.k8s.io/v1/namespaces/${PART.namespace}/events`;
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';

async function answered({ client }: Cluster, call: Omit<Call, 'withinMs'>) {
  const { status, body, retryAfterSeconds } = await client.ask({ ...call, ...WITHIN });
  return { status, message: (body as { message?: string }).message ?? '', body, retryAfterSeconds };
}

function budget({ server }: Cluster, spec: Record<string, unknown>, status: object = {}): void {
  const metadata = { name: 'strict', namespace: PART.namespace, generation: 2 };
  server.store.put('poddisruptionbudgets', { metadata, spec, status: { observedGeneration: 2, disruptionsAllowed: 0, ...status } });
}

test.each<[rule: string, spec: Record<string, unknown>, selects: boolean]>([
  ['no selector', {}, false],
  ['null', { selector: null }, false],
  ['an empty selector', { selector: {} }, true],
  ['labels', { selector: { matchLabels: { app: 'web' } } }, true],
  ['other labels', { selector: { matchLabels: { app: 'web', tier: 'a' } } }, false],
  ['In', { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['db', 'web'] }] } }, true],
  ['In with another value', { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['db'] }] } }, false],
  ['NotIn', { selector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] } }, false],
  ['NotIn, a label that is missing', { selector: { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['a'] }] } }, true],
  ['Exists', { selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }, true],
  ['DoesNotExist', { selector: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] } }, false],
  ['an operator that does not exist', { selector: { matchExpressions: [{ key: 'app', operator: 'Is', values: ['web'] }] } }, false],
  [
    'labels and an expression that does not hold',
    { selector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] } },
    false,
  ],
])('server and evictd agree on the selector of a budget: %s', async (_rule, spec, selects) => {
  const at = await cluster();
  budget(at, spec);
  const { body } = await answered(at, { method: 'GET', path: budgetsPath(PART.namespace) });
  expect(violatedBudgets(body, PART.labels)).toEqual(selects ? ['shop/strict'] : []);
  expect((await answered(at, evictCall(PART, 1))).status).toBe(selects ? 429 : 201);
});

test.each<[rule: string, status: object, spec: object, isReady: boolean, code: number, retryAfterSeconds: number | undefined]>([
  ['the budget is not processed yet', { observedGeneration: 1, disruptionsAllowed: 5 }, {}, true, 429, 10],
  ['the budget permits no eviction', { currentHealthy: 1, desiredHealthy: 1 }, {}, true, 429, undefined],
  ['a pod that is not ready, and enough others', { currentHealthy: 1, desiredHealthy: 1 }, {}, false, 201, undefined],
  ['a pod that is not ready, and too few others', { currentHealthy: 0, desiredHealthy: 1 }, {}, false, 429, undefined],
  [
    'a pod that is not ready and may always be evicted',
    { desiredHealthy: 1 },
    { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    false,
    201,
    undefined,
  ],
])('server and evictd agree on a budget: %s', async (_rule, status, spec, isReady, code, retryAfterSeconds) => {
  const at = await cluster();
  const pod = at.pod();
  if (!isReady && pod !== undefined) at.server.store.put('pods', { ...pod, status: { phase: 'Running', conditions: [] } });
  budget(at, { selector: {}, ...spec }, status);
  const answer = await answered(at, evictCall(PART, 1));
  expect([answer.status, answer.retryAfterSeconds]).toEqual([code, retryAfterSeconds]);
  expect(evictionAnswer(answer).kind).toBe(code === 429 ? 'budget' : 'accepted');
  if (code !== 429) return;
  const causes = [{ reason: 'DisruptionBudget', message: expect.stringMatching(/^The disruption budget strict /) as string }];
  const details = { causes, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  expect(answer.body).toMatchObject({ reason: 'TooManyRequests', details });
});

test('two budgets give 500 without a reason, and budgets are checked before the uid', async () => {
  const at = await cluster();
  budget(at, { selector: {} });
  expect((await answered(at, evictCall({ ...PART, uid: 'another' }, 1))).status).toBe(429);
  at.server.store.put('poddisruptionbudgets', { metadata: { name: 'b', namespace: PART.namespace }, spec: { selector: {} }, status: {} });
  const { status, body } = await answered(at, evictCall(PART, 1));
  expect([status, (body as { reason?: string }).reason]).toEqual([500, undefined]);
});

const uid = (value: string) => ({ preconditions: { uid: value } });
const kind = { apiVersion: 'v1', kind: 'DeleteOptions' };

test.each<[rule: string, body: object, code: number, message: RegExp]>([
  ['a grace period that is not a number', { ...kind, gracePeriodSeconds: '1' }, 400, /gracePeriodSeconds.*integer/],
  ['an unknown field', { ...kind, graceSeconds: 1 }, 400, /graceSeconds/],
  ['an unknown propagation', { ...kind, propagationPolicy: 'Now' }, 422, /propagationPolicy/],
  ['an unknown dry run', { ...kind, dryRun: ['Some'] }, 422, /dryRun/],
  ['another uid', { ...kind, ...uid('another') }, 409, /UID in precondition: another, UID in object meta: u-1/],
  ['another version', { ...kind, preconditions: { resourceVersion: '1' } }, 409, /ResourceVersion in precondition: 1/],
  ['a negative grace period, which becomes one second', { ...kind, gracePeriodSeconds: -5 }, 200, /^$/],
])('the answer to DELETE with %s', async (_rule, body, code, message) => {
  const at = await cluster();
  const { status, message: said } = await answered(at, { method: 'DELETE', path: POD, body });
  expect([status, said]).toEqual([code, expect.stringMatching(message)]);
  expect(at.pod()?.metadata.deletionGracePeriodSeconds).toBe(code === 200 ? 1 : undefined);
});

test.each<[rule: string, call: Omit<Call, 'withinMs'>, code: number, message: RegExp]>([
  ['lists all pods', { method: 'GET', path: '/api/v1/pods' }, 403, /cannot list resource "pods"/],
  ['lists the pods of its node', { method: 'GET', path: '/api/v1/pods', query: { fieldSelector: `spec.nodeName=${NODE}` } }, 200, /^$/],
  ['lists those of another node', { method: 'GET', path: '/api/v1/pods', query: { fieldSelector: 'spec.nodeName=node-2' } }, 403, /list/],
  [
    'lists by an unknown field',
    { method: 'GET', path: '/api/v1/pods', query: { fieldSelector: `spec.nodeName=${NODE},spec.x=1` } },
    400,
    /spec\.x/,
  ],
  ['reads a pod of its node', { method: 'GET', path: POD }, 200, /^$/],
  ['reads a pod of another node', { method: 'GET', path: `${PODS}/far` }, 403, /cannot get resource "pods"/],
  [
    'deletes a pod of another node',
    { method: 'DELETE', path: `${PODS}/far` },
    403,
    /can only delete pods with spec.nodeName set to itself/,
  ],
  ['evicts a pod of its node', evictCall({ ...PART, name: 'far' }, 1), 403, /can only evict pods/],
  [
    'sets a condition on a pod of its node',
    { method: 'PATCH', path: `${PODS}/far/status`, contentType: STRATEGIC, body: { status: {} } },
    403,
    /can only update pod status/,
  ],
  ['reads its node', { method: 'GET', path: `/api/v1/nodes/${NODE}` }, 200, /^$/],
  ['reads another node', { method: 'GET', path: '/api/v1/nodes/node-2' }, 403, /cannot get resource "nodes"/],
  ['lists nodes', { method: 'GET', path: '/api/v1/nodes' }, 403, /cannot list resource "nodes"/],
  [
    'cordons its node',
    { method: 'PATCH', path: `/api/v1/nodes/${NODE}`, contentType: MERGE, body: { spec: { unschedulable: true } } },
    200,
    /^$/,
  ],
  [
    'cordons another node',
    { method: 'PATCH', path: '/api/v1/nodes/node-2', contentType: MERGE, body: { spec: { unschedulable: true } } },
    403,
    /is not allowed to modify node "node-2"/,
  ],
  [
    'taints its node',
    {
      method: 'PATCH',
      path: `/api/v1/nodes/${NODE}`,
      contentType: MERGE,
      body: { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } },
    },
    403,
    /is not allowed to modify taints/,
  ],
  [
    'creates an event in the group events.k8s.io',
    { method: 'POST', path: EVENTS, body: { metadata: { name: 'a' } } },
    403,
    /API group "events.k8s.io" in the name/,
  ],
  [
    'creates an event in the core group',
    { method: 'POST', path: EVENTS.replace('apis/events.k8s.io', 'api'), body: { metadata: { name: 'a' } } },
    422,
    /Event /,
  ],
  ['lists budgets', { method: 'GET', path: budgetsPath(PART.namespace) }, 403, /cannot list resource "poddisruptionbudgets"/],
])("a kubelet's credential %s", async (_rule, call, code, message) => {
  const at = await cluster({ token: 'kubelet-token' });
  at.server.store.put('pods', aPod('far', { metadata: { namespace: PART.namespace }, spec: { nodeName: 'node-2' } }));
  at.server.store.put('nodes', { metadata: { name: 'node-2' }, spec: {}, status: {} });
  const { status, message: said } = await answered(at, call);
  expect([status, said]).toEqual([code, expect.stringMatching(message)]);
});

test.each<[rule: string, query: Record<string, string>, code: number, taints: readonly string[]]>([
  ['is refused without a field manager', { force: 'true' }, 422, ['other']],
  ['is refused for taints of another manager', { fieldManager: 'a' }, 409, ['other']],
  ['replaces taints of another manager with force', { fieldManager: 'a', force: 'true' }, 200, ['own']],
])('a server-side apply in YAML %s', async (_rule, query, code, taints) => {
  const at = await cluster();
  at.server.store.put('nodes', { metadata: { name: NODE }, spec: { taints: [{ key: 'other', effect: 'NoSchedule' }] }, status: {} });
  const body = `apiVersion: v1\nkind: Node\nspec:\n  taints: [{ key: own, effect: NoSchedule }]\n`;
  const headers = { authorization: 'Bearer admin-token', 'content-type': 'application/apply-patch+yaml' };
  const { port } = new URL(at.server.url);
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const path = `/api/v1/nodes/${NODE}?${new URLSearchParams(query).toString()}`;
    const options = { port, path, method: 'PATCH', headers, ca: at.server.certificates.ca };
    request(options, (response) => {
      response.resume().on('end', () => {
        resolve(response.statusCode);
      });
    })
      .on('error', reject)
      .end(body);
  });
  expect(status).toBe(code);
  const spec = at.server.store.get('nodes', undefined, NODE)?.spec as { taints: { key: string }[] };
  expect(spec.taints.map(({ key }) => key)).toEqual(taints);
});
