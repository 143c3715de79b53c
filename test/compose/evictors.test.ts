import { expect, test } from 'vitest';
import { criticalPrograms } from '../../src/compose/evictors.js';
import type { Rule } from '../../src/core/workload/rule.js';

test('the rules in force decide which programs are critical, by Windows names and paths', () => {
  let rules: readonly Rule[] = [{ match: { path: 'c:/apps/**' }, critical: true }];
  const isCritical = criticalPrograms(() => rules);
  const db = { name: 'DB.exe', path: 'C:\\Apps\\db\\DB.exe' };
  expect([isCritical(db), isCritical({ name: 'web.exe', path: 'D:\\web.exe' })]).toEqual([true, false]);
  rules = [{ match: { name: 'web.exe' }, critical: true }];
  expect([isCritical(db), isCritical({ name: 'web.exe', path: 'D:\\web.exe' })]).toEqual([false, true]);
});
