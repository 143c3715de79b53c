import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { MakeCommand } from '../../../src/cli/output/command.js';
import { evict } from '../../../src/features/eviction/command.js';
import { configFromOptions } from '../../../src/cli/output/options.js';
import { makeRoom } from '../../../src/features/admission/preempt.js';
import { drain } from '../../../src/features/eviction/drain-command.js';
import { routesServer } from '../../../src/http/routes-server.js';
import { explainCommand } from '../../../src/features/explain/command.js';
import { DryRunPlaces } from '../../../src/features/kubernetes/cluster/dry-run-places.js';
import { forecastRescheduling, reschedulingText, placesLines } from '../../../src/features/kubernetes/cluster/rescheduling.js';
import { candidates, Mi, workload } from '../../core/support.js';
import { fakeReading, ran, type Ran } from '../../cli/support.js';
import { FakeApiServer, NODE } from '../../support/kubernetes/api-server.js';
import type { ApiObject } from '../../support/kubernetes/objects.js';
import { reading } from '../check/support.js';
import { decision } from '../notify/evictions.js';
import { node, pod } from '../simulate/support.js';
import { eviction, PART } from './pod.js';

const TAINT = { key: 'evictd.dev/memory-pressure', value: '', effect: 'NoSchedule' } as const;
const WEB = 'shop/web-1';
const WAIT = { timeout: 20_000, interval: 5 };

let directory: string;
let server: FakeApiServer;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  server = await FakeApiServer.start();
  put('nodes', node(NODE), node('node-2'), node('node-3'));
  put('pods', pod('web-1', NODE), pod('db-1', 'node-2', { cpu: '3500m' }), pod('old-1', 'node-3', { cpu: '500m' }));
});
afterEach(async () => {
  await server.away();
  rmSync(directory, { recursive: true });
});

function put(resource: string, ...objects: readonly object[]): void {
  for (const object of objects) server.store.put(resource, object as ApiObject);
}

async function textFor(asked = WEB, withinMs?: number): Promise<string | undefined> {
  const found = await forecastRescheduling(agent().kubernetes, { pods: [asked] }, withinMs);
  const own = found === undefined || 'unknown' in found ? found : found.get(asked);
  return own && reschedulingText(own);
}

function agent() {
  const kubeconfig = server.kubeconfig(join(directory, 'kubeconfig'), { token: 'agent-token' });
  const kubernetes = { kubeconfig, nodeName: NODE, budgets: 'respect', taint: TAINT, conditions: 'own', kubelet: 'present' } as const;
  return { kubernetes };
}

/** Of `evictd`, which knows the API server. */
function configured(kubernetes: object): readonly string[] {
  const config = join(directory, 'config.yaml');
  writeFileSync(config, JSON.stringify({ kubernetes }));
  return ['--config', config, '--runtime-directory', join(directory, 'run')];
}

test('a pod that fits elsewhere has the best node, and the reasons against the others', async () => {
  const [first, ...rest] = (await textFor())?.split('\n') ?? [];
  expect(first).toMatch(/^could run now: node-3 \(score \d+\); 1 of 3 nodes fit$/);
  expect(rest).toContain('  not node-1: node(s) had untolerated taint(s)');
  expect(rest).toContain('  not node-2: Insufficient cpu');
  expect(rest.join('\n')).toMatch(/^ {2}without Service: HTTP 404: .*: objects of this kind are left out$/m);
  expect(rest).not.toContain('  no controller recreates it');
});

test('the victim does not count on its own node, and pods that have ended do not count', async () => {
  put('nodes', node(NODE, { cpu: '1' }), node('node-3', { cpu: '1500m' }));
  put('pods', pod('web-1', NODE, { owner: '', tolerations: [{ operator: 'Exists' }] }));
  put('pods', { ...pod('job-1', 'node-3'), status: { phase: 'Succeeded' } });
  const text = await textFor();
  expect(text).toMatch(/^could run now: node-[13] \(score \d+\), node-[13] \(score \d+\); 2 of 3 nodes fit\n/);
  expect(text).toContain('\n  no controller recreates it\n');
});

test('a pod that fits on no node has the message of the scheduler', async () => {
  put('pods', pod('old-1', 'node-3', { cpu: '3500m' }));
  expect(await textFor()).toContain(
    'could run now: nowhere: 0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu.\n',
  );
});

test('a missing permission and a missing answer are reported', async () => {
  server.authorise = (_user, verb, { resource }) => verb !== 'list' || resource.name !== 'pods';
  expect(await textFor()).toMatch(/^could run now: not known: .*pods is forbidden: .*must be allowed to list nodes and pods\)\n$/);
  server.answers = 'hang';
  expect(await textFor(WEB, 300)).toContain(`could run now: not known: the API server ${server.url}: no answer in time (check the network`);
});

