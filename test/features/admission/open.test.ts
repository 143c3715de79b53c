import { describe, expect, test } from 'vitest';
import { applicantByRules, conditionsFileOf, type NamedWorkload } from '../../../src/features/admission/open.js';
import type { Rule } from '../../../src/core/workload/rule.js';

const rules: readonly Rule[] = [
  { match: { name: 'postgres*' }, critical: true },
  { match: { path: '/batch.slice/sshd.service' }, critical: true },
  { match: { name: 'system' }, priority: 2_000_000_000 },
  { match: { name: 'web-*' }, requestsMemory: 1n },
  { match: { name: 'web-0' }, requestsMemory: 0n },
  { match: { path: '/batch.slice/sized' }, requestsMemory: 1n },
  { match: { path: '/batch.slice/outer/inner' }, critical: true },
];
const batch = [{ cgroup: '/batch.slice' }];
const unnamed: NamedWorkload = { name: undefined, path: undefined, qosClass: undefined };

describe('a workload is judged by the rules', () => {
  test.each<[rule: string, requested: Partial<NamedWorkload>, expected: string]>([
    ['without a rule it is BestEffort', { name: 'batch-1' }, 'BestEffort'],
    ['without name and path no rule matches', {}, 'BestEffort'],
    ['critical by name', { name: 'postgres-14' }, 'critical BestEffort'],
    ['critical by path', { path: '/batch.slice/sshd.service' }, 'critical BestEffort'],
    ['critical by path, asked by name: the source supplies the path', { name: 'sshd.service' }, 'critical BestEffort'],
    ['critical by name, asked by path', { path: '/batch.slice/postgres-14' }, 'critical BestEffort'],
    ['a path of no source: its last component is the name', { path: '/system.slice/postgres.service' }, 'critical BestEffort'],
    ['for a path below a workload the rules of that workload hold', { path: '/batch.slice/postgres-14/worker' }, 'critical BestEffort'],
    ['a path below a workload: and those for itself', { path: '/batch.slice/outer/inner' }, 'critical BestEffort'],
    ['a path that is not normal', { path: 'batch.slice//postgres-14/' }, 'critical BestEffort'],
    ['name and path: the name is not taken from the path', { name: 'x', path: '/batch.slice/postgres-14' }, 'BestEffort'],
    ['a priority protects nothing, however high', { name: 'system' }, 'BestEffort'],
    ['a request for memory', { name: 'web-1' }, 'Burstable'],
    ['a request by path', { name: 'sized' }, 'Burstable'],
    ['a request of nothing', { name: 'web-0' }, 'BestEffort'],
    ['a class that is named wins over the rules', { name: 'web-1', qosClass: 'BestEffort' }, 'BestEffort'],
    ['a class does not make it critical', { name: 'postgres-14', qosClass: 'Guaranteed' }, 'critical Guaranteed'],
  ])('%s', (_rule, requested, expected) => {
    const { critical, qosClass, tolerations } = applicantByRules({ rules, workloads: batch }, { ...unnamed, ...requested });
    expect(`${critical ? 'critical ' : ''}${qosClass}`).toBe(expected);
    expect(tolerations).toEqual([]);
  });

  test.each<[rule: string, requested: Partial<NamedWorkload>, critical: boolean]>([
    ['a unit by its path', { path: '/batch.slice/batch-b.slice/postgres.service' }, true],
    ['a part of a unit', { path: '/batch.slice/postgres.service/worker' }, true],
    ['a unit by its name, in the slice', { name: 'sshd.service' }, true],
    ['a unit of another slice', { path: '/x.slice/sshd.service' }, false],
  ])('as a unit: %s', (_rule, requested, critical) => {
    const workloads = [{ systemd: { slices: ['batch.slice'], units: [] } }];
    expect(applicantByRules({ rules, workloads }, { ...unnamed, ...requested }).critical).toBe(critical);
  });

  test.each<[rule: string, workloads: readonly { cgroup: string }[], critical: boolean]>([
    ['without a source a rule by path cannot match a name', [], false],
    ['a rule for another source does not match', [{ cgroup: '/other.slice' }], false],
    ['one matching source of several is enough', [{ cgroup: '/other.slice' }, { cgroup: '/batch.slice/' }], true],
    ['the root is a source', [{ cgroup: '/' }], false],
  ])('by the name sshd.service: %s', (_rule, workloads, critical) => {
    expect(applicantByRules({ rules, workloads }, { ...unnamed, name: 'sshd.service' }).critical).toBe(critical);
  });

  test('with the tolerations of all rules that match, by name or path', () => {
    const gpu = { key: 'gpu', operator: 'Exists', value: '', effect: '' };
    const tolerating: readonly Rule[] = [
      { match: { name: 'web' }, tolerations: [gpu] },
      { match: { path: '/batch.slice/*' }, tolerations: [{ ...gpu, key: 'slow' }] },
    ];
    const of = (name: string) => applicantByRules({ rules: tolerating, workloads: batch }, { ...unnamed, name }).tolerations;
    expect([of('web'), of('db')].map((list) => list.map(({ key }) => key))).toEqual([['gpu', 'slow'], ['slow']]);
  });

  test('with the name of the top-level cgroup below the root as a source', () => {
    const requested = { ...unnamed, path: '/postgres.slice/a/b' };
    expect(applicantByRules({ rules, workloads: [{ cgroup: '/' }] }, requested).critical).toBe(true);
  });

  test('with a rule for everything, without name and path', () => {
    expect(applicantByRules({ rules: [{ match: {}, requestsMemory: 1n }], workloads: [] }, unnamed).qosClass).toBe('Burstable');
  });
});

test.each<[rule: string, requested: Partial<NamedWorkload>, critical: boolean]>([
  ['a program in other case', { path: 'c:/apps/DB.exe' }, true],
  ['the file name of the path is the name', { path: 'D:\\other\\web.exe' }, true],
  ['a job', { name: 'batch', path: 'job:batch' }, true],
  ['no rule matches', { path: 'D:\\other\\db.exe' }, false],
])('a rule on Windows matches a program: %s', (_rule, requested, critical) => {
  const rules = [{ path: 'C:\\Apps\\**' }, { name: 'web.exe' }, { path: 'job:batch' }].map((match) => ({ match, critical: true }));
  expect(applicantByRules({ rules, workloads: [] }, { ...unnamed, ...requested }, 'windows').critical).toBe(critical);
});

test.each<[cgroup: string | undefined, path: string, node: string]>([
  [undefined, '/run/evictd/machine.conditions.json', 'machine'],
  ['/workload.slice', '/run/evictd/cgroup-%2Fworkload.slice.conditions.json', '/workload.slice'],
])('each node has a file of its own: %s', (cgroup, path, node) => {
  const file = conditionsFileOf({ node: { cgroup }, runtimeDirectory: '/run/evictd' });
  expect(file).toEqual({ path, node, bootId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string });
});
