import { type Rule, type Named } from '../../src/core/workload/rule.js';
import { describe, expect, test } from 'vitest';

import { compileRules } from '../../src/workloads/workload-rules.js';

const effectOn = (rules: readonly Rule[], workload: Partial<Named>) =>
  compileRules(rules)({ name: 'web', path: '/workload.slice/web', ...workload });

const matches = (match: Rule['match'], workload: Partial<Named>) => effectOn([{ match }], workload).matched.length === 1;

describe('a glob over the name', () => {
  test.each<[rule: string, glob: string, name: string, matched: boolean]>([
    ['literal', 'web', 'web', true],
    ['anchored at the end', 'web', 'web2', false],
    ['anchored at the start', 'web', 'my-web', false],
    ['case counts', 'Web', 'web', false],
    ['* takes nothing', 'web*', 'web', true],
    ['* takes a run', 'postgres*', 'postgresql-16', true],
    ['* in the middle', 'a*z', 'abcz', true],
    ['* stops at a slash', 'batch-*', 'batch-a/worker', false],
    ['* does not take a leading slash', '*', 'a/b', false],
    ['* per level', '*/*', 'a/b', true],
    ['** takes slashes', 'batch-**', 'batch-a/worker/1', true],
    ['** takes nothing', '**', '', true],
    ['** in the middle', 'a/**/z', 'a/b/c/z', true],
    ['the slashes around ** are literal', 'a/**/z', 'a/z', false],
    ['*** is **', '***', 'a/b', true],
    ['two separate stars backtrack', '*a*b', 'xaab', true],
    ['? matches one character', 'w?b', 'web', true],
    ['? matches exactly one character', 'web?', 'web', false],
    ['? does not take a slash', 'a?b', 'a/b', false],
    ['? takes a character beyond the BMP whole', 'a?', 'a😀', true],
    ['a dot is a dot', 'a.service', 'a.service', true],
    ['a dot is not a wildcard', 'a.service', 'axservice', false],
    ['regular expression characters are literal', 'a+(b)[c]{2}^$|\\d', 'a+(b)[c]{2}^$|\\d', true],
    ['a character class is not special', '[ab]', 'a', false],
    ['an alternative is not special', 'a|b', 'a', false],
    ['systemd escapes are literal', 'dev-\\x2dfoo.mount', 'dev-\\x2dfoo.mount', true],
    ['a hyphen is literal', 'a-c', 'b', false],
    ['a newline is a character for *', 'a*b', 'a\nb', true],
    ['a byte that is not UTF-8, as it is shown', 'leak\\xff', 'leak\udcff', true],
    ['another byte', 'leak\\xff', 'leak\udcfe', false],
    ['a byte that is not UTF-8 is one character', 'leak?', 'leak\udcff', true],
    ['a control character, as it is shown', 'x\\x1b*', 'x\u001b[31mred', true],
    ['a control character itself', 'x\u001b*', 'x\u001b[31mred', true],
    ['** matches a newline', 'a**b', 'a\nb', true],
    ['a newline at the end is not ignored', 'web', 'web\n', false],
    ['the empty glob', '', '', true],
    ['the empty glob matches nothing else', '', 'a', false],
  ])('%s: %j on %j → %s', (_rule, glob, name, matched) => {
    expect(matches({ name: glob }, { name })).toBe(matched);
  });
});

describe('a rule by name and path', () => {
  const workload = { name: 'web', path: '/workload.slice/web' };
  test.each<[rule: string, match: Rule['match'], matched: boolean]>([
    ['path is the full path', { path: '/workload.slice/web' }, true],
    ['path is not searched in the middle', { path: 'web' }, false],
    ['path with **', { path: '/workload.slice/**' }, true],
    ['name is not the full path', { name: '/workload.slice/web' }, false],
    ['both match', { name: 'web', path: '/*/web' }, true],
    ['only the name matches', { name: 'web', path: '/other/*' }, false],
    ['only the path matches', { name: 'db', path: '/*/web' }, false],
    ['a rule with neither matches everything', {}, true],
  ])('%s', (_rule, match, matched) => {
    expect(matches(match, workload)).toBe(matched);
  });
});

