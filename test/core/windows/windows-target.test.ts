import { expect, test } from 'vitest';
import { targetId, targetOf, type WindowsTarget } from '../../../src/core/windows/windows-target.js';

test.each<[rule: string, target: WindowsTarget, id: string]>([
  ['a job', { kind: 'job', name: 'Global\\batch: 1:2' }, 'job:Global\\batch: 1:2'],
  [
    'a service',
    { kind: 'service', name: 'a:b', pid: 4294967295, createdAt: 133_000_000_000_000_001n },
    'service:4294967295:133000000000000001:a:b',
  ],
  ['a tree', { kind: 'tree', pid: 12, createdAt: 34n }, '12:34'],
])('the target %s is found by its id', (_rule, target, id) => {
  expect(targetId(target)).toBe(id);
  expect(targetOf(id)).toEqual(target);
});

test.each(['/web#12', '12', '12:', ':34', 'service:12:34', 'service:12:34:', '12:34:name', 'x12:34', ''])(
  '%j is not the id of a target',
  (id) => {
    expect(targetOf(id)).toBeUndefined();
  },
);
