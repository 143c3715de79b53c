import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Environment } from '@marcbachmann/cel-js';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { chartFiles } from '../../packaging/chart.js';
import { lintConfig } from '../../src/config/lint-notices.js';
import type { KubernetesConfig } from '../../src/core/kubernetes/kubernetes-config.js';
import { accessText, BUDGETS_ACCESS, neededAccess } from '../../src/core/kubernetes/needed-access.js';
import { readControllers } from '../../src/features/kubernetes/read-controllers.js';
import { load } from '../config/scratch.js';
import { monitoringSchemaOf, schemaOf, watched } from '../support/kubernetes/schemas.js';

const AGENT = 'packaging/kubernetes/agent';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: unknown;
}

const documents = (text: string): Manifest[] => parseAllDocuments(text).map((document) => document.toJS() as Manifest);
const manifestsIn = (folder: string): Manifest[] =>
  readdirSync(folder)
    .filter((file) => !['config.yaml', 'kustomization.yaml'].includes(file))
    .flatMap((file) => documents(readFileSync(join(folder, file), 'utf8')));
const manifests = manifestsIn(AGENT);
const optional = ['controller', 'could-run', 'agent-with-pod-monitor'].flatMap((folder) => manifestsIn(`packaging/kubernetes/${folder}`));

const models: Readonly<Record<string, ReturnType<typeof schemaOf>>> = {
  ClusterRole: schemaOf('RbacV1ClusterRole'),
  ClusterRoleBinding: schemaOf('RbacV1ClusterRoleBinding'),
  DaemonSet: schemaOf('AppsV1DaemonSet'),
  Deployment: schemaOf('AppsV1Deployment'),
  Namespace: schemaOf('CoreV1Namespace'),
  PodMonitor: monitoringSchemaOf('V1PodMonitor'),
  Role: schemaOf('RbacV1Role'),
  RoleBinding: schemaOf('RbacV1RoleBinding'),
  ServiceAccount: schemaOf('CoreV1ServiceAccount'),
  ValidatingAdmissionPolicy: schemaOf('AdmissionregistrationV1ValidatingAdmissionPolicy'),
  ValidatingAdmissionPolicyBinding: schemaOf('AdmissionregistrationV1ValidatingAdmissionPolicyBinding'),
};

test('the role permits the requests of the agent, and nothing else', () => {
  const role = manifests.find(({ kind }) => kind === 'ClusterRole') as unknown as {
    rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[];
  };
  const permitted = role.rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((name) => verbs.map((verb) => `${verb} ${name}${group === '' ? '' : `.${group}`}`))),
  );
  const options = { budgets: 'respect', taint: undefined, conditions: 'own', kubelet: 'present' } as const;
  const all: KubernetesConfig = { kubeconfig: undefined, nodeName: undefined, ...options };
  const needed = neededAccess(all, 'node-1', { namespace: 'shop', name: 'web' }).map(({ attributes }) => attributes);
  expect(new Set(permitted)).toEqual(new Set([...needed, BUDGETS_ACCESS].map(accessText)));
});

test('the roles permit the Leases that doctor reads, in their namespaces, and nothing else', async () => {
  const permitted = manifests
    .filter(({ kind }) => kind === 'Role')
    .flatMap((role) => {
      const { metadata, rules } = role as unknown as { metadata: { namespace: string }; rules: Record<string, string[]>[] };
      return rules.flatMap(({ apiGroups, resources, resourceNames = ['*'], verbs = [] }) =>
        resourceNames.map(
          (name) => `${verbs.join()} /apis/${String(apiGroups)}/v1/namespaces/${metadata.namespace}/${String(resources)}/${name}`,
        ),
      );
    });
  const asked: string[] = [];
  const body = (path: string) => ({
    ...{ metadata: {}, items: [] },
    spec: path.includes('kube-system') ? { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: new Date().toISOString() } : {},
  });
  await readControllers(({ method, path }) => {
    if (path.includes('/leases/')) asked.push(`${method.toLowerCase()} ${path}`);
    return Promise.resolve({ status: 200, body: body(path) });
  }, 'evictd');
  expect(asked.toSorted()).toEqual(permitted.toSorted());
  expect(asked).toHaveLength(3);
});

