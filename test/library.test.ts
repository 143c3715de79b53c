import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
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

test('pressure: the trigger is armed, and the process ends when it is closed', () => {
  expect(run('pressure', '0')).toMatch(/^psi_trigger on \/proc\/pressure\/memory\n/);
});

test('cgroups: the children of a cgroup', () => {
  const root = existsSync('/sys/fs/cgroup/memory/memory.stat') ? '/sys/fs/cgroup/memory' : '/sys/fs/cgroup';
  const parent = makeCgroup(`${root}/evictd-test-library-${String(process.pid)}`);
  for (const name of ['a', 'b']) makeCgroup(`${parent}/${name}`);
  const lines = run('cgroups', parent).trimEnd().split('\n').sort();
  expect(lines.map((line) => line.replace(/^[\d.]+\w*B? +|^errno \d+ +/, ''))).toEqual(['a', 'b']);
});

test('end-process: the process ends, and the example says so', async () => {
  const child = spawn('sleep', ['1000']);
  const ended = once(child, 'exit');
  expect(run('end-process', String(child.pid))).toBe(`process ${String(child.pid)} has ended\n`);
  expect(await ended).toEqual([null, 'SIGKILL']);
});

test('docs/library.md names what the library exports, and nothing else', () => {
  const [, rules = ''] = readFileSync('docs/library.md', 'utf8').split('## The rules');
  const [named = ''] = rules.split('## Examples');
  const rows = [...named.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/`(\w+)/g)].map(([, name]) => name));
  const exported = Object.keys(library).filter((name) => name !== 'native' && !name.endsWith('Error'));
  expect(rows.sort()).toEqual(exported.sort());
});

test('docs/library.md names classes that the addon has', () => {
  const [, part = ''] = readFileSync('docs/library.md', 'utf8').split('## native');
  const [classes = ''] = part.split('## The rules');
  const names = [...classes.matchAll(/`([A-Z]\w+)\(/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !(name in library.native))).toEqual([]);
});
