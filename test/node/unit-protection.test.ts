import { expect, test } from 'vitest';
import { unitProtection } from '../../src/node/unit-protection.js';
import type { Rule } from '../../src/core/workload/rule.js';

const rules: readonly Rule[] = [
  { match: { name: 'db.service' }, critical: true },
  { match: { path: '/apps.slice/*' }, critical: true },
  { match: { name: 'docker.service' }, critical: false, liftProtection: true },
];

test.each<[rule: string, name: string, isProtected: boolean, controlGroup?: string]>([
  ['critical by its name', 'db.service', true],
  ['critical by its cgroup', 'web.service', true, '/apps.slice/web.service'],
  ['a unit in the list', 'dbus.service', true],
  ['the socket of a service on the list', 'dbus.socket', true],
  ['lifted', 'docker.service', false],
  ['any other unit', 'web.service', false],
  ['any other socket', 'web.socket', false],
  ['a target', 'multi-user.target', false],
])('a unit that must not be stopped with another: %s', (_rule, name, isProtected, controlGroup = `/system.slice/${name}`) => {
  expect(unitProtection({ rules }, undefined)({ name, controlGroup })).toBe(isProtected);
});

test.each<[rule: string, name: string, isProtected: boolean]>([
  ['critical', 'db.service', false],
  ['a unit in the list', 'dbus.service', true],
])('a unit that must not be stopped with a critical one at a shutdown: %s', (_rule, name, isProtected) => {
  expect(unitProtection({ rules }, undefined)({ name, controlGroup: `/system.slice/${name}` }, true)).toBe(isProtected);
});

test.each<[rule: string, controlGroup: string, isProtected: boolean]>([
  ['evictd runs in it', '/system.slice/guard.service', true],
  ['evictd runs further below it', '/system.slice', true],
  ['a cgroup in another one', '/system.slice/guard.service2', false],
  ['a unit without a cgroup', '', false],
])('the protection of a unit whose name users may choose: %s', (_rule, controlGroup, isProtected) => {
  expect(unitProtection({ rules: [] }, '/system.slice/guard.service')({ name: 'guard.service', controlGroup })).toBe(isProtected);
});
