import { expect, test } from 'vitest';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { reclaimCommand } from '../../../src/features/reclaim/command.js';
import { UsageError } from '../../../src/errors.js';
import { scratch } from '../../config/scratch.js';
import { ran } from '../../cli/support.js';

const gain = { bytes: 1n << 30n, count: 3n, unit: 'file' as const, commands: [['/usr/bin/a', '-x']], error: undefined };

function run(args: readonly string[], yaml = 'reclaim: [{step: journald}, {step: package-cache}]\n', errors: readonly string[] = []) {
  const file = join(scratch(), 'config.yaml');
  writeFileSync(file, yaml, { mode: 0o600 });
  const requested: string[] = [];
  const made = (io: Parameters<Parameters<typeof ran>[0]>[0], setExitCode: (code: number) => void) =>
    reclaimCommand({
      io,
      setExitCode,
      gains: ({ reclaim }) => Promise.resolve(reclaim.map(({ name }) => ({ name, gain }))),
      names: ({ reclaim }) => Promise.resolve(reclaim.map(({ name }) => name)),
      reclaim: (_config, names, signal) => {
        requested.push(...names.map((name) => `${name} ${signal}`));
        return Promise.resolve({ errors, yields: names.map((name) => ({ collection: name, bytes: 2048n, inodes: 1n })) });
      },
    });
  return ran(made, ['--config', file, ...args]).then((result) => ({ ...result, requested }));
}

test('reclaim --dry-run prints what could be freed, and frees nothing', async () => {
  const { out, requested, exit } = await run(['--dry-run', '--step', 'journald']);
  expect(out).toBe('STEP               GAIN  COMMAND\njournald  1GiB, 3 files  /usr/bin/a -x\n');
  expect(requested).toEqual([]);
  expect(exit).toBeUndefined();
});

test('reclaim prints JSON', async () => {
  const { out } = await run(['--dry-run', '--step', 'journald', '-o', 'json']);
  expect(JSON.parse(out)).toEqual({
    steps: [{ name: 'journald', gainBytes: 2 ** 30, count: 3, unit: 'file', commands: [['/usr/bin/a', '-x']] }],
  });
});

test('reclaim runs the steps and prints what each has freed, and a failed step sets the exit code', async () => {
  expect(await run(['--signal', 'nodefs.inodesFree'])).toMatchObject({
    requested: ['journald nodefs.inodesFree', 'package-cache nodefs.inodesFree'],
    exit: undefined,
    out: 'STEP           FREED  INODES\njournald        2KiB       1\npackage-cache   2KiB       1\n',
  });
  expect(await run([], undefined, ['journald: it failed'])).toMatchObject({
    exit: 1,
    out: expect.stringContaining('journald: it failed\n') as string,
  });
});

test('reclaim says that no step is configured', async () => {
  expect((await run(['--dry-run'], '')).out).toBe(
    'nothing was reclaimed: no step is configured (add steps under the key reclaim: docs/reclaim.md)\n',
  );
});

test.each([
  ['--step', 'nope'],
  ['--signal', 'memory.available'],
])('%s %s is a usage error', async (...args) => {
  const { error } = await run(args);
  expect(error instanceof UsageError || (error as { code?: string }).code === 'commander.invalidArgument').toBe(true);
});
