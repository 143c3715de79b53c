import { join } from 'node:path';
import {
  AuthorizationV1Api,
  CoreV1Api,
  EventsV1Api,
  KubeConfig,
  PatchStrategy,
  PolicyV1Api,
  setHeaderOptions,
  V1DeleteOptions,
  V1Eviction,
  V1ObjectMeta,
  V1Preconditions,
  V1ResourceAttributes,
  V1SelfSubjectAccessReview,
  V1SelfSubjectAccessReviewSpec,
  Watch,
  type CoreV1Event,
  type EventsV1Event,
} from '@kubernetes/client-node';
import { expect, onTestFinished, test } from 'vitest';
import { parseTaint } from '../../src/core/disruption/taint.js';
import { coreEventCall, nextEvent, NO_EVENTS } from '../../src/core/kubernetes/event-series.js';
import { conditionPatch, nodePath } from '../../src/core/kubernetes/node-condition-patch.js';
import { cordonPatch, taintPatch } from '../../src/core/kubernetes/node-spec-patch.js';
import { deleteCall, disruptionTarget, evictCall, podStatusCall, readPodCall, type ApiCall } from '../../src/core/kubernetes/pod-call.js';
import { budgetsPath } from '../../src/core/kubernetes/violated-budgets.js';
import { isPermitted } from '../../src/features/kubernetes/access-review.js';
import { ApiClient } from '../../src/features/kubernetes/client/api-client.js';
import { kubeconfigAccess } from '../../src/features/kubernetes/client/kubeconfig.js';
import { ListWatch } from '../../src/features/kubernetes/list-watch.js';
import { aPod } from '../support/kubernetes/a-pod.js';
import { FakeApiServer, NODE, type Received } from '../support/kubernetes/api-server.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { until } from './wait.js';

// client-node makes its requests from the OpenAPI document. For each request of evictd it makes the same one.

const POD = { namespace: 'shop', name: 'web', uid: 'uid-web' };
const NOW = '2026-01-02T03:04:05Z';
const TIME = { ms: Date.parse(NOW), text: '2026-01-02T03:04:05.000000Z' };
const REGARDING = { kind: 'Pod', ...POD } as const;
const EVENT = { regarding: REGARDING, type: 'Warning', reason: 'Evicted', action: 'Evict', note: 'too little memory' } as const;
const SOURCE = { instance: NODE, run: '1' };
const made = <T extends object>(kind: new () => T, fields: Partial<T>): T => Object.assign(new kind(), fields);
const PRECONDITIONS = made(V1Preconditions, { uid: POD.uid });
const CONDITIONS = { names: 'own', conditions: ['MemoryPressure'], isCordoned: false, bootId: 'b' } as const;

/** The two clients of one server, which has a pod, and a node that evictd has cordoned. */
async function clients() {
  const server = await FakeApiServer.start();
  server.store.put('pods', aPod('web', { metadata: { namespace: 'shop' } }));
  const node = server.store.put('nodes', {
    metadata: { name: NODE },
    spec: { taints: [{ key: 'other', effect: 'NoSchedule' }] },
    status: { conditions: [{ type: 'EvictdCordoned', status: 'True' }] },
  });
  const file = server.kubeconfig(join(temporaryDirectory(), 'kubeconfig'));
  const own = new ApiClient(kubeconfigAccess(file));
  const config = new KubeConfig();
  config.loadFromFile(file);
  onTestFinished(async () => {
    own.close();
    await server.away();
  });
  return { server, node, own, config };
}

type Clients = Awaited<ReturnType<typeof clients>>;
type Make = (of: Clients) => Promise<unknown>;

const asked =
  (call: (of: Clients) => ApiCall | undefined): Make =>
  ({ own, ...of }) => {
    const request = call({ own, ...of });
    if (request === undefined) throw new Error('evictd makes no request');
    return own.ask({ ...request, withinMs: 10_000 });
  };
const core = ({ config }: Clients): CoreV1Api => config.makeApiClient(CoreV1Api);
const patchBy = (strategy: string) => setHeaderOptions('Content-Type', strategy);
/** What is equal in both: all that the server acts by. */
const essence = ({ method, path, query, contentType, body, user }: Received) => ({
  ...{ method, path, user, body, query: Object.fromEntries(query) },
  contentType: body === undefined ? '' : contentType.split(';')[0],
});
const body = ({ server }: Clients) => server.received.at(-1)?.body as Record<string, unknown>;

