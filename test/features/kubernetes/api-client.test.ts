import { getEventListeners } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ApiClient } from '../../../src/features/kubernetes/client/api-client.js';
import { inClusterAccess } from '../../../src/features/kubernetes/client/in-cluster.js';
import { kubeconfigAccess } from '../../../src/features/kubernetes/client/kubeconfig.js';
import { RateLimit } from '../../../src/features/kubernetes/client/rate-limit.js';
import { RequestLimit } from '../../../src/features/kubernetes/client/request-limit.js';
import { aPod } from '../../support/kubernetes/a-pod.js';
import { FakeApiServer, NODE } from '../../support/kubernetes/api-server.js';

let server: FakeApiServer;
let directory: string;
let clients: ApiClient[];

beforeEach(async () => {
  server = await FakeApiServer.start();
  directory = mkdtempSync(join(tmpdir(), 'evictd-kubernetes-'));
  clients = [];
});

afterEach(async () => {
  for (const client of clients) client.close();
  await server.away();
  rmSync(directory, { recursive: true });
});

function written(name: string, text: string, mode = 0o600): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

function clientOf(user?: object, cluster?: object): ApiClient {
  const client = new ApiClient(kubeconfigAccess(server.kubeconfig(join(directory, 'kubeconfig'), user, cluster)));
  clients.push(client);
  return client;
}

const OF_NODE = { fieldSelector: `spec.nodeName=${NODE}` };
const GET = { method: 'GET', path: '/api/v1/pods', query: OF_NODE, withinMs: 5_000 } as const;
const EXEC = `#!/bin/sh
echo "$KUBERNETES_EXEC_INFO" >"$0.asked"
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'"$1"'"}}'
`;
const exec = (...args: string[]) => ({ apiVersion: 'client.authentication.k8s.io/v1', command: './plugin', args });

test('a request for which `beforeSend` throws is not sent', async () => {
  const beforeSend = (): void => {
    throw new Error('not now');
  };
  await expect(clientOf({ token: 'agent-token' }).ask({ ...GET, beforeSend })).rejects.toThrow('not now');
  expect(server.received).toEqual([]);
});

test('a request is aborted at its timeout, and keeps nothing of its client when it is over', async () => {
  const open = new Set<RequestLimit>();
  const limit = new RequestLimit(open, 1);
  await vi.waitFor(() => {
    expect(limit.signal.reason).toEqual(new Error('no answer in time'));
  }, 30_000);
  expect(open.size).toBe(1);
  limit.over();
  expect(open.size).toBe(0);
});

test.each<[rule: string, queuedMs: number | undefined, events: string[]]>([
  ['counts in its timeout', undefined, ['limit 5000', 'take', 'send']],
  ['with a timeout of its own does not', 60_000, ['limit 60000', 'take', 'limit 5000', 'send']],
])('the wait of a request for the rate limit %s', async (_rule, queuedMs, expected) => {
  const events: string[] = [];
  const timers = vi.spyOn(RequestLimit.prototype, 'within').mockImplementation((ms) => {
    events.push(`limit ${String(ms)}`);
  });
  const taken = vi.spyOn(RateLimit.prototype, 'take').mockImplementation(() => {
    events.push('take');
    return Promise.resolve();
  });
  onTestFinished(() => {
    timers.mockRestore();
    taken.mockRestore();
  });
  const beforeSend = () => events.push('send');
  await clientOf({ token: 'agent-token' }).ask({ ...GET, beforeSend, ...(queuedMs !== undefined && { queuedMs }) });
  expect(events).toEqual(expected);
});

