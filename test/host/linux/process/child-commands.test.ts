import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ChildCommands } from '../../../../src/host/linux/process/child-commands.js';
import { eventually } from '../../../support/eventually.js';

let directory: string;
let commands: ChildCommands;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'evictd-test-child-'));
  commands = new ChildCommands();
});
afterEach(() => {
  commands.close();
  rmSync(directory, { recursive: true });
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
  expect(await run(['/no/such/program'])).toMatch(/ENOENT/);
});

test('a program that Node refuses to start at once', async () => {
  expect(await run(['/bin/true', 'a\0b'])).toMatch(/null bytes/);
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
  expect(await over).toBe('it failed (SIGKILL)');
  expect(processOf(out())).toBe(false);
});

test('it has no privilege of evictd', async () => {
  const text = `sleep 0.2; echo "$(cut -d' ' -f19 /proc/self/stat) $(cat /proc/self/oom_score_adj)" > "$OUT"`;
  expect(await script(text)).toBeUndefined();
  expect(out()).toBe('10 0\n');
});

test('what a program has started ends with it', async () => {
  expect(await script('sleep 1000 & echo $! > "$OUT"')).toBeUndefined();
  await eventually('it is ended', () => !processOf(out()));
});
