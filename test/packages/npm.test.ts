import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

// `npm pack` as the README's reader runs it: in a checkout, on a machine without cross compilers.

const scratch = mkdtempSync(join(tmpdir(), 'evictd-test-npm-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** A directory for PATH with all commands of this machine but the cross compilers. */
function commandsWithoutCrossCompilers(): string {
  const directory = join(scratch, 'bin');
  mkdirSync(directory);
  for (const place of (process.env.PATH ?? '').split(':').filter((each) => existsSync(each))) {
    for (const name of readdirSync(place)) {
      const path = join(directory, name);
      if (!/^(aarch64-linux-gnu|x86_64-w64-mingw32)-/.test(name) && !existsSync(path)) symlinkSync(join(place, name), path);
    }
  }
  return directory;
}

test('npm pack names the missing compilers before it builds, and the package installs elsewhere and checks', () => {
  const [checkout, empty] = ['checkout', 'empty'].map((name) => join(scratch, name)) as [string, string];
  mkdirSync(empty);
  for (const file of execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').filter(Boolean)) {
    cpSync(file, join(checkout, file), { preserveTimestamps: true });
  }
  symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'));
  const packed = spawnSync('npm', ['pack', '--pack-destination', empty], {
    cwd: checkout,
    encoding: 'utf8',
    env: { ...process.env, PATH: commandsWithoutCrossCompilers() },
  });
  expect(packed.status, packed.stderr).toBe(0);
  const said = packed.stderr.split('\n').filter((line) => line.startsWith('evictd: '));
  expect(said).toEqual([
    expect.stringMatching(/linux-arm64 cannot be built here.*apt-get install g\+\+-aarch64-linux-gnu cmake/),
    expect.stringMatching(/win32-x64 cannot be built here.*apt-get install g\+\+-mingw-w64-x86-64-posix cmake/),
    'evictd: packing evictd for linux-x64',
  ]);
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', `./evictd-${manifest.version}.tgz`], { cwd: empty });
  const checked = execFileSync('node_modules/.bin/evictd', ['check', '-o', 'nagios'], { cwd: empty, encoding: 'utf8' });
  expect(checked).toMatch(/^OK - /);
}, 1_800_000);
