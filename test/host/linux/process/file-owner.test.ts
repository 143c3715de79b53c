import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { otherWriter, whyUntrusted, type Owner } from '../../../../src/host/linux/process/file-owner.js';

const file = (mode: number, uid = 0, gid = 0): Owner => ({ uid, gid, mode });

test.each<[rule: string, owner: Owner, writer: string | undefined]>([
  ["root's", file(0o100755), undefined],
  ["root's group is root", file(0o100775), undefined],
  ['another group may read', file(0o100750, 0, 50), undefined],
  ['another group may write', file(0o100775, 0, 50), 'is writable by group 50'],
  ['all users may write', file(0o100757), 'is writable by all users'],
  ['a sticky directory', file(0o41777), 'is writable by all users'],
  ['another owner can make it writable', file(0o100444, 1000), 'belongs to user 1000'],
])('%s', (_rule, owner, writer) => {
  expect(otherWriter(owner)).toBe(writer);
});

/** Below a directory that only root can write, unlike /tmp. */
function place(): { readonly directory: string; readonly program: (name: string, mode?: number) => string } {
  const directory = mkdtempSync('/var/lib/evictd-test-');
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    directory,
    program: (name, mode = 0o755) => {
      const path = join(directory, name);
      writeFileSync(path, '#!/bin/sh\n');
      chmodSync(path, mode);
      return path;
    },
  };
}

test('a program that only root can change is trusted, also behind a symbolic link of root', () => {
  const { directory, program } = place();
  const path = program('hook');
  symlinkSync(path, join(directory, 'link'));
  expect(whyUntrusted(path)).toBeUndefined();
  expect(whyUntrusted(join(directory, 'link'))).toBeUndefined();
});

test('a program, a directory above it or the target of a link that others can change is not', () => {
  const { directory, program } = place();
  const open = program('open', 0o777);
  expect(whyUntrusted(open)).toBe(`${open} is writable by all users: another user could run programs as root`);
  symlinkSync(open, join(directory, 'link'));
  expect(whyUntrusted(join(directory, 'link'))).toMatch(`${open} is writable by all users`);
  const below = join(directory, 'users');
  mkdirSync(below);
  chownSync(below, 1000, 1000);
  expect(whyUntrusted(program('users/hook'))).toMatch(`${below} belongs to user 1000`);
});

test('a program that is missing is named', () => {
  expect(whyUntrusted('/var/lib/evictd-test-none')).toBe('/var/lib/evictd-test-none does not exist');
});
