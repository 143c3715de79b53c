import { execFileSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory, makeDirectorySync, overwriteSync, replaceFileSync } from '../../src/storage/directory.js';
import { fullFilesystem } from '../support/full-filesystem.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const ways: [name: string, make: (path: string) => Promise<void>][] = [
  [
    'at once',
    (path) =>
      Promise.resolve().then(() => {
        makeDirectorySync(path, 0o700);
      }),
  ],
  ['without waiting', (path) => makeDirectory(path, 0o700)],
];

function scratch(): string {
  const directory = temporaryDirectory();
  return directory;
}

test.each(ways)('%s: a directory is made with its parents, and an existing one stays unchanged', async (_name, make) => {
  const directory = join(scratch(), 'a/b/c');
  await make(directory);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  mkdirSync(join(directory, 'kept'));
  await make(directory);
  expect(statSync(join(directory, 'kept')).isDirectory()).toBe(true);
});

test.each(ways)('%s: a directory is not made in place of a file, or below one', async (_name, make) => {
  const file = join(scratch(), 'file');
  writeFileSync(file, '');
  await expect(make(file)).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(make(join(file, 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

test.each(ways)('%s: an error is reported where the kernel makes no directory', async (_name, make) => {
  await expect(make('/proc/nope')).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(make('/proc/nope/below')).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a file that cannot be replaced, because the disk is full, stays, and no temporary file is left', () => {
  const full = fullFilesystem();
  const path = join(full.directory, 'file');
  replaceFileSync(path, 'before', 0o600);
  full.fill();
  expect(() => {
    replaceFileSync(path, 'after', 0o600);
  }).toThrow('ENOSPC');
  expect(readFileSync(path, 'utf8')).toBe('before');
  expect(readdirSync(full.directory).sort()).toEqual(['file', 'filler']);
});

test('what a crash has left under the temporary name is replaced, and a link there is not followed', () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'file');
  writeFileSync(join(directory, 'other'), 'other');
  symlinkSync(join(directory, 'other'), `${path}.new`);
  replaceFileSync(path, 'text', 0o600);
  expect(readFileSync(path, 'utf8')).toBe('text');
  expect(readFileSync(join(directory, 'other'), 'utf8')).toBe('other');
  expect(readdirSync(directory).sort()).toEqual(['file', 'other']);
});

test('a file is overwritten where it is; what is no such file is left to be replaced, without waiting for it', () => {
  const directory = temporaryDirectory();
  const at = (name: string): string => join(directory, name);
  writeFileSync(at('file'), 'before');
  const { ino } = statSync(at('file'));
  symlinkSync(at('file'), at('link'));
  execFileSync('mkfifo', [at('fifo')]);
  writeFileSync(at('longer'), 'longer');
  writeFileSync(at('named'), 'x');
  linkSync(at('named'), at('twice'));
  const others = ['missing', 'link', 'fifo', 'longer', 'named'];
  expect(others.map((name) => overwriteSync(at(name), 'x'))).toEqual(others.map(() => false));
  expect([readFileSync(at('file'), 'utf8'), existsSync(at('missing'))]).toEqual(['before', false]);
  expect(overwriteSync(at('file'), 'beyond')).toBe(true);
  expect([readFileSync(at('file'), 'utf8'), statSync(at('file')).ino]).toEqual(['beyond', ino]);
});
