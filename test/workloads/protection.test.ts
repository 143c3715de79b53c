import { expect, test } from 'vitest';
import { protectionsOf } from '../../src/workloads/protection.js';

const at = (path: string, critical = false) => ({ name: path.slice(1), path, effect: { critical } });

test.each<[rule: string, path: string, expected: string | undefined]>([
  ['critical by a rule', '/w/db', 'critical'],
  ['evictd lives below it', '/w/home', 'self'],
  ['it contains a critical one', '/w', 'contains'],
  ['outside the node', '/elsewhere', 'outside'],
  ['it contains a cgroup that a rule calls critical by its path, though that is no workload', '/w/app', 'contains'],
  ['beside all that', '/w/batch', undefined],
  ['a name that only begins alike is not above', '/w/ap', undefined],
])('%s', (_rule, path, expected) => {
  const workloads = [at('/w'), at('/w/db', true), at('/w/home'), at('/w/app'), at('/w/ap'), at('/w/batch'), at('/elsewhere')];
  const protections = protectionsOf(workloads, new Set(['/w/home']), undefined, ['/w/app/main']);
  const outside = protectionsOf(workloads, new Set(), '/w', []);
  expect((expected === 'outside' ? outside : protections).get(path)?.kind).toBe(expected);
});