test.each([...manifests, ...optional].map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest] as const))(
  '%s is what the API server accepts, without an unknown field',
  (_, manifest) => {
    const validate = models[manifest.kind];
    if (validate === undefined) throw new Error(`no schema of a ${manifest.kind}`);
    const unread = new Set<string>();
    expect(validate(watched(manifest, unread)), JSON.stringify(validate.errors)).toBe(true);
    expect([...unread]).toEqual([]);
  },
);

test('the controller runs in one process at a time', () => {
  expect(optional.find(({ kind }) => kind === 'Deployment')?.spec).toMatchObject({ replicas: 1 });
});

test('the PodMonitor selects the pods of the agent and a port that they have', () => {
  interface Pods {
    readonly metadata: { readonly labels: object };
    readonly spec: { readonly containers: readonly { readonly ports: readonly { readonly name: string }[] }[] };
  }
  interface Monitor {
    readonly selector: { readonly matchLabels: object };
    readonly podMetricsEndpoints: readonly { readonly port: string }[];
  }
  const specOf = (wanted: string): unknown => [...manifests, ...optional].find(({ kind }) => kind === wanted)?.spec;
  const { metadata, spec } = (specOf('DaemonSet') as { readonly template: Pods }).template;
  const monitor = specOf('PodMonitor') as Monitor;
  expect(metadata.labels).toMatchObject(monitor.selector.matchLabels);
  const ports = spec.containers.flatMap((container) => container.ports.map(({ name }) => name));
  expect(ports).toEqual(expect.arrayContaining(monitor.podMetricsEndpoints.map(({ port }) => port)));
});

test('config check finds nothing in the configuration of the manifests', () => {
  const loaded = load({ 'config.yaml': readFileSync(`${AGENT}/config.yaml`, 'utf8') });
  expect([...loaded.notices, ...lintConfig(loaded, undefined)].filter(({ level }) => level === 'warn')).toEqual([]);
});

// The expressions of the policy, evaluated as the API server does: the first that is false denies the request.

interface Policy {
  readonly matchConditions: readonly { readonly expression: string }[];
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
}

const policy = manifests.find(({ kind }) => kind === 'ValidatingAdmissionPolicy')?.spec as Policy;
const cel = new Environment({ unlistedVariablesAreDyn: true, enableOptionalTypes: true });

/** Why the policy denies a request; undefined: it does not. */
function denied(request: object): string | undefined {
  const context: Record<string, unknown> = { ...request, variables: {} };
  const evaluate = (expression: string): unknown => cel.evaluate(expression, context);
  if (!policy.matchConditions.every(({ expression }) => evaluate(expression))) return undefined;
  for (const { name, expression } of policy.variables) (context.variables as Record<string, unknown>)[name] = evaluate(expression);
  return policy.validations.find(({ expression }) => evaluate(expression) !== true)?.message;
}

const by = (node: string | undefined, username = 'system:serviceaccount:evictd:evictd') => ({
  username,
  extra: node === undefined ? {} : { 'authentication.kubernetes.io/node-name': [node] },
});
const asked = (resource: string, subResource: string, userInfo = by('a')) => ({ userInfo, resource: { resource }, subResource });
const pod = (nodeName: string) => ({ metadata: { name: 'web' }, spec: { nodeName } });
const taint = (key: string) => ({ key, effect: 'NoSchedule' });
const node = (spec: object, types: readonly string[] = []) => ({
  metadata: { name: 'a' },
  spec,
  status: { conditions: types.map((type) => ({ type, status: 'True' })) },
});
/** A change of one field of the node, by a request for the node or for its status. */
const changes = (subResource: string, part: string, field: string, value: unknown) => {
  const oldObject = node({ podCIDR: '10.0.0.0/24' }, ['Ready']);
  const object = { ...oldObject, [part]: { ...oldObject[part as 'spec'], [field]: value } };
  return { request: asked('nodes', subResource), oldObject, object };
};
const foreign = { spec: { taints: [taint('other/x')] } };

