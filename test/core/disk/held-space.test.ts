import { expect, test } from 'vitest';
import { holderText } from '../../../src/core/disk/disk-holder.js';
import { holdersOn } from '../../../src/core/disk/held-space.js';
import { type DirectoryAmount, type HeldSpace } from '../../../src/core/disk/filesystem-holders.js';
import { Mi } from '../support.js';

/** Megabytes and inodes, by path; the first is the root. */
type Tree = Readonly<Record<string, readonly [mib: bigint, inodes: bigint]>>;

function held(tree: Tree, deleted: HeldSpace['deleted'] = []): HeldSpace {
  const [root, ...below] = Object.entries(tree).map(([path, [mib, inodes]]): DirectoryAmount => ({
    path,
    amount: { bytes: mib * Mi, inodes },
  }));
  if (root === undefined) throw new Error('a tree has a root');
  return { deleted, directories: { root, below, atNs: 0n, isPartial: false } };
}

/** 'PATH MIB', with a + where it is besides what is named below it. */
const named = (tree: Tree, signal: 'nodefs.available' | 'nodefs.inodesFree' = 'nodefs.available'): string[] =>
  (holdersOn(signal, { nodefs: held(tree) }, 0n) ?? []).map((holder) =>
    holder.kind === 'directory' ? `${holder.path} ${String(holder.holds.bytes / Mi)}${holder.besidesNamed ? '+' : ''}` : holder.kind,
  );

test.each<[rule: string, tree: Tree, names: string[]]>([
  [
    'the innermost that holds it',
    { '/': [100n, 1n], '/var': [98n, 1n], '/var/lib': [97n, 1n], '/var/lib/x': [97n, 1n] },
    ['/var/lib/x 97'],
  ],
  [
    'a directory is named for what it holds outside its named subdirectories',
    { '/': [100n, 1n], '/var': [98n, 1n], '/var/lib': [60n, 1n], '/var/log': [20n, 1n] },
    ['/var/lib 60', '/var/log 20', '/var 18+'],
  ],
  [
    'many small directories are not named, but their parent is',
    {
      '/': [100n, 1n],
      '/srv': [100n, 1n],
      ...Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`/srv/${String(i)}`, [4n, 1n] as const])),
    },
    ['/srv 100'],
  ],
  ['a twentieth of all that was found is enough', { '/': [100n, 1n], '/a': [5n, 1n], '/b': [4n, 1n] }, ['/ 95+', '/a 5']],
  [
    'paths of a filesystem that is not mounted at / begin at its mount point',
    { '/mnt': [100n, 1n], '/mnt/a': [96n, 1n], '/mnt/a/b': [90n, 1n] },
    ['/mnt/a/b 90', '/mnt/a 6+'],
  ],
  [
    'the largest five',
    Object.fromEntries([['/', [60n, 1n]], ...Array.from({ length: 6 }, (_, i) => [`/${String(i)}`, [BigInt(i + 5), 1n]])]) as Tree,
    ['/ 15+', '/5 10', '/4 9', '/3 8', '/2 7'],
  ],
  ['an empty directory holds nothing', { '/': [0n, 0n] }, []],
])('%s', (_rule, tree, names) => {
  expect(named(tree)).toEqual(names);
});

test('directories are sorted by inodes where inodes are short', () => {
  expect(named({ '/': [100n, 1000n], '/few': [90n, 10n], '/many': [1n, 980n] }, 'nodefs.inodesFree')).toEqual(['/many 1']);
});

test('images in use are listed by bytes, because their inodes are not reported', () => {
  const images = Array.from({ length: 6 }, (_, i) => ({
    kind: 'image' as const,
    name: `i:${String(i)}`,
    holds: { bytes: BigInt(i) * Mi, inodes: 0n },
  }));
  const names = (signal: 'nodefs.available' | 'nodefs.inodesFree') =>
    holdersOn(signal, { nodefs: { deleted: [], images } }, 0n)?.map((holder) => (holder.kind === 'image' ? holder.name : ''));
  expect(names('nodefs.available')).toEqual(['i:5', 'i:4', 'i:3', 'i:2', 'i:1']);
  expect(names('nodefs.inodesFree')).toEqual([]);
});

test('directories and deleted files are listed together, the largest first, without empty ones', () => {
  const deleted = (mib: bigint, inodes: bigint): HeldSpace['deleted'][number] => ({
    kind: 'deleted-files',
    holds: { bytes: mib * Mi, inodes },
    processes: [{ pid: 7, name: 'java', cgroup: '/a' }],
    count: 1,
  });
  const holders = { imagefs: held({ '/': [100n, 9n], '/a': [97n, 8n] }, [deleted(98n, 1n), deleted(0n, 3n)]) };
  expect((holdersOn('imagefs.available', holders, 0n) ?? []).map(holderText)).toEqual([
    'java (pid 7) of /a holds 98MiB in 1 deleted file',
    '/a holds 97MiB in 8 inodes',
  ]);
  expect(holdersOn('nodefs.available', holders, 0n)).toBeUndefined();
  expect(holdersOn('memory.available', holders, 0n)).toBeUndefined();
});
