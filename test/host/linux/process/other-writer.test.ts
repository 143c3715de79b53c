import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import * as trust from '../../../../src/host/linux/process/other-writer.js';
import { otherWriter, type Owner } from '../../../../src/host/linux/process/other-writer.js';
import { native } from '../../../../src/native/index.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

const programProblem = (program: string): Promise<string | undefined> => trust.programProblem(native, program);

const file = (mode: number, uid = 0, gid = 0): Owner => ({ uid, gid, mode });

test.each<[rule: string, owner: Owner, writer: string | undefined]>([
  ["root's", file(0o100755), undefined],
  ["users may be in root's group, or in an access list", file(0o100775), 'is writable by group 0'],
  ['another group may read it', file(0o100750, 0, 50), undefined],
  ['another group may write to it', file(0o100775, 0, 50), 'is writable by group 50'],
  ['all users may write to it', file(0o100757), 'is writable by all users'],
  ['a sticky directory', file(0o41777), 'is writable by all users'],
  ['another owner can make it writable', file(0o100444, 1000), 'belongs to user 1000'],
])('%s', (_rule, owner, writer) => {
  expect(otherWriter(owner)).toBe(writer);
});

let directory: string;
let program: string;

beforeEach(() => {
  directory = temporaryDirectory('/run');
  program = join(directory, 'bin', 'hook');
  mkdirSync(join(directory, 'bin'), { mode: 0o755 });
  writeFileSync(program, '', { mode: 0o755 });
});

test('a program that only root can change may run', async () => {
  expect(await programProblem(program)).toBeUndefined();
});

function group(): void {
  chownSync(program, 0, 1);
  chmodSync(program, 0o775);
}

function replaceByDirectory(): void {
  rmSync(program);
  mkdirSync(program);
}

test.each<[what: string, spoil: () => void, problem: RegExp]>([
  ['if another user owns it', () => chownSync(program, 1, 0), /hook belongs to user 1$/],
  ['writable by all', () => chmodSync(program, 0o757), /hook is writable by all users$/],
  ['if its group may write to it', group, /hook is writable by group 1$/],
  ['in a directory of another user', () => chownSync(join(directory, 'bin'), 1, 0), /bin belongs to user 1$/],
  ['below a directory that all may write', () => chmodSync(directory, 0o1777), /test-\w+ is writable by all users$/],
  ['if it does not exist', () => rmSync(program), /hook is missing$/],
  ['if it cannot be executed', () => chmodSync(program, 0o644), /is not an executable file$/],
  ['if it is a directory', replaceByDirectory, /is not an executable file$/],
])('a program must not run %s', async (_what, spoil, problem) => {
  spoil();
  expect(await programProblem(program)).toMatch(problem);
});

test('a link is judged by its target and by its own directory', async () => {
  const other = temporaryDirectory('/run');
  const link = join(other, 'link');
  symlinkSync(program, link);
  expect(await programProblem(link)).toBeUndefined();
  chmodSync(program, 0o757);
  expect(await programProblem(link)).toMatch(/bin\/hook is writable/);
  chmodSync(program, 0o755);
  chmodSync(other, 0o777);
  expect(await programProblem(link)).toMatch(/test-\w+ is writable/);
});

test('a link that only another link leads to is judged, too', async () => {
  const [first, second] = [temporaryDirectory('/run'), temporaryDirectory('/run')];
  symlinkSync(join('..', basename(second), 'link'), join(first, 'link'));
  symlinkSync(join(directory, 'x', '..', 'bin'), join(second, 'link'));
  mkdirSync(join(directory, 'x'));
  expect(await programProblem(join(first, 'link', 'hook'))).toBeUndefined();
  chownSync(second, 1, 0);
  expect(await programProblem(join(first, 'link', 'hook'))).toBe(`${second} belongs to user 1`);
});

test('links in a circle are refused', async () => {
  symlinkSync(join(directory, 'circle'), join(directory, 'circle'));
  expect(await programProblem(join(directory, 'circle'))).toMatch(/^ELOOP/);
});

test.each<[what: string, first: string, problem: RegExp | undefined]>([
  ['that only root can change', '#!/bin/sh', undefined],
  ['with an argument', '#! /usr/bin/env  sh', undefined],
  ['of another user', '#!DIRECTORY/shell -e', /^its interpreter .*shell belongs to user 1$/],
  ['that does not exist', '#!/no/such/shell', /^its interpreter \/no is missing$/],
  ['that is not a program', '#!/etc/passwd', /^its interpreter \/etc\/passwd is not an executable file$/],
  ['that is a script of such an interpreter', '#!DIRECTORY/script', /^its interpreter .*shell belongs to user 1$/],
  ['that is the script itself', '#!DIRECTORY/bin/hook', /^ELOOP: too many interpreters/],
])('the interpreter of a script is judged, too: an interpreter %s', async (_what, first, problem) => {
  const shell = join(directory, 'shell');
  writeFileSync(shell, '', { mode: 0o755 });
  chownSync(shell, 1, 0);
  writeFileSync(join(directory, 'script'), `#!${shell}\n`, { mode: 0o755 });
  writeFileSync(program, `${first.replace('DIRECTORY', directory)}\nexit 0\n`, { mode: 0o755 });
  const found = await programProblem(program);
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(problem);
});
