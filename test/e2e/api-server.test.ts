import { execFile, spawn } from 'node:child_process';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { parseTaint } from '../../src/core/disruption/taint.js';
import { initialState } from '../../src/core/decide/state.js';
import type { ConditionType } from '../../src/core/signal/signal.js';
import type { Ask } from '../../src/features/kubernetes/reports/report-ports.js';
import { ApiClient } from '../../src/features/kubernetes/client/api-client.js';
import { kubeconfigAccess } from '../../src/features/kubernetes/client/kubeconfig.js';
import { NodeReport } from '../../src/features/kubernetes/reports/node-report.js';
import { input, observations } from '../core/support.js';
import { aPod } from '../support/kubernetes/a-pod.js';
import { FakeApiServer, NODE } from '../support/kubernetes/api-server.js';
import type { ApiObject } from '../support/kubernetes/objects.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { Evictd, scratchDirectory } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { until } from './wait.js';

// The server is the one of the tests; kubectl, which knows real ones, is its second client.

let server: FakeApiServer;
let home: string;

beforeEach(async () => {
  server = await FakeApiServer.start();
  home = temporaryDirectory();
});

afterEach(async () => {
  await server.away();
});

const environment = () => ({ PATH: process.env.PATH, HOME: home });

/** Output and error output of kubectl. @param user  of the kubeconfig */
function kubectl(line: string, user?: object): Promise<string> {
  const file = server.kubeconfig(join(home, 'kubeconfig'), user);
  return new Promise((resolve) => {
    execFile('kubectl', ['--kubeconfig', file, ...line.split(' ')], { env: environment(), timeout: 60_000 }, (_error, stdout, stderr) => {
      resolve((stdout + stderr).trim());
    });
  });
}

const kubelet = () => {
  const { cert, key } = server.certificates.client;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) };
};
const node = () => server.store.get('nodes', undefined, NODE);
const pod = (name: string) => server.store.get('pods', 'default', name);