test.each(['GET', 'POST'] as const)(
  'on a kept connection that the server has closed a %s is repeated once, on a new one',
  async (method) => {
    const requests = new Map<object, number>();
    let resetsAll = false;
    const { key, cert } = server.certificates.server;
    const other = createServer({ key, cert }, ({ socket }, response) => {
      const number = (requests.get(socket) ?? 0) + 1;
      requests.set(socket, number);
      if (number > 1 || resetsAll) socket.destroy();
      else response.end('{}');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const client = clientOf(undefined, { server: `https://127.0.0.1:${String((other.address() as AddressInfo).port)}` });
    const asked = { ...GET, method };
    expect((await client.ask(asked)).status).toBe(200);
    expect((await client.ask(asked)).status).toBe(200);
    expect([...requests.values()]).toEqual([2, 1]);
    resetsAll = true;
    await expect(client.ask(asked)).rejects.toMatchObject({ code: 'EVICTD_KUBERNETES_UNREACHABLE' });
    expect([...requests.values()]).toEqual([2, 1, 1]);
  },
);

test.each<[credential: string, user: () => object, as: string]>([
  ['a token', () => ({ token: 'agent-token' }), 'evictd'],
  [
    'a file with a token, relative to the kubeconfig, which wins',
    () => (written('token', 'kubelet-token\n'), { token: 'no', tokenFile: 'token' }),
    `system:node:${NODE}`,
  ],
  [
    'a client certificate and its key in one file, as the kubelet writes it',
    () => {
      const { cert, key } = server.certificates.client;
      const both = written('kubelet-client-current.pem', cert + key);
      return { 'client-certificate': both, 'client-key': both };
    },
    `system:node:${NODE}`,
  ],
  ['the output of a program', () => (written('plugin', EXEC, 0o700), { exec: exec('admin-token') }), 'admin'],
])('a client with %s is known to the server', async (_credential, user, as) => {
  expect((await clientOf(user()).ask(GET)).status).toBe(200);
  expect(server.received.at(-1)?.user).toBe(as);
});

test('a credential that cannot be read, as on a node that joins its cluster later, is read again with the next request', async () => {
  const client = clientOf({ tokenFile: join(directory, 'later') });
  await expect(client.ask(GET)).rejects.toMatchObject({ code: 'EVICTD_KUBERNETES_ACCESS' });
  written('later', 'admin-token');
  expect((await client.ask(GET)).status).toBe(200);
});

test('a replaced token file is read again when the server refuses the token before', async () => {
  const file = written('token', 'old-token');
  const client = clientOf({ tokenFile: file });
  expect((await client.ask(GET)).status).toBe(401);
  written('token', 'admin-token');
  expect((await client.ask(GET)).status).toBe(200);
});

/** The client of a pod with this token. */
function inPod(token: string): ApiClient {
  written('token', token);
  written('ca.crt', server.certificates.ca);
  const [, host = '', port = ''] = /\/\/(.*):(\d+)/.exec(server.url) ?? [];
  const client = new ApiClient(inClusterAccess({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port }, directory));
  clients.push(client);
  return client;
}

test('in a pod the service account and its certificate authority are used', async () => {
  expect((await inPod('agent-token').ask(GET)).status).toBe(200);
  const outside = new ApiClient(inClusterAccess({}, directory));
  await expect(outside.ask(GET)).rejects.toMatchObject({ code: 'EVICTD_KUBERNETES_ACCESS' });
});

test('in a pod the token is read again after a minute, and at once when the server refuses it', async () => {
  const now = 1_800_000_000_000;
  vi.useFakeTimers({ now, toFake: ['Date'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const client = inPod('agent-token');
  const asks = async (): Promise<string | undefined> => {
    await client.ask(GET);
    return server.received.at(-1)?.user;
  };
  expect(await asks()).toBe('evictd');
  written('token', 'admin-token');
  vi.setSystemTime(now + 59_999);
  expect(await asks()).toBe('evictd');
  vi.setSystemTime(now + 60_000);
  expect(await asks()).toBe('admin');
  server.tokens = { 'new-token': 'renewed' };
  written('token', 'new-token');
  expect((await client.ask(GET)).status).toBe(401);
  expect(await asks()).toBe('renewed');
});

test.each<[problem: string, user: object, cluster: object, message: RegExp]>([
  ['a server of another authority', {}, { 'certificate-authority-data': '' }, /certificate/],
  ['a program that fails', { exec: { command: '/bin/false' } }, {}, /\/bin\/false/],
  ['a proxy, which is not supported', {}, { 'proxy-url': 'http://proxy' }, /proxy-url is not supported/],
  ['a server without TLS', {}, { server: 'http://127.0.0.1:1' }, /not an https URL/],
  ['a file that does not exist', { tokenFile: '/nowhere/token' }, {}, /ENOENT/],
])('the error about %s says so', async (_problem, user, cluster, message) => {
  await expect(clientOf(user, cluster).ask(GET)).rejects.toThrow(message);
});

test.each<[what: string, user: object | string, says: RegExp]>([
  ['a line that is not YAML', 'users:\n- user:\n    token: "SECRET\n', /it is not YAML at line 4/],
  ['an alias', 'token: *SECRET', /wrong alias/],
  ['a token alone', 'SECRET', /the document has a value of a wrong type/],
  ['a value of a wrong type', { token: 'SECRET', exec: 'SECRET' }, /exec has a value/],
  ['a variable of a program', { exec: { command: '/bin/true', env: ['SECRET'] } }, /env\[0\] has/],
  ['arguments of a program that fails', { exec: { command: '/bin/false', args: ['SECRET'] } }, /\/bin\/false: it ended with status 1/],
  ['output that is not JSON', { exec: { command: '/bin/echo', args: ['SECRET'] } }, /\/bin\/echo gives no ExecCredential/],
  ['output of a wrong type', { exec: { command: '/bin/echo', args: ['{"status":"SECRET"}'] } }, /gives no ExecCredential/],
])('an error does not repeat what may be a secret: %s', async (_what, user, says) => {
  const file = typeof user === 'string' ? written('kubeconfig', user) : server.kubeconfig(join(directory, 'kubeconfig'), user);
  const error: unknown = await kubeconfigAccess(file)().catch((thrown: unknown) => thrown);
  expect((error as Error).message).toMatch(says);
  expect(inspect(error, { depth: 10 })).not.toContain('SECRET');
});

test('a server that hangs and one that is away give no answer', async () => {
  const client = clientOf();
  server.answers = 'hang';
  await expect(client.ask({ ...GET, withinMs: 50 })).rejects.toMatchObject({
    code: 'EVICTD_KUBERNETES_UNREACHABLE',
    message: 'no answer in time',
  });
  await server.away();
  await expect(client.ask(GET)).rejects.toMatchObject({ code: 'EVICTD_KUBERNETES_UNREACHABLE' });
  server.answers = 'now';
  await server.back();
  expect((await client.ask(GET)).status).toBe(200);
});

test('a watch that the server does not end in time is stale', async () => {
  server.watchesAreStale = true;
  let opened = 0;
  const watch = {
    path: '/api/v1/pods',
    query: { timeoutSeconds: '1' },
    withinMs: 5_000,
    onOpen: () => (opened += 1),
    onEvent: () => undefined,
  };
  await expect(clientOf().watch({ ...watch, overdueMs: 50 })).rejects.toThrow('the watch is stale');
  expect(opened).toBe(1);
});

test('an answer has its status, retry time and body; a DELETE has a body and its length', async () => {
  server.store.put('pods', aPod('web'));
  server.store.put('poddisruptionbudgets', {
    metadata: { name: 'web', namespace: 'default', generation: 2 },
    spec: { selector: { matchLabels: { app: 'web' } } },
    status: { observedGeneration: 1, disruptionsAllowed: 1 },
  });
  const client = clientOf();
  const path = '/api/v1/namespaces/default/pods/web';
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web', namespace: 'default' } };
  expect(await client.ask({ method: 'POST', path: `${path}/eviction`, body, withinMs: 5_000 })).toMatchObject({
    status: 429,
    retryAfterSeconds: 10,
  });
  const deletion = { gracePeriodSeconds: 1, preconditions: { uid: 'uid-web' } };
  const answer = await client.ask({ method: 'DELETE', path, body: deletion, withinMs: 5_000 });
  expect(answer).toMatchObject({ status: 200, body: { metadata: { deletionGracePeriodSeconds: 1 } } });
});

test('the deletion of a pod comes before events, also where its namespace or name begins with events', async () => {
  const take = vi.spyOn(RateLimit.prototype, 'take');
  const client = clientOf();
  await client.ask({
    method: 'POST',
    path: '/apis/events.k8s.io/v1/namespaces/default/events',
    body: { metadata: { name: 'e' } },
    withinMs: 5_000,
  });
  await client.ask({ method: 'PATCH', path: '/api/v1/namespaces/pods/events/web.1', body: {}, withinMs: 5_000 });
  await client.ask({ method: 'DELETE', path: '/api/v1/namespaces/events/pods/events-1', withinMs: 5_000 });
  await client.ask(GET);
  expect(take.mock.calls.map(([urgency]) => urgency)).toEqual([2, 2, 0, 1]);
  take.mockRestore();
});

test('the rate limit lets ten requests pass at once, then five a second, and urgent ones first', async () => {
  let nowMs = 0;
  const limit = new RateLimit(() => nowMs);
  const order: number[] = [];
  const never = new AbortController();
  const take = (urgency: number, signal = never.signal) => limit.take(urgency, signal).then(() => order.push(urgency));
  await Promise.all(Array.from({ length: 10 }, () => take(9)));
  const gone = new AbortController();
  const given = take(0, gone.signal);
  gone.abort(new Error('no longer needed'));
  await expect(given).rejects.toThrow('no longer needed');
  await expect(take(0, gone.signal)).rejects.toThrow('no longer needed');
  const waiting = [take(2), take(1), take(0), take(1)];
  nowMs = 400; // two more
  await Promise.all([take(0), waiting[2]]);
  expect(order.slice(10)).toEqual([0, 0]);
  nowMs = 1_200; // four more
  await Promise.all([...waiting, take(3)]);
  expect(order.slice(12)).toEqual([1, 1, 2, 3]);
  expect(getEventListeners(never.signal, 'abort')).toEqual([]);
});

test('a read takes the token of its patch with it, so that no other request comes between them', async () => {
  let nowMs = 0;
  const limit = new RateLimit(() => nowMs);
  const order: string[] = [];
  const { signal } = new AbortController();
  const take = (name: string, tokens: number) => limit.take(1, signal, tokens).then(() => order.push(name));
  await take('burst', 10);
  const pair = take('pair', 2);
  const other = take('other', 1);
  nowMs = 300; // one and a half
  const last = take('last', 1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual(['burst']);
  nowMs = 1_000;
  await Promise.all([pair, other, last]);
  expect(order).toEqual(['burst', 'pair', 'other', 'last']);
  const taken = vi.spyOn(RateLimit.prototype, 'take');
  const client = clientOf();
  await client.ask({ ...GET, tokens: 2 });
  await client.ask({ ...GET, tokens: 0 });
  expect(taken.mock.calls.map(([, , tokens]) => tokens)).toEqual([2]);
  taken.mockRestore();
});