const event = (): ApiCall | undefined => nextEvent(NO_EVENTS, EVENT, SOURCE, TIME).call;
const series = (): ApiCall | undefined => {
  const { state } = nextEvent(NO_EVENTS, EVENT, SOURCE, TIME);
  return nextEvent(state, EVENT, SOURCE, { ms: TIME.ms + 60_000, text: '2026-01-02T03:05:05.000000Z' }).call;
};

const inCore = (call: ApiCall | undefined): ApiCall | undefined => call && coreEventCall(call);

test.each<[what: string, evictd: Make, clientNode: Make]>([
  ['reads a pod', asked(() => readPodCall(POD)), (of) => core(of).readNamespacedPod(POD)],
  [
    'deletes a pod by its uid',
    asked(() => deleteCall(POD, 1)),
    (of) =>
      core(of).deleteNamespacedPod({
        ...POD,
        body: made(V1DeleteOptions, { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 1, preconditions: PRECONDITIONS }),
      }),
  ],
  [
    'asks for an eviction',
    asked(() => evictCall(POD, 30)),
    (of) =>
      core(of).createNamespacedPodEviction({
        ...POD,
        body: made(V1Eviction, {
          ...{ apiVersion: 'policy/v1', kind: 'Eviction' },
          metadata: made(V1ObjectMeta, { namespace: POD.namespace, name: POD.name }),
          deleteOptions: made(V1DeleteOptions, { gracePeriodSeconds: 30, preconditions: PRECONDITIONS }),
        }),
      }),
  ],
  [
    'sets the condition of a pod',
    asked(() => podStatusCall(POD, { conditions: [disruptionTarget('TerminationByKubelet', 'm', NOW)] })),
    (of) => {
      const condition = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message: 'm', lastTransitionTime: NOW };
      const patch = { metadata: { uid: POD.uid }, status: { conditions: [condition] } };
      return core(of).patchNamespacedPodStatus({ ...POD, body: patch }, patchBy(PatchStrategy.StrategicMergePatch));
    },
  ],
  ['reads its node', asked(() => ({ method: 'GET', path: nodePath(NODE) })), (of) => core(of).readNode({ name: NODE })],
  [
    'taints its node',
    asked(({ node }) => taintPatch(node, parseTaint('evictd.dev/memory-pressure:NoSchedule'), [], NOW)),
    (of) => {
      const own = { key: 'evictd.dev/memory-pressure', effect: 'NoSchedule', timeAdded: NOW };
      const { resourceVersion } = of.node.metadata;
      const patch = { metadata: { resourceVersion }, spec: { taints: [{ key: 'other', effect: 'NoSchedule' }, own] } };
      return core(of).patchNode({ name: NODE, body: patch }, patchBy(PatchStrategy.MergePatch));
    },
  ],
  [
    'cordons its node',
    asked(({ node }) => cordonPatch(node, true)),
    (of) => {
      const patch = { metadata: { resourceVersion: of.node.metadata.resourceVersion }, spec: { unschedulable: true } };
      return core(of).patchNode({ name: NODE, body: patch }, patchBy(PatchStrategy.MergePatch));
    },
  ],
  [
    'publishes the conditions of its node',
    asked(({ node }) => conditionPatch(NODE, node, CONDITIONS, NOW)),
    (of) => core(of).patchNodeStatus({ name: NODE, body: body(of) }, patchBy(PatchStrategy.StrategicMergePatch)),
  ],
  [
    'lists budgets',
    asked(() => ({ method: 'GET', path: budgetsPath(POD.namespace) })),
    ({ config }) => config.makeApiClient(PolicyV1Api).listNamespacedPodDisruptionBudget({ namespace: POD.namespace }),
  ],
  [
    'creates an event',
    asked(event),
    ({ config, ...of }) =>
      config
        .makeApiClient(EventsV1Api)
        .createNamespacedEvent({ namespace: POD.namespace, body: body({ config, ...of }) as unknown as EventsV1Event }),
  ],
  [
    'creates an event of the core group',
    asked(() => inCore(event())),
    (of) => core(of).createNamespacedEvent({ namespace: POD.namespace, body: body(of) as unknown as CoreV1Event }),
  ],
  [
    'continues the series of an event of the core group',
    asked(() => inCore(series())),
    (of) => {
      const {
        metadata: { name },
      } = event()?.body as { metadata: { name: string } };
      return core(of).patchNamespacedEvent({ name, namespace: POD.namespace, body: body(of) }, patchBy(PatchStrategy.MergePatch));
    },
  ],
  [
    'continues the series of an event',
    asked(series),
    ({ config, ...of }) => {
      const {
        metadata: { name },
      } = event()?.body as { metadata: { name: string } };
      const at = { name, namespace: POD.namespace, body: body({ config, ...of }) };
      return config.makeApiClient(EventsV1Api).patchNamespacedEvent(at, patchBy(PatchStrategy.MergePatch));
    },
  ],
  [
    'asks what it may do',
    ({ own }) => isPermitted(own, { verb: 'delete', resource: 'pods', name: 'web' }),
    ({ config }) =>
      config.makeApiClient(AuthorizationV1Api).createSelfSubjectAccessReview({
        body: made(V1SelfSubjectAccessReview, {
          ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' },
          spec: made(V1SelfSubjectAccessReviewSpec, {
            resourceAttributes: made(V1ResourceAttributes, { verb: 'delete', resource: 'pods', name: 'web' }),
          }),
        }),
      }),
  ],
])('client-node %s with the same request as evictd', async (_what, evictd, clientNode) => {
  const of = await clients();
  await evictd(of);
  await clientNode(of).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error)) throw error; // an answer such as 409, because evictd has done it before
  });
  const [first, second] = of.server.received.map(essence);
  expect(second).toEqual(first);
  expect(of.server.received).toHaveLength(2);
});

