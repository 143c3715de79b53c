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
])('a program that %s', async (_what, text, error) => {
  expect(await script(text)).toBe(error);
});

test('a program that cannot be started', async () => {
  expect(await run(['/no/such/program'])).toBe('it cannot be started: ENOENT (no such file or directory)');
  expect(await run(['/'])).toMatch(/EACCES/);
});

test('an argument that no program can get', async () => {
  expect(await run(['/bin/true', 'a\0b'])).toMatch(/NUL/);
});

test('its arguments are passed unchanged', async () => {
  expect(await run(['/bin/sh', '-c', 'printf "%s|" "$@" > "$OUT"', 'sh', '', '$HOME', 'ü b'])).toBeUndefined();
  expect(out()).toBe('|$HOME|ü b|');
});

test('it has its own environment and not that of evictd', async () => {
  process.env.EVICTD_TEST_SECRET = 'secret';
  expect(await script('env > "$OUT"')).toBeUndefined();
  delete process.env.EVICTD_TEST_SECRET;
  expect(out()).not.toContain('secret');
  expect(out()).toMatch(/^PATH=/m);
});

const processOf = (pid: string): boolean => existsSync(`/proc/${pid.trim()}`);

test('its timeout ends its children, too', async () => {
  expect(await script('sleep 1000 & echo $! > "$OUT"; wait', 1_000)).toBe('it failed (timeout)');
  await eventually('its child is ended', () => !processOf(out()));
});

test('the end of evictd ends what still runs', async () => {
  const over = script('echo $$ > "$OUT.part"; mv "$OUT.part" "$OUT"; sleep 1000');
  await eventually('it runs', () => existsSync(join(directory, 'out')));
  commands.close();
  expect(await over).toBe('it was ended with evictd');
  await eventually('it is ended', () => !processOf(out()));
});

test('it ends with an evictd that is killed', async () => {
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

test('it has no privilege of evictd', async () => {
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

test('it starts without what evictd blocks, ignores or has open', async () => {
  const text = 'grep -E "^Sig(Blk|Ign)" /proc/self/status > "$OUT"; ls -l /proc/self/fd >> "$OUT"; pwd >> "$OUT"';
  expect(await script(text)).toBeUndefined();
  const [blocked = '', ignored = '', , ...rest] = out().trim().split('\n');
  expect([blocked, ignored].map((line) => /0{16}$/.test(line))).toEqual([true, true]);
  expect(rest.pop()).toBe('/');
  expect(rest.filter((line) => / -> (?!\/dev\/null$|.*\/out$|\/proc\/)/.test(line))).toEqual([]);
});

test('what a program has started ends with it', async () => {
  expect(await script('sleep 1000 & echo $! > "$OUT"')).toBeUndefined();
  await eventually('it is ended', () => !processOf(out()));
});

describe.runIf(await fuseWorks())('a program on a filesystem that hangs, where FUSE can be mounted', () => {
  test.each<[how: string, end: () => void, error: string]>([
    ['to its timeout', () => undefined, 'it failed (timeout)'],
    [
      'to the end of evictd',
      () => {
        commands.close();
      },
      'it was ended with evictd',
    ],
  ])('keeps nothing from going on, %s', async (_how, end, error) => {
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
