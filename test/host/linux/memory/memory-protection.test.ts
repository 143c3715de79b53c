import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openProtection } from '../../../../src/host/linux/memory/memory-protection.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

type Numbers = readonly [usage: number, low: number | 'max', min?: number];

/** Bytes spared of each cgroup of a tree. */
function spared(tree: Readonly<Record<string, Numbers>>, isRecursive = false, version: 1 | 2 = 2): Record<string, number> {
  const mountPoint = temporaryDirectory();
  for (const [path, [usage, low, min = 0]] of Object.entries(tree)) {
    mkdirSync(join(mountPoint, path), { recursive: true });
    for (const [file, value] of Object.entries({ current: usage, low, min }))
      writeFileSync(join(mountPoint, path, `memory.${file}`), `${String(value)}\n`);
  }
  const read = openProtection({ version, controller: '', mountPoint, root: '/' }, isRecursive);
  return Object.fromEntries(Object.keys(tree).map((path) => [path, read(path)]));
}

test.each<[rule: string, tree: Readonly<Record<string, Numbers>>, expected: Record<string, number>, isRecursive?: boolean]>([
  ['below the root what it asks for, and at most what it uses', { '/a': [100, 40], '/b': [100, 'max'] }, { '/a': 40, '/b': 100 }],
  ['below an unprotected parent nothing', { '/a': [100, 0], '/a/b': [50, 40], '/a/b/c': [50, 40] }, { '/a': 0, '/a/b': 0, '/a/b/c': 0 }],
  ['a child has at most the protection of its parent', { '/a': [100, 30], '/a/b': [50, 40] }, { '/a': 30, '/a/b': 30 }],
  [
    'the share of the parent’s by what the children claim of their use',
    { '/a': [100, 30], '/a/b': [50, 40], '/a/c': [20, 90], '/a/d': [30, 0] },
    { '/a': 30, '/a/b': 20, '/a/c': 10, '/a/d': 0 },
  ],
  ['memory.min by itself, where it spares more', { '/a': [100, 10, 30], '/a/b': [50, 40, 25] }, { '/a': 30, '/a/b': 25 }],
  [
    'protection that no child claims protects no child',
    { '/a': [100, 60], '/a/b': [80, 20], '/a/c': [20, 0] },
    { '/a': 60, '/a/b': 20, '/a/c': 0 },
  ],
  [
    'with memory_recursiveprot it is shared in proportion to the usage beyond the claims',
    { '/a': [100, 60], '/a/b': [80, 20], '/a/c': [20, 0] },
    { '/a': 60, '/a/b': 50, '/a/c': 10 },
    true,
  ],
])('%s', (_rule, tree, expected, isRecursive) => {
  expect(spared(tree, isRecursive)).toEqual(expected);
});

test('v1 has no memory protection', () => {
  expect(spared({ '/a': [100, 40] }, false, 1)).toEqual({ '/a': 0 });
});