describe('kubectl with the API server of the tests', () => {
  test('lists, taints, cordons, labels and patches objects as at a real server', async () => {
    server.store.put('pods', aPod('web'));
    expect(await kubectl('get pods -o name')).toBe('pod/web');
    expect(await kubectl(`get pods -A --field-selector spec.nodeName=node-2 -o name`)).toBe('');
    expect(await kubectl(`taint nodes ${NODE} a=b:NoSchedule`)).toBe(`node/${NODE} tainted`);
    expect(await kubectl(`cordon ${NODE}`)).toBe(`node/${NODE} cordoned`);
    expect(node()?.spec).toMatchObject({ unschedulable: true, taints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }] });
    const patched = (type: string, patch: string) => kubectl(`patch node ${NODE} --subresource=status --type=${type} -p ${patch}`);
    await patched('strategic', '{"status":{"conditions":[{"type":"A","status":"True"}]}}');
    await patched('strategic', '{"status":{"conditions":[{"type":"B","status":"True"}]}}');
    expect(node()?.status?.conditions).toMatchObject([{ type: 'A' }, { type: 'B' }]);
    await patched('merge', '{"status":{"conditions":[{"type":"C","status":"True"}]}}');
    expect(node()?.status?.conditions).toMatchObject([{ type: 'C' }]);
    await kubectl(`patch node ${NODE} --type=strategic -p {"spec":{"taints":[{"key":"c","effect":"NoSchedule"}]}}`);
    expect(node()?.spec?.taints).toEqual([{ key: 'c', effect: 'NoSchedule' }]);
    expect(await kubectl(`patch node ${NODE} --type=merge -p {"metadata":{"resourceVersion":"1"},"spec":{"taints":[]}}`)).toMatch(
      /\(Conflict\).*please apply your changes to the latest version/,
    );
    expect(await kubectl('patch pod web --subresource=status --type=strategic -p {"metadata":{"uid":"other"}}')).toMatch(
      /Pod "web" is invalid: metadata.uid: Invalid value: "other": field is immutable/,
    );
  });

  test('shortens the grace period with a second deletion, and asks the budgets in a drain', async () => {
    server.store.put('pods', aPod('web'));
    const grace = () => pod('web')?.metadata.deletionGracePeriodSeconds;
    const remove = (seconds: number) => kubectl(`delete pod web --wait=false --grace-period=${String(seconds)}`);
    expect(await remove(20)).toMatch(/^pod "web" deleted/);
    expect(grace()).toBe(20);
    await remove(30);
    expect(grace()).toBe(20);
    await remove(1);
    expect(grace()).toBe(1);
    await kubectl('delete pod web --wait=false --grace-period=0 --force');
    expect(pod('web')).toBeUndefined();
    const budget = (name: string, disruptionsAllowed: number) => ({
      metadata: { name, namespace: 'default', generation: 1 },
      spec: { selector: { matchLabels: { app: 'db' } } },
      status: { observedGeneration: 1, disruptionsAllowed },
    });
    server.store.put('pods', aPod('db'));
    server.store.put('poddisruptionbudgets', budget('a', 0));
    const drain = () => kubectl(`drain ${NODE} --force --timeout=2s`);
    expect(await drain()).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
    server.store.put('poddisruptionbudgets', budget('b', 1));
    expect(await drain()).toContain('This pod has more than one PodDisruptionBudget');
    server.store.remove('poddisruptionbudgets', budget('a', 0));
    await drain(); // waits for what a kubelet does
    expect(pod('db')?.metadata).toHaveProperty('deletionTimestamp');
    expect(server.store.get('poddisruptionbudgets', 'default', 'b')?.status).toMatchObject({ disruptionsAllowed: 0 });
  });

  test('with the credential of a kubelet writes status and cordon, but no taints, and reads no budgets', async () => {
    expect(await kubectl(`cordon ${NODE}`, kubelet())).toBe(`node/${NODE} cordoned`);
    expect(await kubectl(`taint nodes ${NODE} a=b:NoSchedule`, kubelet())).toMatch(/Forbidden.*not allowed to modify taints/);
    expect(await kubectl('get poddisruptionbudgets', kubelet())).toMatch(/Forbidden.*cannot list resource "poddisruptionbudgets"/);
    expect(await kubectl('get pods', { token: 'no' })).toMatch(/Unauthorized|must be logged in/);
  });

  test('watches added, changed and removed objects', async () => {
    server.store.put('pods', aPod('a'));
    const file = server.kubeconfig(join(home, 'kubeconfig'));
    const watching = spawn('kubectl', ['--kubeconfig', file, ...'get pods -o name --watch'.split(' ')], {
      env: environment(),
    });
    onTestFinished(() => {
      watching.kill('SIGKILL');
    });
    let shown = '';
    watching.stdout.on('data', (text: Buffer) => (shown += text.toString()));
    await until('kubectl watches', () => server.watches === 1);
    server.store.put('pods', aPod('b'));
    server.store.put('pods', aPod('a', { metadata: { labels: { app: 'c' } } }));
    server.store.remove('pods', aPod('b'));
    const lines = () => shown.split('\n').filter(Boolean);
    await until('it has shown all', () => lines().length >= 4);
    expect(lines()).toEqual(['pod/a', 'pod/b', 'pod/a', 'pod/b']);
  });
});

/** Requests of a client without a limit. */
const unlimited: Ask = ({ method, path, contentType, body }) =>
  new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer admin-token', ...(contentType !== undefined && { 'content-type': contentType }) };
    const sent = request(server.url + path, { method, headers, ca: server.certificates.ca }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as unknown });
      });
    });
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });

/** Of each other program, at least. */
const EDITS = 500;
const PRESSURE = parseTaint('evictd.dev/memory-pressure:NoSchedule');

/** Another program, which changes the value of its own taint again and again. It fails where a value was lost. */
async function edits(key: string, isOver: () => boolean): Promise<string> {
  const path = `/api/v1/nodes/${NODE}`;
  let edit = 0;
  while (edit < EDITS || !isOver()) {
    const now = (await unlimited({ method: 'GET', path, withinMs: 0 })).body as { metadata: object; spec: { taints?: { key: string }[] } };
    const taints = now.spec.taints ?? [];
    const own = taints.find((taint) => taint.key === key);
    if (edit > 0) expect(own).toMatchObject({ value: String(edit - 1) });
    const body = {
      ...now,
      spec: { taints: [...taints.filter((taint) => taint !== own), { key, value: String(edit), effect: 'NoSchedule' }] },
    };
    const { status } = await unlimited({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body, withinMs: 0 });
    if (status === 200) edit += 1;
    else expect(status).toBe(409);
  }
  return `${key} ${String(edit - 1)}`;
}

