import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgedStep, ReclaimStep } from '../../../src/core/reclaim/reclaim-step.js';
import { gainOf } from '../../../src/features/reclaim/reclaim-gain.js';
import { stepCommands } from '../../../src/core/reclaim/step-command.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const HOUR = 3_600_000_000_000n;
const limits = { timeoutNs: HOUR, memoryMaxBytes: 1n << 28n };
const aged = (kind: AgedStep): ReclaimStep => ({ name: kind, kind, olderThanNs: HOUR, ...limits });
const everything = (): boolean => true;

/** The expression of a step, over a directory of the test's instead of those of the machine. */
function inScratch(kind: AgedStep): {
  readonly directory: string;
  /** Runs them all. */
  readonly find: (which: 'argv' | 'found', edit?: (argv: readonly string[]) => readonly string[]) => string;
} {
  const directory = temporaryDirectory();
  const commands = stepCommands(aged(kind), everything);
  const roots = commands.map(({ path = '' }) => path);
  const moved = (argument: string): string =>
    roots.reduce((text, root) => text.replace(new RegExp(`^${root}(?=/|$)`), join(directory, root)), argument);
  for (const root of roots) mkdirSync(join(directory, root), { recursive: true });
  return {
    directory,
    find: (which, edit = (argv) => argv) =>
      commands
        .map(({ argv, found = [] }) => edit(which === 'argv' ? argv.slice(1) : found).map(moved))
        .map((argv) => execFileSync('/usr/bin/find', argv, { encoding: 'utf8' }))
        .join(''),
  };
}

function file(path: string, { hoursAgo = 2, bytes = 4096 } = {}): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, Buffer.alloc(bytes, 1));
  const then = Date.now() / 1000 - hoursAgo * 3600;
  utimesSync(path, then, then);
  return path;
}

const below = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name)
    .sort();

test('rotated logs: old ones are deleted, but none that is open for writing, new, or journald’s', async () => {
  const { directory, find } = inScratch('rotated-logs');
  for (const name of ['syslog.1', 'syslog.2.gz', 'app/web.old', 'app/web-20260101']) file(join(directory, 'var/log', name));
  file(join(directory, 'var/log/syslog'));
  file(join(directory, 'var/log/fresh.1'), { hoursAgo: 0 });
  file(join(directory, 'var/log/journal/abc/system.old'));
  const gain = await gainOf(aged('rotated-logs'), everything, () => Promise.resolve({ output: find('found'), error: undefined }));
  expect(gain).toMatchObject({ count: 4n, bytes: 4n * 4096n });
  find('argv');
  expect(below(directory)).toEqual(['fresh.1', 'syslog', 'system.old']);
});

test('links that lead out of the directory are not followed', () => {
  const { directory, find } = inScratch('core-dumps');
  const outside = file(join(directory, 'outside/core.1'));
  symlinkSync(join(directory, 'outside'), join(directory, 'var/crash/link'));
  symlinkSync(outside, join(directory, 'var/crash/core.link'));
  file(join(directory, 'var/lib/systemd/coredump/core.2'));
  find('argv');
  expect(below(directory)).toEqual(['core.1', 'core.link', 'link']);
});

test('temporary files: all times must be old, and those of a service’s own /tmp stay', () => {
  const { directory, find } = inScratch('temporary-files');
  // Their inodes were changed just now, whatever their other times say.
  file(join(directory, 'tmp/recent'));
  linkSync(file(join(directory, 'tmp/systemd-private-1-web.service-a/tmp/kept')), join(directory, 'tmp/linked'));
  find('argv');
  expect(below(directory)).toEqual(['kept', 'linked', 'recent']);
  find('argv', (argv) => argv.flatMap((argument, index) => (argument === '-cmin' || argv[index - 1] === '-cmin' ? [] : [argument])));
  expect(below(directory)).toEqual(['kept']);
});

test('a command that is not installed does not run', () => {
  const only =
    (...paths: readonly string[]) =>
    (path: string): boolean =>
      paths.includes(path);
  const cache: ReclaimStep = { name: 'package-cache', kind: 'package-cache', ...limits };
  expect(stepCommands(cache, only())).toEqual([]);
  expect(stepCommands(cache, only('/usr/bin/dnf', '/var/cache/dnf', '/usr/bin/apt-get')).map(({ argv }) => argv)).toEqual([
    ['/usr/bin/dnf', 'clean', 'packages'],
  ]);
  expect(stepCommands(aged('core-dumps'), only('/var/crash')).map(({ path }) => path)).toEqual(['/var/crash']);
});

test('the estimate for journald is what exceeds keepBytes, and for a command it is unknown', async () => {
  const journald: ReclaimStep = { name: 'journald', kind: 'journald', keepBytes: 1024n, ...limits };
  const found = (output: string, error?: string) => () => Promise.resolve({ output, error });
  expect(await gainOf(journald, everything, found('8\n8\n'))).toMatchObject({ bytes: 7168n, count: undefined });
  expect(await gainOf(journald, everything, found('1\n'))).toMatchObject({ bytes: 0n });
  expect(await gainOf(journald, everything, found('8\n', 'a directory cannot be read'))).toMatchObject({
    bytes: 3072n,
    error: 'a directory cannot be read',
  });
  const command: ReclaimStep = { name: 'prune', kind: 'command', command: ['/bin/prune'], signals: ['nodefs.available'], ...limits };
  expect(await gainOf(command, everything, found(''))).toMatchObject({ bytes: undefined, commands: [['/bin/prune']] });
});
