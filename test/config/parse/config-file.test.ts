import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fsPath } from '../../../src/byte-paths.js';
import { loadConfig } from '../../../src/config/load.js';
import { errorOf, issuesOf, load, scratch } from '../scratch.js';

const isRoot = process.geteuid?.() === 0;

function read(directory: string): () => unknown {
  return () => loadConfig({ platform: { os: 'linux' }, file: join(directory, 'config.yaml') });
}

test.each<[rule: string, make: (path: string) => void, code: string]>([
  ['absent although named', () => undefined, 'FILE_MISSING'],
  ['a directory', (path) => mkdirSync(path), 'FILE_TYPE'],
  ['a FIFO, without waiting for a writer', (path) => execFileSync('mkfifo', [path]), 'FILE_TYPE'],
  ['a device', (path) => symlinkSync('/dev/zero', path), 'FILE_TYPE'],
  ['a link to nothing', (path) => symlinkSync('nowhere', path), 'FILE_MISSING'],
  ['a link to itself', (path) => symlinkSync('config.yaml', path), 'FILE_UNREADABLE'],
])('%s', (_rule, make, code) => {
  const directory = scratch();
  make(join(directory, 'config.yaml'));
  expect(issuesOf(read(directory))).toEqual([`config.yaml EVICTD_CONFIG_${code}`]);
});

test('names of the file and its drop-ins are bytes', () => {
  const file = `${scratch()}/b\udcffd.yaml`;
  mkdirSync(fsPath(file.replace('.yaml', '.d')));
  const written = [file, file.replace('.yaml', '.d/\udcfe.yaml')];
  for (const path of written) writeFileSync(fsPath(path), 'log: 1\n', { mode: 0o600 });
  const issues = errorOf(() => loadConfig({ platform: { os: 'linux' }, file })).issues;
  expect(issues.map(({ code, position }) => [code, position.file])).toEqual(written.map((path) => ['EVICTD_CONFIG_TYPE', path]));
});

test.each<[rule: string, bytes: Uint8Array, at: string]>([
  ['Latin-1', Buffer.from('log:\n  level: \xe9\n', 'latin1'), '2:10'],
  ['UTF-16', Buffer.from('\uFEFFlog: {}\n', 'utf16le'), '1:1'],
  ['cut off in the middle of a character', Buffer.from([0x23, 0xe2, 0x82]), '1:2'],
])('a file that is not UTF-8: %s', (_rule, bytes, at) => {
  expect(issuesOf(() => load({ 'config.yaml': bytes }))).toEqual([`config.yaml:${at} EVICTD_CONFIG_ENCODING`]);
});

describe.runIf(isRoot)('a configuration file that root reads', () => {
  const OTHER_USER = 65_534;

  test.each<[rule: string, spoil: (directory: string) => void, issues: string[]]>([
    ['is accepted if only root may write it', () => undefined, []],
    [
      'a file that its group may write',
      (at) => {
        chmodSync(join(at, 'config.yaml'), 0o664);
      },
      ['config.yaml'],
    ],
    [
      'a file that all users may write',
      (at) => {
        chmodSync(join(at, 'config.yaml'), 0o646);
      },
      ['config.yaml'],
    ],
    [
      'a file of another user',
      (at) => {
        chownSync(join(at, 'config.yaml'), OTHER_USER, 0);
      },
      ['config.yaml'],
    ],
    [
      'is refused if others may write its directory',
      (at) => {
        chmodSync(at, 0o777);
      },
      [''],
    ],
    [
      'is accepted in a sticky directory, where root’s files cannot be replaced',
      (at) => {
        chmodSync(at, 0o1777);
      },
      [],
    ],
    [
      'is refused if its directory belongs to another user',
      (at) => {
        chownSync(at, OTHER_USER, 0);
      },
      [''],
    ],
    [
      'a drop-in',
      (at) => {
        chmodSync(join(at, 'config.d/1.yaml'), 0o602);
      },
      ['config.d/1.yaml'],
    ],
    [
      'the directory of drop-ins',
      (at) => {
        chmodSync(join(at, 'config.d'), 0o775);
      },
      ['config.d'],
    ],
  ])('%s', (_rule, spoil, issues) => {
    const directory = scratch();
    load({ 'config.yaml': '', 'config.d/1.yaml': '' }, {}, directory);
    spoil(directory);
    const expected = issues.map((name) => `${name} EVICTD_CONFIG_WRITABLE`);
    if (expected.length === 0) expect(read(directory)).not.toThrow();
    else expect(issuesOf(read(directory))).toEqual(expected);
  });

  test('is judged by the target of a link and the directory of the target', () => {
    const directory = scratch();
    mkdirSync(join(directory, 'open'));
    writeFileSync(join(directory, 'open/real.yaml'), '');
    chmodSync(join(directory, 'open'), 0o777);
    symlinkSync('open/real.yaml', join(directory, 'config.yaml'));
    expect(issuesOf(read(directory))).toEqual(['open EVICTD_CONFIG_WRITABLE']);
  });
});