test('client-node lists and watches the pods of a node with the same requests, and sees the same', async () => {
  const { server, own, config } = await clients();
  const seen: string[] = [];
  const fieldSelector = `spec.nodeName=${NODE}`;
  const followed = { path: '/api/v1/pods', fieldSelector, read: (pod: unknown) => (pod as { metadata: { name: string } }).metadata.name };
  const watch = new ListWatch<string>(own, followed, {
    listed: (names) => seen.push(`listed ${names.join()}`),
    changed: (name) => seen.push(`changed ${name}`),
    removed: (name) => seen.push(`removed ${name}`),
    confirmed: () => undefined,
    failed: (why) => seen.push(`failed ${String(why)}`),
  });
  onTestFinished(() => {
    watch.close();
  });
  await until('evictd watches', () => server.watches === 1);
  const [, sent] = server.received;
  const { resourceVersion, timeoutSeconds } = Object.fromEntries(sent?.query ?? []);
  const listed = await config.makeApiClient(CoreV1Api).listPodForAllNamespaces({ fieldSelector, resourceVersion: '0' });
  const others = [`listed ${listed.items.map(({ metadata }) => metadata?.name).join()}`];
  const NAMES: Readonly<Record<string, string>> = { ADDED: 'changed', MODIFIED: 'changed', DELETED: 'removed' };
  const other = await new Watch(config).watch(
    followed.path,
    { fieldSelector, resourceVersion, allowWatchBookmarks: true, timeoutSeconds: Number(timeoutSeconds) },
    (phase, pod: { metadata: { name: string } }) => {
      if (phase in NAMES) others.push(`${NAMES[phase] ?? ''} ${pod.metadata.name}`);
    },
    () => undefined,
  );
  onTestFinished(() => {
    other.abort();
  });
  await until('client-node watches', () => server.watches === 2);
  const [list, watched, listedAgain, watchedAgain] = server.received.map(essence);
  expect([listedAgain, watchedAgain]).toEqual([list, watched]);
  server.store.put('pods', aPod('b'));
  server.store.put('pods', aPod('elsewhere', { spec: { nodeName: 'node-2' } }));
  server.store.put('pods', aPod('b', { metadata: { labels: { app: 'c' } } }));
  server.store.remove('pods', aPod('b'));
  const expected = ['listed web', 'changed b', 'changed b', 'removed b'];
  await until('both have seen it', () => seen.length >= expected.length && others.length >= expected.length);
  expect([seen, others]).toEqual([expected, expected]);
});
