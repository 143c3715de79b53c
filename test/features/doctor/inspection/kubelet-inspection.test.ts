import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import {
  apiServerCheck,
  budgetsCheck,
  clusterControllersCheck,
  couldRunCheck,
  excessCheck,
} from '../../../../src/features/doctor/checks/kubernetes.js';
import { examineApiServer } from '../../../../src/features/doctor/inspection/api-server-inspection.js';
import { askRuntimes } from '../../../../src/features/doctor/inspection/runtimes-inspection.js';
import { kubeletThresholds } from '../../../../src/features/doctor/inspection/daemons-inspection.js';
import { isHardMemory } from '../../../../src/config/lint/limit.js';
import { thresholdId, valueText } from '../../../../src/core/threshold/threshold.js';
import { native } from '../../../../src/native/index.js';
import { load, scratch } from '../../../config/scratch.js';
import { aPod } from '../../../support/kubernetes/a-pod.js';
import { authorise, FakeApiServer, NODE, type Authorise } from '../../../support/kubernetes/api-server.js';

// It has tests of its own. Here it would take two seconds of each test.
vi.mock('../../../../src/features/kubernetes/client/rate-limit.js', () => ({
  RateLimit: class {
    take(): Promise<void> {
      return Promise.resolve();
    }
  },
}));

const FILE = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
evictionHard:
  memory.available: 300Mi
  imagefs.available: 15%