test('packaging/kubernetes/could-run permits the lists that are needed, and no more', async () => {
  await textFor();
  const [role] = parseAllDocuments(readFileSync('packaging/kubernetes/could-run/could-run-rbac.yaml', 'utf8'));
  const { rules } = role?.toJS() as { readonly rules: readonly { apiGroups: string[]; resources: string[]; verbs: string[] }[] };
  const permitted = rules.flatMap(({ apiGroups, resources, verbs }) => resources.map((name) => [...verbs, ...apiGroups, name].join(' ')));
  const listed = server.received.map(({ path }) => {
    const [, , group = '', , name = ''] = path.split('?')[0]?.split('/') ?? [];
    return path.startsWith('/api/') ? `list  ${group === 'v1' ? (path.split('?')[0]?.split('/')[3] ?? '') : ''}` : `list ${group} ${name}`;
  });
  expect([...new Set(listed)].sort()).toEqual(permitted.sort());
});

test('pods that leave the node together do not use the same room, and the more important one gets it', async () => {
  put('pods', pod('db-1', 'node-2', { cpu: '4' }), pod('old-1', 'node-3', { cpu: '2' }));
  put('pods', pod('web-1', NODE, { cpu: '2' }), { ...pod('web-2', NODE, { cpu: '2', priority: 5 }) });
  const found = await forecastRescheduling(agent().kubernetes, { pods: [WEB, '/kubepods/podweb_2', 'shop/none'], isCordoned: true });
  const lines = placesLines(found, new Map([['/kubepods/podweb_2', 'the other one']]));
  expect(lines.slice(0, 2)).toEqual([
    expect.stringMatching(/^the other one could run now: node-3 \(score \d+\); 1 of 3 nodes fit$/),
    'shop/web-1 could run now: nowhere: 0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.',
  ]);
  expect(lines.slice(2).every((line) => line.startsWith('could run now: without '))).toBe(true);
});

test('evictd evict, drain and admit --preempt print where pods could run in a dry run, after one read of the cluster', async () => {
  const answers = { status: 'Success', code: 201, details: { name: '/kubepods/podweb-1' } };
  const plan = { dryRun: true, ends: ['shop/web-1', 'batch.service'], stays: [], waits: [] };
  const victim = { name: 'shop/web-1', path: '/kubepods/podweb-1', priority: 0, requests: 1024 };
  const preemption = { answer: 'preempts', dryRun: true, requested: 1024, used: 0, capacity: 2048, workloads: [victim] };
  const socket = routesServer(
    [
      { method: 'POST', path: '/v1/evictions', servedBy: 'socket', answer: () => ({ json: answers }) },
      { method: 'POST', path: '/api/v1/drain', servedBy: 'socket', answer: () => ({ json: plan }) },
      { method: 'POST', path: '/api/v1/preempt', servedBy: 'socket', answer: () => ({ json: preemption }) },
    ],
    60_000,
  );
  mkdirSync(join(directory, 'run/state'), { recursive: true });
  await once(socket.listen(join(directory, 'run/machine.sock')), 'listening');
  onTestFinished(() => void socket.close());
  const { kubernetes } = agent();
  const places = configured({ kubeconfig: kubernetes.kubeconfig, nodeName: NODE });
  const lines = async (command: MakeCommand, ...args: readonly string[]): Promise<readonly string[]> => {
    const { out, error } = await ran((io) => command({ io } as Parameters<MakeCommand>[0]), [...places, ...args]);
    expect(error).toBeUndefined();
    return out.split('\n').filter((line) => !line.includes('without'));
  };
  const fits = expect.stringMatching(/^shop\/web-1 could run now: node-3 \(score \d+\); 1 of 3 nodes fit$/) as string;
  expect(await lines(evict, 'shop/web-1', '--dry-run')).toEqual(['shop/web-1 would be evicted', fits, '']);
  expect(await lines(drain, '--dry-run')).toEqual(['shop/web-1 would be evicted', 'batch.service would be evicted', fits, '']);
  expect(server.received.filter(({ path }) => path.startsWith('/api/v1/nodes'))).toHaveLength(2);
  expect(await lines(evict, 'shop/web-1')).toEqual(['shop/web-1 is being evicted', '']);
  expect(server.received.filter(({ path }) => path.startsWith('/api/v1/nodes'))).toHaveLength(2);
  const room = { critical: false, named: { name: 'db', path: undefined, qosClass: undefined }, pod: undefined };
  const { config } = configFromOptions({ config: places[1] ?? '', runtimeDirectory: places[3] ?? '' });
  expect(await makeRoom({ preempt: true, dryRun: true }, config, room)).toMatchObject({
    couldRunNow: expect.arrayContaining([fits]) as unknown,
  });
});

