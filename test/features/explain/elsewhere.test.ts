import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { explainCommand } from '../../../src/features/explain/command.js';
import { elsewhere, elsewhereText } from '../../../src/features/explain/elsewhere.js';
import { candidates, Mi, workload } from '../../core/support.js';
import { fakeReading, ran, type Ran } from '../../cli/support.js';
import { FakeApiServer, NODE } from '../../support/kubernetes/api-server.js';
import type { ApiObject } from '../../support/kubernetes/objects.js';
import { reading } from '../check/support.js';
import { node, pod } from '../simulate/support.js';

const TAINT = { key: 'evictd.dev/memory-pressure', value: '', effect: 'NoSchedule' } as const;
const WEB = { name: 'shop/web-1', path: '/kubepods/pod1', protection: null };

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
  const kubeconfig = server.kubeconfig(join(directory, 'kubeconfig'), { token: 'agent-token' });
  const kubernetes = { kubeconfig, nodeName: NODE, budgets: 'respect', taint: TAINT, conditions: 'own', kubelet: 'present' } as const;
  const found = await elsewhere({ kubernetes }, asked, withinMs);
  return found && elsewhereText(found);
}

test('a pod that fits elsewhere: the best node, and why not the others', async () => {
  const [first, ...rest] = (await textFor())?.split('\n') ?? [];
  expect(first).toMatch(/^could run now: node-3 \(score \d+\); 1 of 3 nodes fit$/);
  expect(rest).toContain('  not node-1: node(s) had untolerated taint(s)');
  expect(rest).toContain('  not node-2: Insufficient cpu');
  expect(rest.join('\n')).toMatch(/^ {2}without Service: HTTP 404: .*: objects of this kind are left out$/m);
  expect(rest).not.toContain('  no controller makes it again');
});

test('it counts as gone from its node, and pods that have ended do not count', async () => {
  put('nodes', node(NODE, { cpu: '1' }), node('node-3', { cpu: '1500m' }));
  put('pods', pod('web-1', NODE, { owner: '', tolerations: [{ operator: 'Exists' }] }));
  put('pods', { ...pod('job-1', 'node-3'), status: { phase: 'Succeeded' } });
  const text = await textFor();
  expect(text).toMatch(/^could run now: node-[13] \(score \d+\), node-[13] \(score \d+\); 2 of 3 nodes fit\n/);
  expect(text).toContain('\n  no controller makes it again\n');
});

test('a pod that fits nowhere: the message of the scheduler', async () => {
  put('pods', pod('old-1', 'node-3', { cpu: '3500m' }));
  expect(await textFor()).toContain(
    'could run now: nowhere: 0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu.\n',
  );
});

test('no permission, and no answer, are said', async () => {
  server.authorise = (_user, verb, { resource }) => verb !== 'list' || resource.name !== 'pods';
  expect(await textFor()).toMatch(/^could run now: not known: .*pods is forbidden: .*must be allowed to list nodes and pods\)\n$/);
  server.answers = 'hang';
  expect(await textFor(WEB, 300)).toBe('could run now: not known: the API server: no answer in time\n');
});

test('what is no pod of the API server, or is never evicted, is not asked for', async () => {
  expect(await textFor({ ...WEB, path: '/system.slice/web' })).toBeUndefined();
  expect(server.received).toEqual([]);
  expect(await textFor({ ...WEB, name: 'shop/web-9' })).toBeUndefined();
});

test('evictd explain says it, also as JSON', async () => {
  const kubeconfig = server.kubeconfig(join(directory, 'kubeconfig'), { token: 'agent-token' });
  const found = candidates([workload('shop/web-1', { path: '/kubepods/pod1' }), 32n * Mi]);
  const given = fakeReading(() => reading({}), { candidates: found });
  const config = join(directory, 'config.yaml');
  writeFileSync(config, JSON.stringify({ kubernetes: { kubeconfig, nodeName: NODE } }));
  const places = ['--config', config, '--runtime-directory', join(directory, 'run')];
  const explain = (...args: string[]): Promise<Ran> =>
    ran((io) => explainCommand({ io, open: () => given }), [...places, 'shop/web-1', ...args]);
  const text = await explain();
  expect(text.error).toBeUndefined();
  expect(text.out).toContain('\ncould run now: node-3 (score ');
  const { out } = await explain('-o', 'json');
  expect(JSON.parse(out)).toMatchObject({ couldRun: { of: 3, nodes: [{ node: 'node-3' }], message: '' } });
});
