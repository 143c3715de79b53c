import { describe, expect, test } from 'vitest';
import type { Rule } from '../../../../src/core/workload/rule.js';
import { lintEvictable } from '../../../../src/config/lint/workloads/evictable.js';
import type { UnevictableReason, PresentSource, PresentWorkload } from '../../../../src/config/lint/machine.js';
import type { LadderStep } from '../../../../src/core/policy/configured-policy.js';
import { conditionOf } from '../../../core/condition/conditions.js';
import { threshold } from '../../../core/support.js';
import { machine, present, subject } from '../support.js';

const memory = [threshold('memory.available', '100Mi')];
const critical: UnevictableReason = { kind: 'critical', text: 'critical' };
const vacant: UnevictableReason = { kind: 'vacant', text: 'it has no process' };
const outside: UnevictableReason = { kind: 'other', text: 'outside the node' };
const missing = { code: 'EVICTD_SOURCE_MISSING', message: 'workload source /workload.slice does not exist', hint: 'create it' };

const source = (facts: Partial<PresentSource> = {}): PresentSource => ({ text: '/a', workloads: 1, unreadable: 0, problems: [], ...facts });

const there = (workloads: readonly PresentWorkload[], sources: readonly PresentSource[] = []) =>
  machine({ workloads: { present: workloads, sources } });

describe('a configuration without a machine to check it on', () => {
  const rule = (match: Rule['match'], isCritical = true): readonly Rule[] => [
    { match: { name: 'web' }, critical: true },
    { match, critical: isCritical },
  ];
  test.each<[rule: string, subject: Parameters<typeof lintEvictable>[0], code: string | undefined]>([
    ['a threshold of memory and a source', subject(memory), undefined],
    ['there is no threshold', subject([]), 'EVICTD_LINT_NO_THRESHOLD'],
    ['there is no threshold, and no workload that could be evicted', subject([], { workloads: [] }), 'EVICTD_LINT_NO_THRESHOLD'],
    ['there is no workload source', subject(memory, { workloads: [] }), 'EVICTD_WORKLOADS_NONE'],
    ['an eviction may free disk space', subject([threshold('nodefs.available', '10%')]), undefined],
    ['process ids are', subject([threshold('pid.available', '10%')]), undefined],
    ['another memory signal has a threshold', subject([threshold('allocatableMemory.available', '1Gi')]), undefined],
    ['a rule for everything', subject(memory, { rules: rule({}) }), 'EVICTD_LINT_ALL_CRITICAL'],
    ['a rule for every name', subject(memory, { rules: rule({ name: '*' }) }), 'EVICTD_LINT_ALL_CRITICAL'],
    ['a rule for every path', subject(memory, { rules: rule({ path: '/**' }) }), 'EVICTD_LINT_ALL_CRITICAL'],
    ['a rule with two conditions needs both', subject(memory, { rules: rule({ name: '*', path: '/a/*' }) }), undefined],
    ['* is not every path', subject(memory, { rules: rule({ path: '*' }) }), undefined],
    ['critical: false makes no workload critical', subject(memory, { rules: rule({}, false) }), undefined],
  ])('%s', (_rule, looked, code) => {
    expect(lintEvictable(looked, undefined).map((finding) => finding.code)).toEqual(code === undefined ? [] : [code]);
  });

  test.each<[rule: string, steps: readonly LadderStep[], level: string]>([
    ['only notify', [{ kind: 'notify' }], 'info'],
    ['notify and run programs', [{ kind: 'notify' }, { kind: 'run', command: ['/bin/a'], timeoutNs: 1n }], 'info'],
    ['act on workloads', [{ kind: 'notify' }, { kind: 'freeze', forNs: 1n }], 'error'],
  ])('there is no source, and policies %s', (_rule, then, level) => {
    const policy = { name: 'a', when: conditionOf('age > 1h', 'cgroup'), forNs: 0n, cooldownNs: 0n, then };
    const found = lintEvictable(subject(memory, { workloads: [], policies: [policy] }), undefined);
    expect(found.map((finding) => `${finding.level} ${finding.code}`)).toEqual([`${level} EVICTD_WORKLOADS_NONE`]);
  });

  test.each<[rule: string, written: Readonly<Record<string, string>>, message: string, hint: string]>([
    ['the hint is to remove the 0%', { 'evictionHard.memory.available': '0%' }, 'every threshold is disabled', 'or remove the 0%'],
    ['100% too', { 'evictionSoft.memory.available': '100%' }, 'every threshold is disabled', 'or remove the 100%'],
    [
      'the hint is to set a threshold where none is written',
      { evictionPressureTransitionPeriod: '0%' },
      'there is no threshold',
      'set evictionHard.memory.available',
    ],
  ])('there is no threshold: %s', (_rule, written, message, hint) => {
    const [found] = lintEvictable(subject([], { written: new Map(Object.entries(written)) }), undefined);
    expect(found?.message).toContain(message);
    expect(found?.hint?.endsWith(hint)).toBe(true);
  });

  test('the finding names the rule', () => {
    const found = lintEvictable(subject(memory, { rules: rule({}) }), undefined);
    expect(found).toMatchObject([{ key: 'rules[1]', message: 'rules[1] makes every workload critical: evictd evicts nothing' }]);
  });
});