test.each<[what: string, request: object, message: RegExp | undefined]>([
  ['deletes a pod of its node', { request: asked('pods', ''), oldObject: pod('a'), object: null }, undefined],
  ['deletes a pod of another node', { request: asked('pods', ''), oldObject: pod('b'), object: null }, /pods of its own node/],
  ['marks a pod of another node', { request: asked('pods', 'status'), oldObject: pod('b'), object: pod('b') }, /pods of its own node/],
  ['has a token without a node', { request: asked('pods', '', by(undefined)), oldObject: pod('a'), object: null }, /names no node/],
  ['has another account', { request: asked('pods', '', by('a', 'system:node:b')), oldObject: pod('b'), object: null }, undefined],
  [
    'adds its taint',
    {
      request: asked('nodes', ''),
      oldObject: node(foreign.spec),
      object: node({ taints: [taint('other/x'), taint('evictd.dev/memory-pressure')] }),
    },
    undefined,
  ],
  [
    'adds the first taint',
    { request: asked('nodes', ''), oldObject: node({}), object: node({ taints: [taint('evictd.dev/x')] }) },
    undefined,
  ],
  ['removes the taint of another program', { request: asked('nodes', ''), oldObject: node(foreign.spec), object: node({}) }, /own taints/],
  ['cordons its node', { request: asked('nodes', ''), oldObject: node({}), object: node({ unschedulable: true }) }, undefined],
  [
    'cordons another node',
    { request: asked('nodes', '', by('b')), oldObject: node({}), object: node({ unschedulable: true }) },
    /its own node/,
  ],
  ['labels the node', changes('', 'metadata', 'labels', { role: 'x' }), /metadata/],
  ['labels the node by its status', changes('status', 'metadata', 'labels', { role: 'x' }), /metadata/],
  ['annotates the node', changes('', 'metadata', 'annotations', { a: 'b' }), /metadata/],
  ['adds a finalizer', changes('', 'metadata', 'finalizers', ['a/b']), /metadata/],
  ['adds an owner', changes('', 'metadata', 'ownerReferences', [{ kind: 'Pod', name: 'x' }]), /metadata/],
  ['changes the addresses of pods', changes('', 'spec', 'podCIDR', '10.0.0.0/8'), /own taints/],
  ['changes all addresses of pods', changes('', 'spec', 'podCIDRs', ['10.0.0.0/8']), /own taints/],
  ['changes its former name', changes('', 'spec', 'externalID', 'x'), /own taints/],
  ['changes its configuration', changes('', 'spec', 'configSource', {}), /own taints/],
  ['changes the machine', changes('', 'spec', 'providerID', 'aws:///i-1'), /own taints/],
  ...Object.entries({
    ...{ addresses: [{}], images: [{}], volumesInUse: [{}], volumesAttached: [{}], runtimeHandlers: [{}] },
    ...{ config: { error: 'x' }, features: { supplementalGroupsPolicy: true }, declaredFeatures: ['X'] },
    ...{ capacity: { memory: '1Ti' }, allocatable: { memory: '1Ti' }, nodeInfo: {}, daemonEndpoints: {}, phase: 'Terminated' },
  }).map(([field, value]): [string, object, RegExp] => [`changes ${field}`, changes('status', 'status', field, value), /own conditions/]),
  [
    'sets its condition',
    { request: asked('nodes', 'status'), oldObject: node({}, ['Ready']), object: node({}, ['Ready', 'EvictdMemoryPressure']) },
    undefined,
  ],
  [
    'sets a condition of the kubelet',
    { request: asked('nodes', 'status'), oldObject: node({}), object: node({}, ['MemoryPressure']) },
    /own conditions/,
  ],
  ['changes another node', { request: asked('nodes', 'status', by('b')), oldObject: node({}), object: node({}) }, /its own node/],
])('the admission policy is evaluated where evictd %s', (_, request, message) => {
  if (message === undefined) expect(denied(request)).toBeUndefined();
  else expect(denied(request)).toMatch(message);
});