`;

test.each<[rule: string, args: readonly string[], threshold: string | undefined]>([
  ['its default', ['/usr/bin/kubelet', '--v=2'], '100Mi'],
  ['its file', ['/usr/bin/kubelet', '--config=/kubelet.yaml'], '300Mi'],
  ['its file, in two arguments', ['kubelet', '--config', '/kubelet.yaml'], '300Mi'],
  ['its flag', ['kubelet', '--eviction-hard=memory.available<7%'], '7%'],
  ['a drop-in over its file', ['kubelet', '--config=/kubelet.yaml', '--config-dir=/kubelet.d'], '500Mi'],
  ['a drop-in without a file', ['kubelet', '--config-dir', '/kubelet.d'], '500Mi'],
  ['its flag, which overrides a drop-in', ['kubelet', '--config-dir=/kubelet.d', '--eviction-hard=memory.available<7%'], '7%'],
  ['the last file', ['kubelet', '--config=/nothing.yaml', '--config=/kubelet.yaml'], '300Mi'],
  ['the last drop-ins', ['kubelet', '--config-dir=/nothing', '--config-dir', '/kubelet.d'], '500Mi'],
  [
    'its flag, the last one for the signal',
    ['kubelet', '--eviction-hard=memory.available<7%', '--eviction-hard=memory.available<1Gi'],
    '1Gi',
  ],
  ['its flag, with others', ['kubelet', '--eviction-hard=memory.available<7%', '--eviction-hard', 'nodefs.available<5%'], '7%'],
  ['names with underscores', ['kubelet', '--config=/kubelet.yaml', '--config_dir=/kubelet.d'], '500Mi'],
  ['a flag with underscores', ['kubelet', '--config=/kubelet.yaml', '--eviction_hard', 'memory.available<7%'], '7%'],
  ['no file, as its last path is empty', ['kubelet', '--config=/kubelet.yaml', '--config='], '100Mi'],
  ['a flag that is not understood', ['kubelet', '--eviction-hard=memory.available<7%', '--eviction-hard=memory.available'], undefined],
  ['a flag without a value', ['kubelet', '--config=/kubelet.yaml', '--config-dir'], undefined],
  ['drop-ins that are not there', ['kubelet', '--config=/kubelet.yaml', '--config-dir=/nothing'], undefined],
  ['a place that is not known', ['kubelet', '--config=kubelet.yaml'], undefined],
  ['none for memory', ['kubelet', '--eviction-hard=nodefs.available<7%'], undefined],
  ['a file that is not there', ['kubelet', '--config=/nothing.yaml'], undefined],
  ["built into another program: its flags are not the kubelet's", ['/usr/local/bin/k3s', 'server'], undefined],
])('the threshold at which a kubelet acts: %s', async (_rule, args, threshold) => {
  const root = scratch();
  writeFileSync(join(root, 'kubelet.yaml'), FILE, { mode: 0o644 });
  mkdirSync(join(root, 'kubelet.d'));
  const dropIn = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nevictionHard: {memory.available: 500Mi}\n';
  writeFileSync(join(root, 'kubelet.d/10.conf'), dropIn, { mode: 0o644 });
  // Drop-ins of evictd, which a kubelet does not read.
  writeFileSync(join(root, 'kubelet.d/20.yaml'), dropIn.replace('500Mi', '900Mi'), { mode: 0o644 });
  const found = (await kubeletThresholds(root, args))?.find(isHardMemory);
  expect(found && valueText(found.value)).toBe(threshold);
});

test('all thresholds of a kubelet are read, also the soft ones of its flags', async () => {
  const flags = [
    '--eviction-hard=nodefs.available<7%',
    '--eviction-soft=pid.available<1k',
    '--eviction-soft-grace-period=pid.available=30s',
    '--eviction_soft=nodefs.available<9%',
    '--eviction-soft-grace-period=nodefs.available=1m',
  ];
  const found = await kubeletThresholds(scratch(), ['kubelet', ...flags]);
  const soft = ['nodefs.available<9%/60000000000', 'pid.available<1k/30000000000'];
  expect(found?.map(thresholdId).toSorted()).toEqual(['nodefs.available<7%/0', ...soft]);
});

const except =
  (...refused: readonly string[]): Authorise =>
  (user, verb, target, store) =>
    authorise(user, verb, target, store) &&
    !refused.includes(`${verb} ${target.resource.name}${target.subresource === undefined ? '' : `/${target.subresource}`}`);

test.each<[rule: string, authorised: Authorise, user: string, more: string, status: CheckStatus, summary: RegExp]>([
  ['a service account with all rights', except(), 'agent-token', '', 'ok', / answers, and evictd has all permissions; pods of node-1: 1$/],
  ["the kubelet's credential", except(), 'kubelet-token', '', 'ok', /evictd has all permissions/],
  ['get is missing', except('get pods'), 'agent-token', '', 'broken', /may not get pods \(the kubelet starts an evicted pod again\)$/],
  [
    'delete is missing',
    except('delete pods'),
    'agent-token',
    '',
    'broken',
    /may not delete pods \(the kubelet starts an evicted pod again\)$/,
  ],
  [
    'events are missing',
    except('create events', 'patch events'),
    'agent-token',
    '',
    'degraded',
    /not create events\.events\.k8s\.io \(there are/,
  ],
  ['a subresource is missing', except('create pods/eviction'), 'agent-token', '', 'degraded', /may not create pods\/eviction \(soft evic/],
  [
    'a permission is missing, and budgets are ignored',
    except('create pods/eviction'),
    'agent-token',
    ', budgets: ignore',
    'ok',
    /has all permissions/,
  ],
  [
    'the node and its taints are missing',
    except('patch nodes'),
    'agent-token',
    ', taint: false',
    'degraded',
    /patch nodes \(evictd drain does not cordon/,
  ],
  [
    'the status of the node is missing',
    except('patch nodes/status'),
    'agent-token',
    '',
    'degraded',
    /patch nodes\/status \(.*, and the node gets no cond/,
  ],
  ['list is missing, so no pod is a candidate', except('list pods'), 'agent-token', '', 'broken', /answers 403: pods is forbidden/],
])('the check of permissions at the API server: %s', async (_rule, authorised, user, more, status, summary) => {
  const apiServer = await examined(authorised, user, more);
  expect(apiServerCheck.judge({ apiServer })).toMatchObject([{ status, summary: expect.stringMatching(summary) as unknown }]);
});

async function examined(authorised: Authorise, user: string, more = ''): ReturnType<typeof examineApiServer> {
  const server = await FakeApiServer.start();
  server.authorise = authorised;
  server.store.put('pods', aPod('web'));
  const directory = scratch();
  const kubeconfig = server.kubeconfig(join(directory, 'kubeconfig'), { token: user });
  const yaml = `kubernetes: {kubeconfig: ${kubeconfig}, nodeName: ${NODE}${more}}\nruntimeDirectory: ${directory}`;
  const { config } = load({ 'config.yaml': yaml });
  const asked = await askRuntimes(config, native);
  onTestFinished(async () => {
    asked.close();
    await server.away();
  });
  return examineApiServer(config.kubernetes, asked.apiServer);
}

test.each<[user: string, summary: RegExp]>([
  ['agent-token', /^disruption budgets that node pressure violates are counted$/],
  ['kubelet-token', /^optional: the credential may not list disruption budgets/],
])('the check whether violated budgets are counted, for %s', async (user, summary) => {
  const apiServer = await examined(authorise, user);
  expect(budgetsCheck.judge({ apiServer })).toMatchObject([{ status: 'ok', summary: expect.stringMatching(summary) as unknown }]);
  expect(budgetsCheck.judge({ apiServer: undefined })).toEqual([]);
});

test.each<[user: string, authorised: Authorise, summary: RegExp]>([
  ['a kubelet', authorise, /^the credential may neither delete nodes nor list secrets nor patch pods$/],
  ['an administrator', () => true, /^optional: the credential may delete nodes, list secrets, patch pods, which evictd/],
  ['a credential that may delete nodes', except('list secrets', 'patch pods'), /^optional: the credential may delete nodes, which/],
])('the check of permissions that evictd does not need: %s', async (user, authorised, summary) => {
  const apiServer = await examined(authorised, user === 'a kubelet' ? 'kubelet-token' : 'agent-token');
  expect(excessCheck.judge({ apiServer })).toMatchObject([{ status: 'ok', summary: expect.stringMatching(summary) as unknown }]);
  expect(excessCheck.judge({ apiServer: undefined })).toEqual([]);
});

test.each<[rule: string, authorised: Authorise, summary: RegExp]>([
  ['both', () => true, /^explain and dry runs say where pods could run now/],
  [
    'nodes are missing',
    (_user, verb, { resource }) => verb !== 'list' || resource.name !== 'nodes',
    /may not list all nodes, so .*--kustomize/,
  ],
  ['nothing', (_user, verb) => verb !== 'list', /may not list all nodes and pods, so/],
])('the optional check of permissions to compute where pods could run: %s', async (_rule, authorised, summary) => {
  const apiServer = await examined(authorised, 'agent-token');
  expect(couldRunCheck.judge({ apiServer })).toMatchObject([{ status: 'ok', summary: expect.stringMatching(summary) as unknown }]);
  expect(couldRunCheck.judge({ apiServer: undefined })).toEqual([]);
});

test.each<[rule: string, controllers: string, renewedMs: number, found: object[], authorised?: Authorise]>([
  [
    'the parts of both',
    '*',
    0,
    [{ status: 'degraded', summary: expect.stringMatching(/both act: taint-eviction-controller \(/) as unknown }],
  ],
  ['controllers that kube-controller-manager does not run', '*,-taint-eviction-controller', 0, [{ status: 'ok' }]],
  ['a leader that does not renew its Lease', '*', 120_000, []],
  [
    'a kube-controller-manager without a Lease',
    'none',
    0,
    [
      {
        status: 'ok',
        summary: expect.stringMatching(/runs taint-eviction-controller; whether both act is not known: .* no Lease/) as unknown,
      },
    ],
  ],
  [
    'a credential that may not get Leases',
    '*',
    0,
    [{ status: 'ok', summary: expect.stringMatching(/^optional: the credential may not get the Lease evictd-controller of/) as unknown }],
    except('get leases'),
  ],
])(
  'the check of evictd controller beside kube-controller-manager: %s',
  async (_rule, controllers, renewedMs, found, authorised = authorise) => {
    const server = await FakeApiServer.start();
    server.authorise = authorised;
    const lease = (namespace: string, name: string, annotations: object, ageMs: number): void => {
      const renewTime = new Date(Date.now() - ageMs).toISOString().replace('Z', '000Z');
      server.store.put('leases', {
        metadata: { namespace, name, annotations },
        spec: { holderIdentity: 'x', leaseDurationSeconds: 15, renewTime },
      });
    };
    if (controllers !== 'none') lease('kube-system', 'kube-controller-manager', {}, 0);
    lease('evictd', 'evictd-controller', { 'evictd.dev/controllers': 'taint-eviction-controller' }, renewedMs);
    const metadata = { namespace: 'kube-system', labels: { component: 'kube-controller-manager' } };
    const containers = [{ name: 'm', command: ['kube-controller-manager', `--controllers=${controllers}`] }];
    server.store.put('pods', aPod('manager', { metadata, spec: { nodeName: 'other', containers } }));
    const directory = scratch();
    const yaml = `kubernetes: {kubeconfig: ${server.kubeconfig(join(directory, 'kubeconfig'))}, nodeName: ${NODE}}\nruntimeDirectory: ${directory}`;
    const { config } = load({ 'config.yaml': yaml });
    const asked = await askRuntimes(config, native);
    onTestFinished(async () => {
      asked.close();
      await server.away();
    });
    const apiServer = await examineApiServer(config.kubernetes, asked.apiServer);
    expect(clusterControllersCheck.judge({ apiServer })).toMatchObject(found);
  },
);
