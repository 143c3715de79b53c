import { expect, test } from 'vitest';
import { boundWorkloads } from '../../../src/features/policy/bound-workloads.js';

/** /db.slice and what is in it is bound to nodes 0 and 1, one cgroup in it to node 0; of /new it is not known. */
const nodes = (path: string): readonly number[] | 'unknown' | undefined => {
  if (path === '/new') return 'unknown';
  if (path === '/db.slice/two.slice/narrow') return [0];
  return path.startsWith('/db.slice') ? [0, 1] : undefined;
};

test.each<[rule: string, isNested: boolean, boundAt: readonly string[]]>([
  ['the uppermost cgroup with the same nodes, on v2', true, ['/db.slice/two.slice/narrow', '/db.slice']],
  ['on v1 a process of one cgroup says nothing about the others beside it', false, ['/db.slice/two.slice/narrow', '/db.slice/two.slice/a']],
])('%s', (_rule, isNested, boundAt) => {
  const found = boundWorkloads(['/web', '/new', '/db.slice/two.slice/narrow', '/db.slice/two.slice/a'], nodes, isNested);
  expect(found.map((each) => [each.nodes, each.boundAt])).toEqual([
    [[0], boundAt[0]],
    [[0, 1], boundAt[1]],
  ]);
});
