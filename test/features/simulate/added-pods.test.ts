import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { AddedPods } from '../../../src/features/simulate/added-pods.js';
import type { ApiObject } from '../../support/cluster/generated-cluster.js';
import { node, pod, simulationOf, told } from './support.js';

const directory = mkdtempSync(join(tmpdir(), `evictd-added-${String(process.pid)}-`));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const ZONE = 'topology.kubernetes.io/zone';

/** What happens when a file is added to a cluster. */
function added(objects: readonly ApiObject[], text: string, replicas?: number): readonly string[] {
  const file = join(directory, 'added.yaml');
  writeFileSync(file, text);
  const pods = new AddedPods([]);
  const read = pods.read(file, replicas);
  const simulation = simulationOf(objects, undefined, pods.owners);
  simulation.run({ kind: 'add', pods: read, what: file });
  return told(simulation.events);
}

const deployment = (template: string, kind = 'Deployment'): string => `
apiVersion: apps/v1
kind: ${kind}
metadata: { namespace: shop, name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: ${template}
`;
const container = (resources: string, ports = '[]'): string => `{ name: c, resources: ${resources}, ports: ${ports} }`;

test('requests that are not set are the limits', () => {
  const lines = added([node('node-1')], deployment(`{ containers: [${container('{ limits: { cpu: 3 } }')}] }`));
  expect(lines).toEqual(['0 scheduled shop/web-1 node-1', expect.stringMatching(/^0 pending shop\/web-2: .*1 Insufficient cpu\./)]);
});

test("with the host's network two pods with one port need two nodes", () => {
  const template = `{ hostNetwork: true, containers: [${container('{}', '[{ containerPort: 80 }]')}] }`;
  expect(added([node('node-1')], deployment(template))).toEqual([
    '0 scheduled shop/web-1 node-1',
    expect.stringContaining("node(s) didn't have free ports for the requested pod ports"),
  ]);
});

test('a pod that names its node needs no scheduler: the kubelet runs it there, or refuses it', () => {
  const nodes = [node('node-1'), { ...node('node-2', { cpu: '1' }), spec: { unschedulable: true } }];
  const template = `{ nodeName: node-2, schedulerName: volcano, containers: [${container('{ limits: { cpu: 600m } }')}] }`;
  expect(added(nodes, deployment(template))).toEqual(['0 scheduled shop/web-1 node-2', '0 lost shop/web-2']);
});

test('a pod of another scheduler waits for that scheduler', () => {
  const [first] = added([node('node-1')], deployment(`{ schedulerName: volcano, containers: [${container('{}')}] }`));
  expect(first).toBe('0 pending shop/web-1: waiting for the scheduler "volcano", which is not simulated');
});

test('the default spread counts only the pods of the new ReplicaSet', () => {
  const zoned = [node('node-1', { [ZONE]: 'a' }), node('node-2', { [ZONE]: 'b' })];
  const old = ['web-7c9-a', 'web-7c9-b'].map((name) => pod(name, 'node-1', { cpu: '10m', memory: '1Mi' }));
  const objects = [...zoned, ...old.map((each) => ({ ...each, metadata: { ...(each.metadata as object), labels: { app: 'web' } } }))];
  const template = `{ containers: [${container('{ requests: { cpu: 10m, memory: 1Mi } }')}] }`;
  const nodesOf = (lines: readonly string[]): readonly string[] => lines.map((line) => line.replace(/.* /, '')).sort();
  expect(nodesOf(added(objects, deployment(template)))).toEqual(['node-1', 'node-2']);
  // A ReplicaSet of this selector has the old pods, too.
  expect(nodesOf(added(objects, deployment(template, 'ReplicaSet')))).toEqual(['node-2', 'node-2']);
});

test('matchLabelKeys with the hash of the template counts only new pods', () => {
  const constraint =
    '{ maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: { matchLabels: { app: web } }, matchLabelKeys: [pod-template-hash] }';
  const spec = `{ topologySpreadConstraints: [${constraint}], containers: [${container('{}', '[{ containerPort: 80 }]')}] }`;
  const old = ['web-a', 'web-b', 'web-c'].map((name) => pod(name, 'node-1', { cpu: '10m' }));
  const lines = added([node('node-1'), node('node-2'), ...old], deployment(spec));
  expect(lines.map((line) => line.replace(/.* /, '')).sort()).toEqual(['node-1', 'node-2']);
});

test('pods of a StatefulSet count from 0', () => {
  const template = `{ containers: [${container('{}')}] }`;
  expect(added([node('node-1')], deployment(template, 'StatefulSet'), 2)).toEqual([
    '0 scheduled shop/web-0 node-1',
    '0 scheduled shop/web-1 node-1',
  ]);
});

test('a pod whose selector or toleration the API server refuses is not added', () => {
  const selector = '{ matchExpressions: [{ key: app, operator: Inn, values: [web] }] }';
  const spread = `[{ maxSkew: 1, topologyKey: ${ZONE}, whenUnsatisfiable: DoNotSchedule, labelSelector: ${selector} }]`;
  const template = `{ topologySpreadConstraints: ${spread}, containers: [${container('{}')}] }`;
  expect(() => added([node('node-1')], deployment(template))).toThrow(
    'spec.topologySpreadConstraints[0].labelSelector.matchExpressions[0].operator is "Inn"',
  );
  const tolerating = `{ tolerations: [{ key: a, operator: Exist }], containers: [${container('{}')}] }`;
  expect(() => added([node('node-1')], deployment(tolerating))).toThrow('spec.tolerations[0].operator is "Exist"');
});
