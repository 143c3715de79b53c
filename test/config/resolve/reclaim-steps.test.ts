import { expect, test } from 'vitest';
import type { ReclaimStep } from '../../../src/core/reclaim/reclaim-step.js';
import { issuesOf, load } from '../scratch.js';

const MINUTE = 60_000_000_000n;
const MIB = 1n << 20n;
const limits = { timeoutNs: MINUTE, memoryMaxBytes: 256n * MIB };

test.each<[entry: string, step: ReclaimStep]>([
  ['{step: journald}', { name: 'journald', kind: 'journald', keepBytes: 100n * MIB, ...limits }],
  [
    '{step: journald, keep: 1Gi, timeout: 5m, memoryMax: 64Mi}',
    { name: 'journald', kind: 'journald', keepBytes: 1024n * MIB, timeoutNs: 5n * MINUTE, memoryMaxBytes: 64n * MIB },
  ],
  ['{step: package-cache, name: caches}', { name: 'caches', kind: 'package-cache', ...limits }],
  ['{step: temporary-files, olderThan: 24h}', { name: 'temporary-files', kind: 'temporary-files', olderThanNs: 1440n * MINUTE, ...limits }],
  [
    '{step: command, name: prune, command: [/usr/bin/docker, system, prune], signals: [nodefs.available]}',
    { name: 'prune', kind: 'command', command: ['/usr/bin/docker', 'system', 'prune'], signals: ['nodefs.available'], ...limits },
  ],
])('%s', (entry, step) => {
  expect(load({ 'config.yaml': `reclaim: [${entry}]\n` }).config.reclaim).toEqual([step]);
});

test('there are no reclaim steps by default, and the lists of files are concatenated', () => {
  expect(load({ 'config.yaml': '' }).config.reclaim).toEqual([]);
  const { config } = load({ 'config.yaml': 'reclaim: [{step: journald}]\n', 'config.d/50.yaml': 'reclaim: [{step: package-cache}]\n' });
  expect(config.reclaim.map(({ name }) => name)).toEqual(['journald', 'package-cache']);
});

test.each<[wrong: string, entry: string, issue: string]>([
  ['an entry without a step', '{keep: 1Gi}', '1:11 EVICTD_CONFIG_VALUE'],
  ['an unknown step', '{step: nope}', '1:18 EVICTD_CONFIG_VALUE'],
  ['a key of another step', '{step: journald, olderThan: 1h}', '1:39 EVICTD_CONFIG_VALUE'],
  ['olderThan is missing', '{step: core-dumps}', '1:11 EVICTD_CONFIG_MISSING'],
  ['an age that would take what was just written', '{step: core-dumps, olderThan: 59s}', '1:41 EVICTD_CONFIG_RANGE'],
  ['a command without a name', '{step: command, command: [/bin/true], signals: [nodefs.available]}', '1:11 EVICTD_CONFIG_MISSING'],
  ['a command that frees nothing', '{step: command, name: a, command: [/bin/true]}', '1:11 EVICTD_CONFIG_MISSING'],
  ['a program that is looked for', '{step: command, name: a, command: [docker], signals: [nodefs.available]}', '1:45 EVICTD_CONFIG_PATH'],
  ['a command for memory', '{step: command, name: a, command: [/bin/true], signals: [memory.available]}', '1:68 EVICTD_CONFIG_VALUE'],
  ['a name that is not valid in a unit name', "{step: journald, name: 'a b'}", '1:34 EVICTD_CONFIG_VALUE'],
  ['a time of zero', '{step: journald, timeout: 0s}', '1:37 EVICTD_CONFIG_RANGE'],
  ['two steps of one name', '{step: journald}, {step: journald}', '1:29 EVICTD_CONFIG_VALUE'],
])('reclaim steps are refused: %s', (_wrong, entry, issue) => {
  expect(issuesOf(() => load({ 'config.yaml': `reclaim: [${entry}]\n` }))).toEqual([`config.yaml:${issue}`]);
});

test('the profile kubelet has no such steps', () => {
  const yaml = 'compatibility: kubelet\nallocatable: {cgroup: /a, capacity: 1Gi}\nreclaim: [{step: journald}]\n';
  expect(issuesOf(() => load({ 'config.yaml': yaml }))).toEqual(['config.yaml:3:11 EVICTD_CONFIG_PROFILE']);
});