describe('several rules for one workload', () => {
  const all = { name: '**' };
  const none = { name: 'absent' };
  const gpu = { key: 'gpu', operator: 'Exists', value: '', effect: 'NoSchedule' };
  const base = {
    directories: [],
    tolerations: [],
    critical: false,
    liftProtection: false,
    priority: undefined,
    preemptionPolicy: 'PreemptLowerPriority',
    requestsMemory: undefined,
    terminationGracePeriodNs: undefined,
  };

  test.each<[rule: string, rules: readonly Rule[], effect: object]>([
    [
      'directories add up',
      [
        { match: {}, directories: [{ path: '/srv/a' }] },
        { match: {}, directories: [{ path: '/srv/b' }] },
      ],
      {
        ...base,
        directories: [{ path: '/srv/a' }, { path: '/srv/b' }],
        matched: [0, 1],
      },
    ],
    [
      'tolerations add up',
      [
        { match: {}, tolerations: [gpu] },
        { match: {}, tolerations: [{ ...gpu, effect: 'NoExecute', tolerationSeconds: 30n }] },
      ],
      { ...base, tolerations: [gpu, { ...gpu, effect: 'NoExecute', tolerationSeconds: 30n }], matched: [0, 1] },
    ],
    ['there are no rules', [], { ...base, matched: [] }],
    ['no rule matches', [{ match: none, critical: true, priority: 7 }], { ...base, matched: [] }],
    ['a rule without effect still matched', [{ match: all }], { ...base, matched: [0] }],
    [
      'each key of one rule is used',
      [{ match: all, critical: true, liftProtection: true, priority: -10, requestsMemory: 512n, terminationGracePeriodNs: 5n }],
      {
        critical: true,
        liftProtection: true,
        priority: -10,
        preemptionPolicy: 'PreemptLowerPriority',
        requestsMemory: 512n,
        terminationGracePeriodNs: 5n,
        directories: [],
        tolerations: [],
        matched: [0],
      },
    ],
    [
      'the later wins, key by key',
      [
        { match: all, priority: 1, requestsMemory: 100n },
        { match: all, priority: 2, terminationGracePeriodNs: 3n },
      ],
      { ...base, priority: 2, requestsMemory: 100n, terminationGracePeriodNs: 3n, matched: [0, 1] },
    ],
    [
      'the preemption policy is that of the rule with the priority',
      [
        { match: all, priority: 1, preemptionPolicy: 'Never' },
        { match: all, requestsMemory: 1n },
      ],
      { ...base, priority: 1, preemptionPolicy: 'Never', requestsMemory: 1n, matched: [0, 1] },
    ],
    [
      'a later priority without a class brings its own policy',
      [
        { match: all, priority: 1, preemptionPolicy: 'Never' },
        { match: all, priority: 2 },
      ],
      { ...base, priority: 2, matched: [0, 1] },
    ],
    [
      'zero is a value and wins',
      [
        { match: all, priority: 5, requestsMemory: 100n, terminationGracePeriodNs: 3n },
        { match: all, priority: 0, requestsMemory: 0n, terminationGracePeriodNs: 0n },
      ],
      { ...base, priority: 0, requestsMemory: 0n, terminationGracePeriodNs: 0n, matched: [0, 1] },
    ],
    [
      'critical is not unset by a later rule',
      [
        { match: all, critical: true },
        { match: all, critical: false },
      ],
      { ...base, critical: true, matched: [0, 1] },
    ],
    [
      'critical may be set by a later rule',
      [
        { match: all, critical: false },
        { match: all, critical: true },
      ],
      { ...base, critical: true, matched: [0, 1] },
    ],
    [
      'only matching rules count, by their index',
      [
        { match: all, priority: 1 },
        { match: none, priority: 2, critical: true },
        { match: all, requestsMemory: 3n },
      ],
      { ...base, priority: 1, requestsMemory: 3n, matched: [0, 2] },
    ],
  ])('%s', (_rule, rules, effect) => {
    expect(effectOn(rules, {})).toEqual(effect);
  });

  test('the rules of one workload do not affect the next', () => {
    const effectOf = compileRules([{ match: { name: 'db' }, critical: true, priority: 9 }]);
    expect(effectOf({ name: 'db', path: '/db' }).critical).toBe(true);
    expect(effectOf({ name: 'web', path: '/web' })).toEqual({ ...base, matched: [] });
  });
});

describe('rules by labels', () => {
  const labels = { app: 'web', 'app.kubernetes.io/part-of': 'shop' };

  test.each<[rule: string, labels: Readonly<Record<string, string>>, matched: boolean]>([
    ['the value', { app: 'web' }, true],
    ['another value', { app: 'db' }, false],
    ['a pattern of it', { app: 'w*' }, true],
    ['a label that it does not have', { tier: '*' }, false],
    ['all of several labels', { app: 'web', 'app.kubernetes.io/part-of': 'shop' }, true],
    ['one of several labels', { app: 'web', tier: 'front' }, false],
    ['no label in the rule', {}, true],
    ['a property that every JavaScript object has is not a label', { toString: '**' }, false],
  ])('%s', (_rule, requested, matched) => {
    expect(matches({ labels: requested }, { labels })).toBe(matched);
  });

  test('do not match a workload without labels', () => {
    expect(matches({ labels: { app: '*' } }, {})).toBe(false);
  });

  test('match only together with the name, if that is given', () => {
    expect(matches({ name: 'web', labels: { app: 'web' } }, { labels })).toBe(true);
    expect(matches({ name: 'db', labels: { app: 'web' } }, { labels })).toBe(false);
  });
});