test('evictd explain prints where a pod could run, also as JSON', async () => {
  const { kubeconfig } = agent().kubernetes;
  const places = configured({ kubeconfig, nodeName: NODE });
  const at = (path: string) => candidates([workload('shop/web-1', { path }), 32n * Mi]);
  const explain = (args: readonly string[] = [], found = at('/kubepods/pod1')): Promise<Ran> => {
    const given = fakeReading(() => reading({}), { candidates: found });
    return ran((io) => explainCommand({ io, open: () => given }), [...places, 'shop/web-1', ...args]);
  };
  expect((await explain([], at('/system.slice/web'))).out).not.toContain('could run now');
  expect(server.received).toEqual([]);
  const text = await explain();
  expect(text.error).toBeUndefined();
  expect(text.out).toContain('\ncould run now: node-3 (score ');
  const { out } = await explain(['-o', 'json']);
  expect(JSON.parse(out)).toMatchObject({ couldRun: { of: 3, nodes: [{ node: 'node-3' }], message: '' } });
});

test('a running dry run logs after the decision where pods could run, one after the other, and missing permissions once', async () => {
  const logged: string[] = [];
  const log = { info: (line: string) => logged.push(line), warn: (line: string) => logged.push(line) };
  const places = new DryRunPlaces(agent().kubernetes, log, 200);
  onTestFinished(() => {
    places.close();
  });
  const decided = (name: string): void => {
    const victim = decision({ name, kubernetes: { ...PART, name } }, { dryRun: true });
    places.stepped({ effects: [{ kind: 'evict', decision: victim }] });
  };
  const listed = (): number => server.received.filter(({ path }) => path === '/api/v1/nodes').length;
  const fits = expect.stringMatching(/^dry run: shop\/web-1 could run now: node-3 \(score \d+\); 1 of 3 nodes fit$/) as string;
  decided('web-1');
  decided('batch-1'); // no pod of the API server any more
  expect(server.received).toEqual([]);
  await vi.waitFor(() => {
    expect(logged).toHaveLength(2);
  }, WAIT);
  expect(logged).toEqual([fits, expect.stringMatching(/^dry run: could run now: without Service: HTTP 404: .*; could run now: without /)]);
  expect(listed()).toBe(1);
  decided('web-1');
  await vi.waitFor(() => {
    expect(logged).toEqual([fits, logged[1], fits]);
  }, WAIT);
  server.authorise = (_user, verb, { resource }) => verb !== 'list' || resource.name !== 'pods';
  decided('web-1');
  await vi.waitFor(() => {
    expect(logged[3]).toMatch(/^dry run: could run now: not known: .*pods is forbidden/);
  }, WAIT);
  server.instead = ({ path }) => (path === '/api/v1/nodes' ? { code: 200, body: { items: 'none' } } : undefined);
  decided('web-1');
  await vi.waitFor(() => {
    expect(logged[4]).toMatch(/^dry run: could run now: not known: \/api\/v1\/nodes: HTTP 200: items is "none": a list/);
  }, WAIT);
});

test('evictd that stops does not wait for the API server, and logs no error about it', async () => {
  const logged: string[] = [];
  const log = { info: (line: string) => logged.push(line), warn: (line: string) => logged.push(line) };
  server.answers = 'hang';
  const ends = new AbortController();
  const found = forecastRescheduling(agent().kubernetes, { pods: [WEB], signal: ends.signal }, 3_600_000);
  const places = new DryRunPlaces(agent().kubernetes, log);
  places.stepped({ effects: [{ kind: 'evict', decision: eviction({ dryRun: true }) }] });
  places.close();
  ends.abort();
  expect(await found).toMatchObject({ unknown: expect.stringContaining('evictd stops') as string });
  expect(logged).toEqual([]);
});

test('a dry run continues after an error in a list of the cluster', async () => {
  const warned: string[] = [];
  const info = (): never => {
    throw new RangeError('odd');
  };
  const places = new DryRunPlaces(agent().kubernetes, { info, warn: (line) => warned.push(line) });
  onTestFinished(() => {
    places.close();
  });
  places.stepped({ effects: [{ kind: 'evict', decision: decision({ kubernetes: { ...PART, name: 'web-1' } }, { dryRun: true }) }] });
  await vi.waitFor(() => {
    expect(warned).toEqual(['dry run: could run now: not known: odd']);
  }, WAIT);
});