test('1,000 edits of the taints by others are kept, while evictd sets and removes its own with the limit of its client', async () => {
  let changes = 0;
  const hasOwn = (object: ApiObject | undefined) => JSON.stringify(object?.spec?.taints ?? []).includes(PRESSURE.key);
  server.store.watch(({ object, before }) => (changes += hasOwn(object) === hasOwn(before) ? 0 : 1));
  const nothing = (): undefined => undefined;
  const client = new ApiClient(kubeconfigAccess(server.kubeconfig(join(home, 'kubeconfig'))));
  onTestFinished(() => {
    client.close();
  });
  const report = new NodeReport({
    ...{
      ask: client.ask.bind(client),
      nodeName: NODE,
      config: { kubeconfig: undefined, taint: PRESSURE, conditions: 'none' },
      isLeaving: false,
      bootId: 'b',
    },
    ...{ section: { before: undefined, keep: nothing }, log: { info: nothing, warn: nothing } },
  });
  // What it may ask at once is used up: from now on a request each 200 ms.
  await Promise.all(Array.from({ length: 10 }, () => client.ask({ method: 'GET', path: '/api/v1/pods', withinMs: 60_000 })));
  const others = Promise.all(['a', 'b'].map((key) => edits(key, () => changes > 1)));
  const progress = { isOver: false };
  const over = others.finally(() => (progress.isOver = true));
  over.catch(() => undefined); // `others` is awaited below
  const under = async (...conditions: ConditionType[]) => {
    const nowNs = process.hrtime.bigint();
    report.stepped({ state: { ...initialState, conditions }, input: input(nowNs, observations(nowNs, {})) });
    await report.published(60_000);
  };
  while (!progress.isOver) {
    await under('MemoryPressure');
    await under();
  }
  const last = await others;
  await under('MemoryPressure');
  report.close();
  const taints = node()?.spec?.taints as { key: string; value?: string }[];
  expect(taints.map(({ key, value }) => `${key} ${value ?? ''}`).sort()).toEqual([...last, `${PRESSURE.key} `]);
});

describe(`evictd with an API server (${ON})`, () => {
  const scene = async () => {
    const guarded = testNode();
    const victim = await workload(guarded.child('batch'), { growsMib: 200 });
    const kubernetes = { kubeconfig: server.kubeconfig(join(home, 'kubeconfig')), nodeName: NODE };
    return { victim, config: { ...guarding(guarded), kubernetes }, directory: scratchDirectory() };
  };
  const pods = (evictd: Evictd) => evictd.metric('evictd_kubernetes_pods');

  test.each<[state: string, make: () => unknown]>([
    ['hangs', () => (server.answers = 'hang')],
    ['is away', () => server.away()],
    ['takes 20 s for each answer', () => (server.answers = 20_000)],
  ])('a server that %s delays neither the start nor an eviction', async (_state, make) => {
    const { victim, ...options } = await scene();
    await make();
    const evictd = await new Evictd(options).guarding();
    await evictd.until(
      'the server is asked',
      async () => server.received.length > 0 || (await evictd.metric('evictd_kubernetes_api_answers')) === 0,
    );
    victim.grow();
    expect(await victim.ended).toBe('SIGKILL');
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
    expect(await pods(evictd)).toBe(0);
    expect(await evictd.stop()).toBe(0);
  });

  test('whose pods outlive SIGKILL while the server is away, and continue when it has restarted', async () => {
    const { config, directory } = await scene();
    for (let index = 0; index < 110; index++) server.store.put('pods', aPod(`web-${String(index)}`));
    const first = await new Evictd({ config, directory }).guarding();
    await first.until('all pods are known', async () => (await pods(first)) === 110);
    await first.until('they are watched', () => server.watches === 1);
    server.store.remove('pods', aPod('web-0'));
    await first.until('one has gone', async () => (await pods(first)) === 109);
    await server.away();
    await first.logged(/^https:\/\/127\.0\.0\.1:\d+: .*; the last reported pods stay known \(109, \d+s old\)/);
    await first.stop('SIGKILL');
    const evictd = await new Evictd({ config, directory }).guarding();
    await evictd.logged(/^pods that are known from the run before: 109$/);
    expect(await pods(evictd)).toBe(109);
    server.store.put('pods', aPod('late'));
    await server.back();
    await evictd.until('the new pod is known', async () => (await pods(evictd)) === 110);
    await evictd.until('it answers', async () => (await evictd.metric('evictd_kubernetes_api_answers')) === 1);
  });
});
