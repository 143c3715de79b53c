import { describe, expect, test } from 'vitest';
import type { Rule } from '../../src/core/rule.js';
import type { PresentWorkload } from '../../src/lint/machine.js';
import { lintRules } from '../../src/lint/rules.js';
import { compileRules } from '../../src/workloads/rules.js';
import { machine, present, subject } from './support.js';

/** The codes for these rules, with these names below /workload.slice; undefined: no machine was looked at. */
function lint(rules: readonly Rule[], names: readonly string[] | undefined, sources: readonly string[] = ['/workload.slice']) {
  const effectOf = compileRules(rules);
  const workloads = (names ?? []).map((name): PresentWorkload => {
    const workload = present(name);
    return { ...workload, matched: effectOf(workload).matched };
  });
  const facts = names === undefined ? undefined : machine({ workloads: { present: workloads, problems: [] } });
  return lintRules(subject([], { rules, workloads: sources.map((cgroup) => ({ cgroup })) }), facts);
}

describe('a rule that can never match', () => {
  test.each<[rule: string, rule_: Rule, sources: readonly string[], said: boolean]>([
    ['a name', { match: { name: 'web' }, priority: 1 }, ['/workload.slice'], false],
    ['a name with a slash', { match: { name: 'a/web' }, priority: 1 }, ['/workload.slice'], true],
    ['a path of a child', { match: { path: '/workload.slice/web' }, priority: 1 }, ['/workload.slice'], false],
    ['the path of the source itself', { match: { path: '/workload.slice' }, priority: 1 }, ['/workload.slice'], true],
    ['a grandchild', { match: { path: '/workload.slice/web/a' }, priority: 1 }, ['/workload.slice'], true],
    ['another tree', { match: { path: '/system.slice/*' }, priority: 1 }, ['/workload.slice'], true],
    ['one of several sources', { match: { path: '/system.slice/*' }, priority: 1 }, ['/workload.slice', '/system.slice'], false],
    ['a source that was written with a slash', { match: { path: '/a/*' }, priority: 1 }, ['/a/'], false],
    ['the root as source', { match: { path: '/web' }, priority: 1 }, ['/'], false],
    ['… and what is deeper', { match: { path: '/web/a' }, priority: 1 }, ['/'], true],
    [
      'a critical cgroup in a workload protects the workload',
      { match: { path: '/workload.slice/web/a' }, critical: true },
      ['/workload.slice'],
      false,
    ],
    ['… not if it is a pattern', { match: { path: '/workload.slice/web/*' }, critical: true }, ['/workload.slice'], true],
    ['… nor elsewhere', { match: { path: '/system.slice/web/a' }, critical: true }, ['/workload.slice'], true],
    ['everything', { match: {}, priority: 1 }, ['/workload.slice'], false],
    ['nothing is said where there is no source', { match: { name: 'a/b' }, priority: 1 }, [], false],
  ])('%s', (_rule, rule, sources, said) => {
    expect(lint([rule], undefined, sources).map(({ code }) => code)).toEqual(said ? ['EVICTD_LINT_RULE_UNREACHABLE'] : []);
  });

  test('the sentence names the rule and what it matches', () => {
    const rules: readonly Rule[] = [
      { match: { name: 'web' }, priority: 1 },
      { match: { name: 'a*', path: '/system.slice/**/x' }, priority: 1 },
    ];
    expect(lint(rules, undefined)).toMatchObject([
      {
        key: 'rules[1]',
        message: 'rules[1] (name: a*, path: /system.slice/**/x) can never match: it reaches no direct child of /workload.slice',
      },
    ]);
  });
});

describe('a rule that matches nobody now', () => {
  test.each<[rule: string, rule_: Rule, names: readonly string[] | undefined, said: boolean]>([
    ['one matches', { match: { name: 'web*' }, priority: 1 }, ['web-1', 'db'], false],
    ['none matches', { match: { name: 'web*' }, priority: 1 }, ['wbe-1', 'db'], true],
    ['nobody is there, which is said elsewhere', { match: { name: 'web*' }, priority: 1 }, [], false],
    ['no machine was looked at', { match: { name: 'web*' }, priority: 1 }, undefined, false],
    ['a critical cgroup in a workload that is there', { match: { path: '/workload.slice/web/a' }, critical: true }, ['web'], false],
    ['… in one that is not', { match: { path: '/workload.slice/wbe/a' }, critical: true }, ['web'], true],
  ])('%s', (_rule, rule, names, said) => {
    expect(lint([rule], names).map(({ code }) => code)).toEqual(said ? ['EVICTD_LINT_RULE_UNMATCHED'] : []);
  });

  test('the sentence names some of those that are there', () => {
    expect(lint([{ match: { name: 'web' }, priority: 1 }], ['d', 'b', 'a', 'c'])[0]?.message).toBe(
      'rules[0] (name: web) matches no workload that is there now: a, b, c and 1 more',
    );
  });
});

describe('critical is not taken back', () => {
  const everything: Rule = { match: { name: '*' }, critical: true };
  const batch: Rule = { match: { name: 'batch-*' }, critical: false };
  test.each<[rule: string, rules: readonly Rule[], names: readonly string[], said: boolean]>([
    ['by a later rule', [everything, batch], ['batch-1', 'web'], true],
    ['the order does not matter', [batch, everything], ['batch-1', 'web'], true],
    ['nobody is of both', [{ match: { name: 'web' }, critical: true }, batch], ['batch-1', 'web'], false],
    ['false alone', [batch], ['batch-1'], false],
  ])('%s', (_rule, rules, names, said) => {
    expect(lint(rules, names).map(({ code }) => code)).toEqual(said ? ['EVICTD_LINT_CRITICAL_STAYS'] : []);
  });

  test('the sentence', () => {
    expect(lint([everything, batch], ['batch-1', 'web'])[0]?.message).toBe(
      'rules[1] (name: batch-*) says critical: false for batch-1, which rules[0] makes critical: that is never taken back',
    );
  });
});
