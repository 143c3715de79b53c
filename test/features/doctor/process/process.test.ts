import { expect, test } from 'vitest';
import { checkAddon } from '../../../../src/features/doctor/process/addon.js';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import { checkDescriptors } from '../../../../src/features/doctor/process/descriptors.js';
import { checkNodeVersion } from '../../../../src/features/doctor/process/node-version.js';
import manifest from '../../../../package.json' with { type: 'json' };
import { expectCheck, subjectFacts, workloadFacts } from '../support.js';

test.each<[node: string, status: CheckStatus]>([
  ['v20.19.0', 'ok'],
  ['v20.18.9', 'broken'],
  ['v18.20.4', 'broken'],
  ['v24.0.0', 'ok'],
])('Node %s is %s', (node, status) => {
  expectCheck(checkNodeVersion({ node, arch: 'x64' }), 'process.node', status, new RegExp(node));
});

test('the oldest Node is that of the package', () => {
  expect(checkNodeVersion({ node: 'v1.0.0', arch: 'x64' }).fix).toContain(manifest.engines.node.replace('>=', ''));
});

test('the addon: which, or why not', () => {
  const build = { node: 'v20.20.2', arch: 'x64', abi: '115', napi: '9' };
  expectCheck(checkAddon({ ...build, addon: { file: '/a.node' } }), 'process.addon', 'ok', /^\/a\.node loads \(Node-API 9, ABI 115\)$/);
  const failed = checkAddon({ ...build, addon: { failure: 'cannot be loaded', hint: 'build it' } });
  expectCheck(failed, 'process.addon', 'broken', /^cannot be loaded$/);
  expect(failed.fix).toBe('build it');
});

test.each<[rule: string, workloads: number, openFiles: number, status: CheckStatus, summary: RegExp]>([
  ['half of the limit', 102, 1024, 'ok', /^limit of open files: 1024; 102 workloads need 510$/],
  ['more than half', 103, 1024, 'degraded', /need 515, more than half/],
  ['no limit', 10_000, Infinity, 'ok', /^limit of open files: none;/],
])('descriptors: %s', (_rule, count, openFiles, status, summary) => {
  const listed = Array.from({ length: count }, (_, index) => ({ name: String(index), path: `/${String(index)}`, hindrance: undefined }));
  const check = checkDescriptors(subjectFacts({ limits: { openFiles, lockedBytes: 0 } }), workloadFacts({ listed }));
  expectCheck(check, 'process.descriptors', status, summary);
});

test('limits that cannot be seen', () => {
  const check = checkDescriptors(subjectFacts({ limits: { unseen: 'EACCES' } }), workloadFacts());
  expectCheck(check, 'process.descriptors', 'degraded', /^unknown limit of open files: EACCES/);
});
