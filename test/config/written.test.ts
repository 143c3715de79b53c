import { expect, test } from 'vitest';
import type { ConfigFlags } from '../../src/config/merge/flags.js';
import { loadWritten } from '../../src/config/load.js';
import { load } from './scratch.js';

const CONFIG = `
evictionHard: { memory.available: 1.5Gi, nodefs.available: 7.5% }
evictionSoft: { memory.available: 2Gi }
evictionSoftGracePeriod: { memory.available: 30s }
evictionPressureTransitionPeriod: 0s
monitoringInterval: 2s
workloads: [{ cgroup: /a.slice }]
rules:
  - { match: { name: "db-*" }, critical: true, priority: 0x10 }
  - { match: { path: /a.slice/web }, requests: { memory: 1e9 }, terminationGracePeriodSeconds: 5 }
`;

const DROP_IN = `
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
evictionHard: { imagefs.available: 15%, memory.available: 300Mi }
`;

const FILES = { 'config.yaml': CONFIG, 'config.d/10.yaml': 'workloads: [{ cgroup: /b.slice }]\n', 'config.d/20.yaml': DROP_IN };
const FLAGS: ConfigFlags = { compatibility: 'kubelet', evictionMinimumReclaim: ['memory.available=10%'], evictionMaxPodGracePeriod: '7' };

test.each<[rule: string, files: Readonly<Record<string, string>>, flags: ConfigFlags]>([
  ['defaults', { 'config.yaml': '' }, {}],
  ['files that add up, in both dialects', FILES, {}],
  ['files and flags', FILES, FLAGS],
])('a configuration that was written gives the same configuration, also as JSON: %s', (_rule, files, flags) => {
  const loaded = load(files, flags);
  const again = loadWritten(JSON.parse(JSON.stringify(loaded.written)) as typeof loaded.written, {});
  expect(again.config).toEqual(loaded.config);
  expect(again.written.files).toEqual(loaded.written.files);
});

test('an additional flag is the same as if given with the others, and overrides the same flag', () => {
  const more: ConfigFlags = { evictionHard: ['memory.available<5Gi'], compatibility: 'evictd', evictionMaxPodGracePeriod: '9' };
  const { written } = load(FILES, FLAGS);
  expect(loadWritten(written, more).config).toEqual(load(FILES, { ...FLAGS, ...more }).config);
});

test('other options of a command are not part of the configuration', () => {
  const options = { ...FLAGS, dryRun: true, record: '/x' };
  expect(load(FILES, options).written.flags).toEqual(FLAGS);
});
