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
  ['on the list', 'dbus.service', true],
  ['the socket of a service on the list', 'dbus.socket', true],
  ['lifted', 'docker.service', false],
  ['any other', 'web.service', false],
  ['any other socket', 'web.socket', false],
  ['a target', 'multi-user.target', false],
])('not to be stopped with another: %s', (_rule, name, isProtected, controlGroup = `/system.slice/${name}`) => {
  expect(unitProtection({ rules }, undefined)({ name, controlGroup })).toBe(isProtected);
});

test.each<[rule: string, name: string, isProtected: boolean]>([
  ['critical', 'db.service', false],
  ['on the list', 'dbus.service', true],
])('not to be stopped with a critical one at a shutdown: %s', (_rule, name, isProtected) => {
  expect(unitProtection({ rules }, undefined)({ name, controlGroup: `/system.slice/${name}` }, true)).toBe(isProtected);
});

test.each<[rule: string, controlGroup: string, isProtected: boolean]>([
  ['evictd runs in it', '/system.slice/guard.service', true],
  ['… further below', '/system.slice', true],
  ['in another one', '/system.slice/guard.service2', false],
  ['it has no cgroup', '', false],
])('of a unit that is called as users like: %s', (_rule, controlGroup, isProtected) => {
  expect(unitProtection({ rules: [] }, '/system.slice/guard.service')({ name: 'guard.service', controlGroup })).toBe(isProtected);
});
