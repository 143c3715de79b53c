import { expect, test } from 'vitest';
import { addonCheck, descriptorsCheck, nodeVersionCheck } from '../../../../src/features/doctor/checks/process.js';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import manifest from '../../../../package.json' with { type: 'json' };
import { expectCheck, subjectFacts, unit, workloadFacts } from '../support.js';

const build = { node: 'v20.20.2', arch: 'x64', abi: '115', napi: '9', addon: { file: '/a.node' } };

test.each<[node: string, status: CheckStatus]>([
  ['v20.19.0', 'ok'],
  ['v20.18.9', 'broken'],
  ['v18.20.4', 'broken'],
  ['v24.0.0', 'ok'],
])('the check of Node %s is %s', (node, status) => {
  expectCheck(nodeVersionCheck.judge({ runtime: { ...build, node } })[0], 'process.node', status, new RegExp(node));
});

test('the oldest supported Node is that of package.json', () => {
  expect(nodeVersionCheck.judge({ runtime: { ...build, node: 'v1.0.0' } })[0]?.fix).toContain(manifest.engines.node.replace('>=', ''));
});

test('the check of the addon names it, or says why it cannot be loaded', () => {
  expectCheck(addonCheck.judge({ runtime: build })[0], 'process.addon', 'ok', /^\/a\.node loads \(Node-API 9, ABI 115\)$/);
  const failed = addonCheck.judge({ runtime: { ...build, addon: { failure: 'cannot be loaded', hint: 'build it' } } })[0];
  expectCheck(failed, 'process.addon', 'broken', /^cannot be loaded$/);
  expect(failed?.fix).toBe('build it');
});

test.each<[rule: string, workloads: number, openFiles: number, status: CheckStatus, summary: RegExp]>([
  ['half of the limit', 102, 1024, 'ok', /^limit of open files: 1024; 102 workloads need 510$/],
  ['more than half are in use', 103, 1024, 'degraded', /need 515, more than half/],
  ['there is no limit', 10_000, Infinity, 'ok', /^limit of open files: none;/],
])('the check of descriptors: %s', (_rule, count, openFiles, status, summary) => {
  const listed = Array.from({ length: count }, (_, index) => ({ name: String(index), path: `/${String(index)}`, unevictable: undefined }));
  const check = descriptorsCheck.judge({
    service: unit(),
    subject: subjectFacts({ limits: { openFiles, lockedBytes: 0 } }),
    workloads: workloadFacts({ listed }),
  })[0];
  expectCheck(check, 'process.descriptors', status, summary);
});

test('the limits cannot be read', () => {
  const check = descriptorsCheck.judge({
    service: unit(),
    subject: subjectFacts({ limits: { unseen: 'EACCES' } }),
    workloads: workloadFacts(),
  })[0];
  expectCheck(check, 'process.descriptors', 'degraded', /^unknown limit of open files: EACCES/);
});