test.each<[part: 'spec' | 'status', schema: string, own: readonly string[]]>([
  ['spec', 'CoreV1NodeSpec', ['unschedulable']],
  ['status', 'CoreV1NodeStatus', []],
])('the policy compares each field that the OpenAPI document has in the %s of a node', (part, schema, own) => {
  const known = new Set<string>();
  schemaOf(schema)(new Proxy({}, { get: (_, key) => void known.add(String(key)) }));
  expect(known.size).toBeGreaterThan(5);
  const text = policy.validations.map(({ expression }) => expression).join(' ');
  const compared = ['object', 'oldObject'].map(
    (of) => new Set([...text.matchAll(new RegExp(`\\b${of}\\.${part}\\.\\?(\\w+)`, 'g'))].map(([, field]) => field)),
  );
  const newer = part === 'status' ? ['declaredFeatures'] : []; // since Kubernetes 1.35; the document is older
  const expected = new Set([...[...known].filter((field) => !own.includes(field)), ...newer]);
  expect(compared).toEqual([expected, expected]);
});

// The chart's templates use values, `toYaml` with `indent`, a hash, and one condition. The objects must be those of the manifests.
test('the chart with its default values has the objects of the manifests', () => {
  const files = chartFiles();
  const values = parse(files.get('values.yaml') ?? '') as Record<string, unknown>;
  const config = readFileSync(`${AGENT}/config.yaml`, 'utf8');
  const of = (path: string): string => String(path.split('.').reduce<unknown>((all, key) => (all as Record<string, unknown>)[key], values));
  const rendered = [...files]
    .filter(([name]) => name.startsWith('templates/'))
    .map(([name, text]) => [name, text.replace(/^\{\{- if .Values.\w+ \}\}\n([^]*)\{\{- end \}\}\n$/, '$1')] as const)
    .flatMap(([, template]) =>
      documents(
        template
          .replaceAll('{{ .Release.Namespace }}', 'evictd')
          .replaceAll('-{{ toYaml .Values.config | sha256sum | trunc 10 }}', '')
          .replaceAll('{{ toYaml .Values.config | indent 4 }}', config.replace(/^/gm, '    ').trimEnd())
          .replaceAll(/\{\{ \.Values\.([\w.]+) \}\}/g, (_, path: string) => of(path)),
      ),
    );
  const isNoneOf = (kind: string) => (one: Manifest) => one.kind !== kind;
  const sorted = (all: readonly Manifest[]): string[] => all.map((one) => JSON.stringify(one)).sort();
  expect(sorted(rendered.filter(isNoneOf('ConfigMap')))).toEqual(sorted([...manifests, ...optional].filter(isNoneOf('Namespace'))));
  const map = rendered.find(({ kind }) => kind === 'ConfigMap') as unknown as { data: Record<string, string> };
  expect(parse(map.data['config.yaml'] ?? '')).toEqual(values.config);
});

test('the probes of the kubelet reach evictd at an address of either family', () => {
  const { metrics } = load({ 'config.yaml': readFileSync(join(AGENT, 'config.yaml'), 'utf8') }).config;
  const deployment = optional.find(({ kind }) => kind === 'Deployment');
  expect(metrics).toEqual({ host: '::', port: 9796 });
  expect(JSON.stringify(deployment?.spec)).toContain('"args":["controller","--listen","[::]:9797"]');
});
