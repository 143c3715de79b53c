import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { native, type FilesystemTreeLimits, type FilesystemTreeResult } from '../../src/native/index.js';
import { after, closing, makeDirectory, thrownBy, until } from './kernel.js';

const LIMITS: FilesystemTreeLimits = { depth: 3, parts: 20, withinMs: 60_000, entries: 1_000_000 };

async function walk(path: string, limits: Partial<FilesystemTreeLimits> = {}): Promise<FilesystemTreeResult> {
  let result: FilesystemTreeResult | undefined;
  closing(new native.FilesystemTree(path, (tree) => (result = tree), { ...LIMITS, ...limits }));
  await until('the walk ends', () => result !== undefined);
  if (result === undefined) throw new Error('it has ended');
  return result;
}

/** A tmpfs of the test's own. */
function filesystem(): string {
  const directory = makeDirectory();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'evictd-test', directory]);
  after(() => void execFileSync('umount', [directory]));
  return directory;
}

function write(directory: string, name: string, kib: number): string {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, name);
  writeFileSync(file, Buffer.alloc(kib * 1024));
  return file;
}

const byPath = (tree: FilesystemTreeResult, root: string): Record<string, [kib: number, inodes: number]> =>
  Object.fromEntries(tree.directories.map(({ path, bytes, inodes }) => [path.slice(root.length), [bytes / 1024, inodes]]));

test('the tree has the largest directories of the filesystem of a path, from its root, each with all below it', async () => {
  const root = filesystem();
  const large = write(join(root, 'a/b/c/d/e'), 'large', 4096);
  linkSync(large, join(root, 'a/b/c/d/e/again'));
  write(join(root, 'a/b'), 'beside', 1024);
  write(join(root, 'small'), 'file', 4);
  mkdirSync(join(root, 'many'));
  for (let i = 0; i < 40; i += 1) writeFileSync(join(root, 'many', String(i)), '');
  symlinkSync(root, join(root, 'a/loop'));
  const tree = await walk(join(root, 'a/b/c/d'), { parts: 10 });
  expect(byPath(tree, root)).toEqual({
    '': [5124, 52],
    '/a': [5120, 8],
    '/a/b': [5120, 6],
    '/a/b/c': [4096, 4],
    '/many': [0, 41],
  });
  expect(tree).toMatchObject({ errors: 0, errno: 0, complete: true });
  expect(tree.directories[0]?.path).toBe(root);
});

test('files on mounts below do not count', async () => {
  const root = filesystem();
  write(join(root, 'a'), 'file', 1024);
  mkdirSync(join(root, 'b'));
  execFileSync('mount', ['-t', 'tmpfs', 'evictd-test', join(root, 'b')]);
  after(() => void execFileSync('umount', [join(root, 'b')]));
  write(join(root, 'b'), 'file', 2048);
  expect(byPath(await walk(join(root, 'a')), root)).toMatchObject({ '': [1024, 3], '/a': [1024, 2] });
  expect(byPath(await walk(join(root, 'b')), join(root, 'b'))).toEqual({ '': [2048, 2] });
});

test.each<[limit: string, limits: Partial<FilesystemTreeLimits>]>([
  ['in time', { withinMs: 0 }],
  ['in entries', { entries: 5 }],
])('at a limit %s the walk returns what it has found, marked as incomplete', async (_limit, limits) => {
  const root = filesystem();
  for (let i = 0; i < 10; i += 1) write(join(root, 'a'), String(i), 64);
  const tree = await walk(root, limits);
  expect(tree.complete).toBe(false);
  expect(tree.directories[0]?.inodes).toBeLessThan(10);
  expect(tree.directories.map(({ path }) => path)).toContain(root);
});

test('a walk that was given up within directories counts these with the entries it has found', async () => {
  const root = filesystem();
  for (let i = 0; i < 10; i += 1) write(join(root, 'a/b'), String(i), 1024);
  const tree = await walk(root, { entries: 8 });
  expect(byPath(tree, root)['/a/b']?.[0]).toBe(6 * 1024);
  expect(byPath(tree, root)['/a']?.[0]).toBe(6 * 1024);
});

test('a path that does not exist has no filesystem', async () => {
  expect(await walk('/evictd-test-nowhere')).toMatchObject({ directories: [], errors: 1, errno: 2, device: 0n, complete: false });
});

test('invalid limits are refused', () => {
  expect(thrownBy(() => new native.FilesystemTree('/', () => undefined, { ...LIMITS, depth: 17 }))).toMatchObject({
    code: 'ERR_OUT_OF_RANGE',
  });
  expect(thrownBy(() => new native.FilesystemTree('/', () => undefined, undefined as never))).toMatchObject({
    code: 'ERR_INVALID_ARG_TYPE',
  });
});
