import { expect, test } from 'vitest';
import { criticalPrograms } from '../../src/compose/evictors.js';
import type { Rule } from '../../src/core/rule.js';

test('which programs are critical is told by the rules in force, as Windows reads names and paths', () => {
  let rules: readonly Rule[] = [{ match: { path: 'c:/apps/**' }, critical: true }];
  const isCritical = criticalPrograms(() => rules);
  const db = { name: 'DB.exe', path: 'C:\\Apps\\db\\DB.exe' };
  expect([isCritical(db), isCritical({ name: 'web.exe', path: 'D:\\web.exe' })]).toEqual([true, false]);
  rules = [{ match: { name: 'web.exe' }, critical: true }];
  expect([isCritical(db), isCritical({ name: 'web.exe', path: 'D:\\web.exe' })]).toEqual([false, true]);
});
