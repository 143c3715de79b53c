import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exitCodeOf, formatError } from '../../../src/cli/output/error-text.js';
import { simulate as simulateCommand } from '../../../src/features/simulate/command.js';
import { ran, type Ran } from '../../cli/support.js';
import type { Answer } from '../../support/kubernetes/answers.js';
import { FakeApiServer } from '../../support/kubernetes/api-server.js';
import type { ApiObject } from '../../support/kubernetes/objects.js';
import { node, pod } from './support.js';

const CLUSTER = 'examples/simulate/cluster.yaml';
const directory = mkdtempSync(join(tmpdir(), `evictd-simulate-${String(process.pid)}-`));
afterAll(() => {
  rmSync(directory, { recursive: true });
});
const file = (name: string, content: unknown): string => {
  const path = join(directory, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};
const simulate = (...args: string[]): Promise<Ran> => ran((io, setExitCode) => simulateCommand({ io, setExitCode }), args);

test.each<[why: string, args: readonly string[], exit: number, message: string]>([
  ['a missing file', [], 64, 'neither a file nor --kubeconfig is given'],
  ['an unknown node', [CLUSTER, '--drain', 'node-9'], 64, 'no node "node-9" in the input'],
  ['an invalid amount', [CLUSTER, '--pressure', 'node-1:memory=much'], 64, '--pressure: "much"'],
  ['an unknown signal', [CLUSTER, '--pressure', 'node-1:nodefs=1Gi'], 64, '--pressure: "nodefs" is not simulated'],
  ['a negative duration', [CLUSTER, '--start-time', '-10s'], 64, '--start-time: -10s is negative'],
  ['an invalid taint', [CLUSTER, '--taint', 'node-1'], 64, '--taint needs a node and a taint'],
  ['a wrong effect', [CLUSTER, '--taint', 'node-1', 'a=b:Never'], 64, 'unknown taint effect "Never"'],
  ['an unknown pod', [CLUSTER, '--explain', 'shop/none'], 64, 'no pod "shop/none" in the input'],
  [
    'a class that does not exist',
    [CLUSTER, '--add', file('p.json', pod('a-1', '', { priorityClassName: 'none' }))],
    65,
    'no PriorityClass with name none was found',
  ],
  [
    'a policy other than that of the class, which the API server sets',
    [
      CLUSTER,
      file('class.json', { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'low' }, value: 1 }),
      ...['--add', file('never.json', pod('a-1', '', { priorityClassName: 'low', preemptionPolicy: 'Never' }))],
    ],
    65,
    'priority admission controller computed PreemptLowerPriority',
  ],
  ['an input without a node', [file('pod.json', pod('a-1', ''))], 65, 'the input has no node'],
  ['a finding with --strict', [file('bad.json', `${JSON.stringify(node('node-1'))}{`), '--strict'], 65, '1 finding: --strict permits none'],
  ['a file that does not exist', [join(directory, 'none')], 66, 'cannot be read'],
])('simulate ends with an error for %s', async (_why, args, exit, message) => {
  const { error } = await simulate(...args);
  expect(exitCodeOf(error)).toBe(exit);
  expect(String(error)).toContain(message);
});

describe('a live cluster', () => {
  let server: FakeApiServer;
  beforeEach(async () => {
    server = await FakeApiServer.start();
    for (const name of ['node-2', 'node-3']) server.store.put('nodes', node(name) as unknown as ApiObject);
    for (let index = 0; index < 600; index += 1) server.store.put('pods', pod(`web-${String(index)}`, '') as unknown as ApiObject);
  });
  afterEach(() => server.away());
  const live = (...args: string[]): Promise<Ran> =>
    simulate('--kubeconfig', server.kubeconfig(join(directory, 'kubeconfig')), '--drain', 'node-2', ...args);

  test('is read page by page, and resources that may not be listed are named', async () => {
    const { out, error } = await live('-o', 'json');
    expect(error).toBeUndefined();
    const document = JSON.parse(out.slice(out.indexOf('{\n'))) as { readonly cluster: unknown; readonly findings: unknown };
    expect(document.cluster).toMatchObject({ nodes: 2, pods: 600 });
    const message = 'PriorityClass: HTTP 404: the server could not find the requested resource: objects of this kind are left out';
    expect(document.findings).toContainEqual({
      ...{ level: 'warning', file: '/apis/scheduling.k8s.io/v1/priorityclasses', object: '', message, more: 0 },
    });
    expect(server.received.filter(({ path }) => path === '/api/v1/pods')).toHaveLength(2);
  });

  const status = (code: number, more: object = {}): Answer => ({ code, body: { kind: 'Status', message: 'why', ...more } });
  test.each<[why: string, answer: Answer, message: string]>([
    ['a wrong credential', status(401), '/api/v1/nodes: HTTP 401: why\n  hint: the API server does not accept the credential'],
    ['a missing permission', status(403), '/api/v1/nodes: HTTP 403: why\n  hint: the credential must be allowed to list nodes and pods'],
    ['no Kubernetes API', status(404), '/api/v1/nodes: HTTP 404: why\n  hint: is it the URL of an API server?'],
    ['a server in trouble', status(503), '/api/v1/nodes: HTTP 503: why\n  hint: kubectl get --raw /api/v1/nodes must work'],
    ['a page for browsers', { code: 200, body: '<html>' }, '/api/v1/nodes: HTTP 200: the document is "<html>": an object is expected\n'],
  ])('that answers %s instead of nodes is an error', async (_why, answer, message) => {
    server.instead = ({ path }) => (path === '/api/v1/nodes' ? answer : undefined);
    const { error } = await live();
    expect(exitCodeOf(error)).toBe(1);
    expect(formatError(error)).toContain(`EVICTD_KUBERNETES_REFUSED: ${message}`);
  });

  test('that is away is an error with its address', async () => {
    await server.away();
    expect(formatError((await live()).error)).toMatch(
      /^evictd: EVICTD_KUBERNETES_UNREACHABLE: the API server https:\S+: connect ECONNREFUSED .*\n {2}hint: check the network/,
    );
  });

  test('with expired pages continues with the token of the answer, and a busy server is asked again', async () => {
    const busy = { ...status(429), headers: { 'retry-after': '0' } };
    const answers = [undefined, status(410, { metadata: { continue: '550' } }), busy];
    server.instead = ({ path }) =>
      path === '/api/v1/pods' ? answers[server.received.filter((each) => each.path === path).length - 1] : undefined;
    expect((await live()).out).toMatch(/^2 nodes, 550 pods/m);
  });
});