describe('with the existing workloads', () => {
  test.each<[rule: string, workloads: readonly PresentWorkload[], sources: readonly PresentSource[], codes: readonly string[]]>([
    ['one evictable workload is enough', [present('a'), present('b', { unevictable: critical })], [], []],
    ['all workloads are critical', [present('a', { unevictable: critical })], [], ['EVICTD_LINT_ALL_CRITICAL']],
    [
      'all workloads are critical but the empty ones',
      [present('a', { unevictable: critical }), present('b', { unevictable: vacant })],
      [],
      ['EVICTD_LINT_ALL_CRITICAL'],
    ],
    [
      'all workloads are protected, and not all are critical',
      [present('a', { unevictable: critical }), present('b', { unevictable: outside })],
      [],
      ['EVICTD_LINT_NOTHING_EVICTABLE'],
    ],
    ['all workloads are empty', [present('a', { unevictable: vacant })], [], ['EVICTD_LINT_NOTHING_EVICTABLE']],
    ['an empty source is reported once', [], [source({ workloads: 0 })], ['EVICTD_LINT_NOTHING_EVICTABLE']],
    ['an empty source beside one with workloads', [present('a')], [source(), source({ workloads: 0 })], ['EVICTD_LINT_SOURCE_EMPTY']],
    ['a missing source', [], [source({ workloads: 0, problems: [missing] })], ['EVICTD_SOURCE_MISSING', 'EVICTD_LINT_NOTHING_EVICTABLE']],
    ['a missing source beside one with workloads', [present('a')], [source({ problems: [missing] })], ['EVICTD_SOURCE_MISSING']],
    ['workloads that cannot be read', [present('a')], [source({ unreadable: 2 })], ['EVICTD_LINT_SOURCE_UNREADABLE']],
  ])('%s', (_rule, workloads, sources, codes) => {
    expect(lintEvictable(subject(memory), there(workloads, sources)).map(({ code }) => code)).toEqual(codes);
  });

  test('each finding about a missing source has the position of its entry', () => {
    const found = lintEvictable(subject(memory), there([present('a')], [source(), source({ problems: [missing] })]));
    expect(found).toEqual([{ level: 'warn', key: 'workloads[1]', ...missing }]);
  });

  test('the finding counts the critical workloads of each rule', () => {
    const rules: readonly Rule[] = [
      { match: { name: 'x' }, priority: 1 },
      { match: { name: '?' }, critical: true },
      { match: { name: 'db' }, critical: true },
    ];
    const workloads = ['e', 'd', 'b', 'a', 'c'].map((name) => present(name, { matched: [1], unevictable: critical }));
    const found = lintEvictable(subject(memory, { rules }), there([...workloads, present('db', { matched: [2], unevictable: critical })]));
    expect(found).toMatchObject([
      {
        key: 'rules[1]',
        message: 'every workload that exists now (6) is critical: rules[1] a, b, c and 2 more, rules[2] db; evictd evicts nothing',
      },
    ]);
  });

  test('the finding counts the reasons for protection', () => {
    const workloads = [
      present('a', { unevictable: outside }),
      present('b', { unevictable: critical }),
      present('c', { unevictable: outside }),
    ];
    expect(lintEvictable(subject(memory), there(workloads))[0]?.message).toBe(
      'evictd evicts nothing: no workload in /workload.slice is evictable now: 2 × outside the node, 1 × critical',
    );
  });
});
