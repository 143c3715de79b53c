import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import * as library from '../src/index.js';

/** Runs an example, which imports the built library by the package's own name. */
const run = (example: string, ...args: readonly string[]): string =>
  execFileSync(process.execPath, [`examples/${example}.mjs`, ...args], { encoding: 'utf8' });

const made: string[] = [];
afterEach(() => {
  for (const cgroup of made.splice(0).reverse()) rmdirSync(cgroup);
});

function makeCgroup(path: string): string {
  mkdirSync(path);
  made.push(path);
  return path;
}

test('the pressure example arms the trigger, and ends when it is closed', () => {
  expect(run('pressure', '0')).toMatch(/^psi_trigger on \/proc\/pressure\/memory\n/);
});

test('the cgroups example prints the children of a cgroup', () => {
  const root = existsSync('/sys/fs/cgroup/memory/memory.stat') ? '/sys/fs/cgroup/memory' : '/sys/fs/cgroup';
  const parent = makeCgroup(`${root}/evictd-test-library-${String(process.pid)}`);
  for (const name of ['a', 'b']) makeCgroup(`${parent}/${name}`);
  const lines = run('cgroups', parent).trimEnd().split('\n').sort();
  expect(lines.map((line) => line.replace(/^[\d.]+\w*B? +|^errno \d+ +/, ''))).toEqual(['a', 'b']);
});

test('the cgroups example names a path that is not a cgroup, without a stack trace', () => {
  const { status, stderr } = spawnSync(process.execPath, ['examples/cgroups.mjs', '/nothing'], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([66, expect.stringMatching(/^\/nothing is not a cgroup: .*\n$/)]);
});

test('the end-process example ends the process, and says so', async () => {
  const child = spawn('sleep', ['1000']);
  const ended = once(child, 'exit');
  expect(run('end-process', String(child.pid))).toBe(`process ${String(child.pid)} has ended\n`);
  expect(await ended).toEqual([null, 'SIGKILL']);
  for (const wrong of [String(child.pid), 'x']) {
    const { status, stderr } = spawnSync(process.execPath, ['examples/end-process.mjs', wrong], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^cannot end process .*: .*\n$/)]);
  }
});

test('the check example prints the status of the configuration as `evictd check` does, with its exit code', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'evictd-test-library-')), 'config.yaml');
  const checked = (text: string): [number | null, string] => {
    writeFileSync(file, text);
    const { status, stdout, stderr } = spawnSync(process.execPath, ['examples/check.mjs', file], { encoding: 'utf8' });
    return [status, stdout + stderr];
  };
  try {
    // The whole memory is never available.
    expect(checked('evictionHard: { memory.available: 99.99% }\n')).toEqual([
      2,
      expect.stringMatching(/^memory.available: \d+ of \d+\n[^]*\nhard\n$/),
    ]);
    expect(checked('evictionHerd: {}\n')).toEqual([1, expect.stringContaining('EVICTD_CONFIG_UNKNOWN_KEY')]);
  } finally {
    rmSync(dirname(file), { recursive: true });
  }
});

test('docs/library.md names exactly the exports of the library', () => {
  const [, rules = ''] = readFileSync('docs/library.md', 'utf8').split('## A check');
  const [named = ''] = rules.split('## Examples');
  const rows = [...named.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/`(\w+)/g)].map(([, name]) => name));
  const exported = Object.keys(library).filter((name) => name !== 'native' && !name.endsWith('Error'));
  expect(rows.sort()).toEqual(exported.sort());
});

test('docs/library.md names only classes that the addon has', () => {
  const [, part = ''] = readFileSync('docs/library.md', 'utf8').split('## native');
  const [classes = ''] = part.split('## A check');
  const names = [...classes.matchAll(/`([A-Z]\w+)\(/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !(name in library.native))).toEqual([]);
});