describe('the output of simulate', () => {
  test('fits into 80 columns as text', async () => {
    const { out } = await simulate(
      CLUSTER,
      '--drain',
      'node-1',
      '--fail',
      'node-3',
      '--add',
      'examples/simulate/urgent.yaml',
      '--replicas',
      '9',
    );
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(out).toContain('add 9 pods of examples/simulate/urgent.yaml');
  });

  test('says of a pod that names its node that it had no choice', async () => {
    const { out } = await simulate(CLUSTER, '--add', file('named.json', pod('a-1', 'node-3', { cpu: '10m' })));
    expect(out).toContain('scheduled shop/a-1 on node-3 (its nodeName)');
  });

  test('has the next action after the horizon while more is to happen, and after the last event otherwise', async () => {
    const after = async (horizon: string): Promise<string | undefined> => {
      const { out } = await simulate(CLUSTER, '--drain', 'node-1', '--horizon', horizon, '--taint', 'node-3', 'a=b:NoSchedule');
      return /(\S+) {2}taint node-3/.exec(out)?.[1];
    };
    expect([await after('10s'), await after('1h')]).toEqual(['+10s', '+1m10s']);
  });

  test('says that the scheduler does not read all nodes of a large cluster', async () => {
    const nodes = Array.from({ length: 130 }, (_, index) => node(`node-${String(index)}`, { cpu: index < 20 ? '10m' : '4' }));
    const { out } = await simulate(file('nodes.json', nodes), '--add', file('one.json', pod('a-1', '', { cpu: '1' })));
    expect(out.replace(/\s+/g, ' ')).toMatch(/scheduled shop\/a-1 on \S+ \(100 of the first 120 nodes fit; score/);
  });

  test('JSON has what docs/simulate-options.md says', async () => {
    const { out } = await simulate(CLUSTER, '--drain', 'node-1', '--explain', 'shop/web-7c9-a', '-o', 'json');
    const document = JSON.parse(out) as Record<string, unknown>;
    expect(document).toMatchObject({
      cluster: { nodes: 3, pods: 12, budgets: 2 },
      outcome: { evicted: 2, moved: 2, pending: [], lost: [], refused: ['shop/db-0'] },
      explained: { pod: 'shop/web-7c9-a' },
    });
    const timeline = document.timeline as readonly Record<string, unknown>[];
    expect(timeline).toContainEqual(
      expect.objectContaining({ at: 0, kind: 'refused', pod: 'shop/web-7c9-b', budgets: ['web'], until: 35 }),
    );
    expect((document.nodes as readonly unknown[])[0]).toMatchObject({
      node: 'node-1',
      before: { pods: { used: 4, allocatable: 30 } },
      after: { pods: { used: 2 } },
    });
  });

  test('does not count a replacement that is itself evicted as moved, or as another pod', async () => {
    const { out } = await simulate(CLUSTER, '--drain', 'node-1', '--fail', 'node-3', '-o', 'json');
    expect((JSON.parse(out) as { readonly outcome: unknown }).outcome).toMatchObject({
      ...{ evicted: 4, moved: 1, pending: ['shop/web-7c9-new3', 'jobs/batch-5f4-new1', 'shop/web-7c9-new4'] },
    });
  });

  test('names in an explanation every filter that rejects a node', async () => {
    const files = [
      file('small.json', node('node-1', { cpu: '1', memory: '1Gi' })),
      file('big.json', pod('big-1', '', { cpu: '4', nodeSelector: { disk: 'ssd' } })),
    ];
    const { out } = await simulate(...files, '--explain', 'shop/big-1');
    expect(out).toContain('shop/big-1: 0 of 1 nodes fit');
    expect(out).toMatch(
      /^node-1 +NodeAffinity: node\(s\) didn't match Pod's node affinity\/selector; NodeResourcesFit: Insufficient cpu$/m,
    );
  });

  test('is a page that runs no script, requests nothing, and shows names as text', async () => {
    const page = join(directory, 'page.html');
    const odd = { ...pod('a-1', 'node-1'), metadata: { name: '<img src=x>', namespace: 'shop' } };
    await simulate(file('node.json', node('node-1')), file('odd.json', odd), '--drain', 'node-1', '--html', page);
    const html = readFileSync(page, 'utf8');
    expect(html).toContain('<p class="dim">1 node, 1 pod, 0 budgets. Assumed: new pods are ready 30s after their start; a pod that ends');
    const style = /<style>(.*)<\/style>/s.exec(html)?.[1] ?? '';
    expect(html).toContain(`content="default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    expect(html).toContain('shop/&lt;img src=x&gt;');
    expect(html).not.toMatch(/<(script|img|link|iframe)|https?:|style="| on\w+=/);
  });
});
