import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { SLOWNESS } from '../support/slowness.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { Evictd, EVICTD, evictd } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';

test(`history of a running evictd has an eviction before the state directory has it (${ON})`, async () => {
  const node = testNode();
  const batch = await workload(node.child('batch'), { growsMib: 140 });
  // The state directory cannot be created: all records are in the runtime directory.
  const directory = temporaryDirectory('/dev/shm');
  writeFileSync(join(directory, 'state'), 'no directory');
  const running = await new Evictd({ config: guarding(node), directory }).guarding();
  batch.grow();
  await running.until('batch is evicted', () => !batch.alive);
  await running.logged(/^evicted batch/);
  const place = ['--state-directory', join(directory, 'other'), '--runtime-directory', join(directory, 'run')];
  const { code, stdout, stderr } = await evictd('history', ...place, '--utc');
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^\d{4}-\d\d-\d\d [\d:.]+Z {2}evicted {6}batch by SIGKILL: memory\.available [\d.]+MiB < 384Mi \(hard\);( perl \(pid \d+, user root, [\d.]+MiB\);)? freed [\d.]+MiB; signal after [\d.]+ ms, gone [\d.]+ ms later\n$/,
  );
  const json = await evictd('history', ...place, '-o', 'json', '--workload', 'batch');
  expect(JSON.parse(json.stdout)).toMatchObject([
    { type: 'eviction', result: 'killed', victim: { name: 'batch' }, decision: { ranking: [{ place: 1, name: 'batch' }] } },
  ]);
  expect(await running.stop()).toBe(0);
});

test(`history reads the configured directories, and with a broken configuration the named one (${ON})`, async () => {
  const node = testNode();
  const running = await new Evictd({ config: guarding(node) }).guarding();
  expect(await running.stop()).toBe(0);
  const { code, stdout } = await evictd('history', '--config', running.configFile, '--all');
  expect((await running.history('stop')).map(({ type }) => type)).toEqual(['stop']);
  expect(stdout).toMatch(/^.{29} {2}start {8}evictd \S+ starts\n(.*\n)*.{29} {2}stop {9}evictd stops\n$/);
  expect(code).toBe(0);
  running.configure({ ...guarding(node), nonsense: 1 });
  expect(
    await evictd('history', '--config', running.configFile, '--all', '--state-directory', join(running.directory, 'state')),
  ).toMatchObject({
    code: 0,
    stdout,
    stderr: expect.stringMatching(
      /^evictd: warning: the configuration has 1 error, so this command uses the defaults: .*unknown key nonsense/,
    ) as string,
  });
});

test.runIf(process.getuid?.() === 0)('history of a user without permission gives a hint', () => {
  const directory = temporaryDirectory('/dev/shm');
  chmodSync(directory, 0o755);
  const state = join(directory, 'state');
  mkdirSync(state);
  writeFileSync(join(state, 'journal.jsonl'), '{"time":"2026-11-21T08:00:00.000Z","type":"alert","message":"x"}\n');
  const args = [EVICTD, 'history', '--state-directory', state, '--runtime-directory', join(directory, 'run')];
  const asNobody = () => spawnSync(process.execPath, args, { encoding: 'utf8', uid: 65534, gid: 65534 });
  mkdirSync(join(directory, 'run'), { mode: 0o700 });
  expect(asNobody()).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('alert') as string,
    stderr: expect.stringMatching(/the newest records, in \S+\/run, are missing: EACCES; run as root to read them/) as string,
  });
  chmodSync(state, 0o700);
  expect(asNobody()).toMatchObject({
    status: 66,
    stdout: '',
    stderr: expect.stringMatching(
      /EVICTD_HISTORY_FILE: the journal \S+\/state cannot be read: EACCES\n.*\n {2}hint: run it as root/,
    ) as string,
  });
});

test('history ends with its reader, and a slow reader does not fill its memory', async () => {
  const directory = temporaryDirectory('/dev/shm');
  const file = join(directory, 'journal.jsonl');
  const line = JSON.stringify({ time: '2026-11-21T08:00:00.000Z', type: 'alert', message: 'x'.repeat(1000) });
  writeFileSync(file, `${line}\n`.repeat(100_000)); // 100 MB
  const child = spawn(process.execPath, [EVICTD, 'history', '-o', 'json', file], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'readable');
  await pause(1_500 * SLOWNESS); // if it did not wait for its reader, it would have read everything by now
  expect(Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(child.pid)}/status`, 'utf8'))?.[1])).toBeLessThan(140_000);
  const ended = once(child, 'exit');
  child.stdout.destroy();
  expect(await ended).toEqual([0, null]);
});
