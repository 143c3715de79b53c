import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { fuseWorks, mountFuse } from '../../../support/fuse.js';
import { ChildCommands } from '../../../../src/host/linux/process/child-commands.js';
import { addonPath, native } from '../../../../src/native/index.js';
import { eventually } from '../../../support/eventually.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

let directory: string;
let commands: ChildCommands;

beforeEach(() => {
  directory = temporaryDirectory();
  commands = new ChildCommands(native);
});
afterEach(() => {
  commands.close();
});

const run = (argv: readonly string[], timeoutMs = 600_000): Promise<string | undefined> =>
  commands.run({
    ...{ purpose: 'hook', name: 'test', argv, environment: { OUT: join(directory, 'out') } },
    ...{ timeoutNs: BigInt(timeoutMs) * 1_000_000n, memoryMaxBytes: 1n },
  });
const script = (text: string, timeoutMs?: number) => run(['/bin/sh', '-c', text], timeoutMs);
const out = () => readFileSync(join(directory, 'out'), 'utf8');

test.each<[what: string, text: string, error: string | undefined]>([
  ['succeeds', 'exit 0', undefined],
  ['fails', 'exit 3', 'it failed (exit code 3)'],
  ['is killed', 'kill -9 $$', 'it failed (SIGKILL)'],
])('the result of a program that %s', async (_what, text, error) => {
  expect(await script(text)).toBe(error);
});

test('a program that cannot be started is reported', async () => {
  expect(await run(['/no/such/program'])).toBe('it cannot be started: ENOENT (no such file or directory)');
  expect(await run(['/'])).toMatch(/EACCES/);
});

test('an argument that no program can get is refused', async () => {
  expect(await run(['/bin/true', 'a\0b'])).toMatch(/NUL/);
});

test('arguments are passed unchanged', async () => {
  expect(await run(['/bin/sh', '-c', 'printf "%s|" "$@" > "$OUT"', 'sh', '', '$HOME', 'ü b'])).toBeUndefined();
  expect(out()).toBe('|$HOME|ü b|');
});

test('a program has its own environment and not that of evictd', async () => {
  process.env.EVICTD_TEST_SECRET = 'secret';
  expect(await script('env > "$OUT"')).toBeUndefined();
  delete process.env.EVICTD_TEST_SECRET;
  expect(out()).not.toContain('secret');
  expect(out()).toMatch(/^PATH=/m);
});

const processOf = (pid: string): boolean => existsSync(`/proc/${pid.trim()}`);

test('the timeout of a program also ends its children', async () => {
  expect(await script('sleep 1000 & echo $! > "$OUT"; wait', 1_000)).toBe('it failed (timeout)');
  await eventually('its child is ended', () => !processOf(out()));
});

test('evictd ends running programs when it stops', async () => {
  const over = script('echo $$ > "$OUT.part"; mv "$OUT.part" "$OUT"; sleep 1000');
  await eventually('it runs', () => existsSync(join(directory, 'out')));
  commands.close();
  expect(await over).toBe('it was ended with evictd');
  await eventually('it is ended', () => !processOf(out()));
});

test('a program ends with an evictd that is killed', async () => {
  const command = { program: '/bin/sh', arguments: ['-c', 'echo $$ > "$OUT.part"; mv "$OUT.part" "$OUT"; exec sleep 1000'] };
  const start = { ...command, environment: [`OUT=${join(directory, 'out')}`, 'PATH=/usr/bin:/bin'] };
  const text = `new (require(${JSON.stringify(addonPath)}).ChildProgram)(${JSON.stringify(start)}, () => {}); setInterval(() => {}, 1000)`;
  const evictd = spawn(process.execPath, ['-e', text], { stdio: 'ignore' });
  onTestFinished(() => void evictd.kill('SIGKILL'));
  await eventually('it runs', () => existsSync(join(directory, 'out')));
  const pid = out();
  onTestFinished(() => {
    if (processOf(pid)) process.kill(Number(pid), 'SIGKILL');
  });
  evictd.kill('SIGKILL');
  await eventually('it is ended', () => !processOf(pid));
});

test('a program has no capability of evictd', async () => {
  const own = readFileSync('/proc/self/oom_score_adj', 'latin1');
  writeFileSync('/proc/self/oom_score_adj', '500');
  onTestFinished(() => {
    writeFileSync('/proc/self/oom_score_adj', own);
  });
  const text = `echo "$(cut -d' ' -f19 /proc/self/stat) $(cat /proc/self/oom_score_adj)" > "$OUT"`;
  expect(await script(text)).toBeUndefined();
  expect(out()).toBe('10 0\n');
  expect(readFileSync('/proc/self/oom_score_adj', 'latin1')).toBe('500\n');
});

test('a program starts without the blocked and ignored signals and open files of evictd', async () => {
  const text = 'grep -E "^Sig(Blk|Ign)" /proc/self/status > "$OUT"; ls -l /proc/self/fd >> "$OUT"; pwd >> "$OUT"';
  expect(await script(text)).toBeUndefined();
  const [blocked = '', ignored = '', , ...rest] = out().trim().split('\n');
  expect([blocked, ignored].map((line) => /0{16}$/.test(line))).toEqual([true, true]);
  expect(rest.pop()).toBe('/');
  expect(rest.filter((line) => / -> (?!\/dev\/null$|.*\/out$|\/proc\/)/.test(line))).toEqual([]);
});

test('processes that a program has started end with it', async () => {
  expect(await script('sleep 1000 & echo $! > "$OUT"')).toBeUndefined();
  await eventually('it is ended', () => !processOf(out()));
});

describe.runIf(await fuseWorks())('a program on a filesystem that hangs, where FUSE can be mounted', () => {
  test.each<[how: string, end: () => void, error: string]>([
    ['until its timeout', () => undefined, 'it failed (timeout)'],
    [
      'until evictd stops',
      () => {
        commands.close();
      },
      'it was ended with evictd',
    ],
  ])('delays nothing, %s', async (_how, end, error) => {
    const fuse = await mountFuse();
    onTestFinished(() => fuse.remove());
    const program = join(fuse.directory, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    await fuse.hangAt('open');
    const over = run([program], 1_000);
    await fuse.stuck(); // heard by this thread
    expect(await script('exit 0')).toBeUndefined();
    end();
    expect(await over).toBe(error);
    fuse.abort();
  });
});
