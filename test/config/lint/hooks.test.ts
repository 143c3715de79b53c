import { expect, test } from 'vitest';
import { hooksOfOrdersRule, hooksRule } from '../../../src/config/lint/hooks.js';
import type { LintSubject } from '../../../src/config/lint/lint-rule.js';
import type { Threshold } from '../../../src/core/threshold/threshold.js';
import { KILL, ofCgroup } from '../../core/ladder/policies.js';
import { threshold } from '../../core/support.js';
import { machine, subject } from './support.js';

const hook = (program: string) => ({ argv: [program], timeoutNs: 1n });
const hooks = { preEvict: { ...hook('/a'), deadlineNs: 1n }, postEvict: hook('/b'), prekill: undefined };

const policies = [ofCgroup([KILL], { hooks: { postEvict: hook('/c') } })];

test.each<[what: string, programs: ReadonlyMap<string, string> | undefined, keys: readonly string[]]>([
  ['programs that only root can change', new Map(), []],
  ['programs that were not checked', undefined, []],
  ['a hook program that another user can change', new Map([['/b', '/b belongs to user 1000']]), ['hooks.postEvict']],
  ['a program of a policy that is missing', new Map([['/c', '/c is missing']]), ['policies[0].hooks.postEvict']],
])('%s', (_what, programs, keys) => {
  const found = hooksRule.find(subject([], { hooks, policies }), machine(programs && { programs }));
  expect(found.map(({ key }) => key)).toEqual(keys);
});

const hard = threshold('memory.available', '100Mi');
const prekill = { deadlineNs: 1n };

test.each<[rule: string, thresholds: readonly Threshold[], overrides: Partial<LintSubject>, keys: readonly string[]]>([
  ['a hook before evictions, and standing orders', [hard], { hooks }, ['hooks.preEvict']],
  ['the hooks of systemd-oomd', [hard], { hooks: { ...hooks, preEvict: undefined, prekill } }, ['hooks.prekill']],
  ['a hook after evictions alone', [hard], { hooks: { ...hooks, preEvict: undefined } }, []],
  ['standing orders are switched off', [hard], { hooks, standingOrderAfterNs: 0n }, []],
  ['no threshold has standing orders', [threshold('nodefs.available', '10%')], { hooks }, []],
  ['a hard threshold with a grace period has none', [{ ...hard, gracePeriodNs: 1n }], { hooks }, []],
])('evictions without the hook: %s', (_rule, thresholds, overrides, keys) => {
  const found = hooksOfOrdersRule.find(subject(thresholds, overrides), undefined);
  expect(found.map(({ key }) => key)).toEqual(keys);
  for (const { level, message } of found) expect([level, message]).toEqual(['info', expect.stringContaining('not decided 5ms after')]);
});
