import { expect, test } from 'vitest';
import { namesOfUsersRule } from '../../../../src/config/lint/workloads/names-of-users.js';
import type { Rule } from '../../../../src/core/workload/rule.js';
import type { WorkloadSourceSpec } from '../../../../src/workloads/kinds/source-spec.js';
import { subject } from '../support.js';

const DATABASE: Rule = { match: { name: 'postgres*' }, critical: true };
const slices = (...names: string[]): WorkloadSourceSpec => ({ systemd: { slices: names, units: [] } });
const units = (...names: string[]): WorkloadSourceSpec => ({ systemd: { slices: [], units: names } });
const USERS = slices('user.slice');

test.each<[what: string, source: WorkloadSourceSpec, rule: Rule, reported: boolean]>([
  ['all users have such a unit', USERS, DATABASE, true],
  ['one user has such a unit', slices('user-1000.slice'), DATABASE, true],
  ['the whole machine', slices('-.slice'), DATABASE, true],
  ['units of the machine', slices('system.slice'), DATABASE, false],
  ['units of this name anywhere', units('postgres-*.service'), DATABASE, true],
  ['units of another name', units('web.service'), DATABASE, false],
  ['a slice of a manager', { cgroup: '/user.slice/user-1000.slice/user@1000.service/app.slice' }, DATABASE, true],
  ['slices of users are not units', { cgroup: '/user.slice' }, DATABASE, false],
  ['a rule with a path', USERS, { ...DATABASE, match: { name: 'postgres*', path: '/system.slice/**' } }, false],
  ['a rule by path alone', USERS, { ...DATABASE, match: { path: '/user.slice/**' } }, false],
  ['a rule that protects nothing', USERS, { match: { name: 'postgres*' }, priority: 1 }, false],
])('a critical rule by name and %s', (_what, source, rule, reported) => {
  const found = namesOfUsersRule.find(subject([], { rules: [{ match: {}, priority: 0 }, rule], workloads: [source] }), undefined);
  expect(found.map(({ code, key }) => `${key} ${code}`)).toEqual(reported ? ['rules[1] EVICTD_LINT_RULE_OF_USERS'] : []);
});
