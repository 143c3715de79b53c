// make chart: the manifests of packaging/kubernetes as a Helm chart, build/evictd-VERSION.tgz. The manifests are the source: the
// chart has the same objects.
//
//   tsx packaging/chart.ts [--out DIRECTORY]
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse, stringify } from 'yaml';
import manifest from '../package.json' with { type: 'json' };
import { lastChange } from './last-change.js';

const HERE = join(import.meta.dirname, 'kubernetes');
const read = (file: string): string => readFileSync(join(HERE, file), 'utf8');

/** What an installation may change, in each file: the text of the manifest, and the template in its place. */
const TEMPLATES: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  'agent/rbac.yaml': [['namespace: evictd', 'namespace: {{ .Release.Namespace }}']],
  'agent/admission-policy.yaml': [['serviceaccount:evictd:evictd', 'serviceaccount:{{ .Release.Namespace }}:evictd']],
  'agent/daemonset.yaml': [
    ['namespace: evictd', 'namespace: {{ .Release.Namespace }}'],
    [`image: localhost/evictd:${manifest.version}`, 'image: {{ .Values.image }}'],
    ['configMap: { name: evictd }', 'configMap: { name: evictd-{{ toYaml .Values.config | sha256sum | trunc 10 }} }'],
    ['{ cpu: 20m, memory: 66Mi }', '{ cpu: {{ .Values.requests.cpu }}, memory: {{ .Values.requests.memory }} }'],
  ],
  'agent-with-pod-monitor/pod-monitor.yaml': [['namespace: evictd', 'namespace: {{ .Release.Namespace }}']],
  'could-run/could-run-rbac.yaml': [['namespace: evictd\n', 'namespace: {{ .Release.Namespace }}\n']],
  'controller/controller-rbac.yaml': [['namespace: evictd\n', 'namespace: {{ .Release.Namespace }}\n']],
  'controller/deployment.yaml': [
    ['namespace: evictd\n', 'namespace: {{ .Release.Namespace }}\n'],
    [`image: localhost/evictd:${manifest.version}`, 'image: {{ .Values.image }}'],
  ],
};

/** By folder: the value that includes its objects. Left out: they are always included. */
const CONDITIONS: Readonly<Record<string, string>> = {
  'agent-with-pod-monitor': 'podMonitor',
  'could-run': 'couldRun',
  controller: 'controller',
};

const CONFIG_MAP = `apiVersion: v1
kind: ConfigMap
metadata:
  name: evictd-{{ toYaml .Values.config | sha256sum | trunc 10 }}
  namespace: {{ .Release.Namespace }}
data:
  config.yaml: |
{{ toYaml .Values.config | indent 4 }}
`;

/** The files of the chart, by their path in it. Throws if a manifest lacks what a template stands for. */
export function chartFiles(): ReadonlyMap<string, string> {
  const values = {
    image: `localhost/evictd:${manifest.version}`,
    requests: { cpu: '20m', memory: '66Mi' },
    podMonitor: false,
    couldRun: false,
    controller: false,
    config: parse(read('agent/config.yaml')) as unknown,
  };
  const files = new Map([
    ['Chart.yaml', stringify({ apiVersion: 'v2', name: 'evictd', version: manifest.version, description: manifest.description })],
    ['values.yaml', stringify(values)],
    ['templates/config.yaml', CONFIG_MAP],
  ]);
  for (const [file, replaced] of Object.entries(TEMPLATES)) {
    const text = replaced.reduce((before, [from, to]) => {
      if (!before.includes(from)) throw new Error(`${file} lacks ${from}`);
      return before.replaceAll(from, to);
    }, read(file));
    const [folder = '', name = ''] = file.split('/');
    const condition = CONDITIONS[folder];
    files.set(`templates/${name}`, condition === undefined ? text : `{{- if .Values.${condition} }}\n${text}{{- end }}\n`);
  }
  return files;
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: 'build' } } });
  const directory = join(values.out, 'chart', 'evictd');
  rmSync(directory, { recursive: true, force: true });
  for (const [name, text] of chartFiles()) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  const archive = join(values.out, `evictd-${manifest.version}.tgz`);
  const plain = ['--owner=0', '--group=0', '--sort=name', `--mtime=@${lastChange()}`];
  execFileSync('tar', ['-czf', archive, ...plain, '-C', join(values.out, 'chart'), 'evictd']);
  process.stdout.write(`${archive}\n`);
}
