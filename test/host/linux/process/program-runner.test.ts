import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openProgramRunner, type ProgramRunner } from '../../../../src/host/linux/process/program-runner.js';
import type { CommandRunner } from '../../../../src/monitor/ports/ports.js';

const SECOND = 1_000_000_000n;
const limits = { name: 'test', timeoutNs: 60n * SECOND, memoryMaxBytes: 1n << 28n };

/** As where systemd is not the init. */
const children = (): ProgramRunner => openProgramRunner('policy', () => undefined);

function directory(): string {
  const path = mkdtempSync('/var/lib/evictd-test-');
  onTestFinished(() => {
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}

test('a child has the environment that was given, no privilege of evictd, and its error is reported', async () => {
  const file = join(directory(), 'seen');
  const script = `echo "$EVICTD_POLICY $(cut -d' ' -f19 /proc/self/stat) $(cat /proc/self/oom_score_adj)" > ${file}`;
  const environment = ['EVICTD_POLICY=a=b'];
  expect(await children().run({ ...limits, argv: ['/bin/sh', '-c', `sleep 0.2; ${script}`], environment })).toBeUndefined();
  expect(readFileSync(file, 'utf8')).toBe('a=b 10 0\n');
  expect(await children().run({ ...limits, argv: ['/bin/sh', '-c', 'exit 3'] })).toBe('it failed (exit status 3)');
  expect(await children().run({ ...limits, argv: ['/bin/sh', '-c', 'kill -TERM $$'] })).toBe('it failed (SIGTERM)');
});

test('at the timeout the whole process group is ended, and at the end of the program what it has started', async () => {
  const file = join(directory(), 'pid');
  const starts = `sleep 600 & echo $! > ${file}`;
  const started = async (): Promise<boolean> => {
    const [pid = ''] = readFileSync(file, 'utf8').split('\n');
    const isThere = (): boolean => existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
    for (let left = 100; left > 0 && isThere(); left -= 1) await pause(20);
    return isThere();
  };
  expect(await children().run({ ...limits, timeoutNs: SECOND / 2n, argv: ['/bin/sh', '-c', `${starts}; wait`] })).toBe(
    'it failed (timeout)',
  );
  expect(await started()).toBe(false);
  expect(await children().run({ ...limits, argv: ['/bin/sh', '-c', starts] })).toBeUndefined();
  expect(await started()).toBe(false);
});

test('what runs is ended with evictd', async () => {
  const runner = children();
  const result = runner.run({ ...limits, argv: ['/bin/sleep', '600'] });
  runner.close();
  expect(await result).toBe('it failed (SIGKILL)');
});

test('a program that others can change, that is missing or cannot be executed is not run', async () => {
  const program = join(directory(), 'hook');
  writeFileSync(program, '#!/bin/sh\nexit 0\n');
  chmodSync(program, 0o757);
  expect(await children().run({ ...limits, argv: [program] })).toMatch('is writable by all users');
  chmodSync(program, 0o644);
  expect(await children().run({ ...limits, argv: [program] })).toMatch(/^it failed: .*EACCES/);
  expect(await children().run({ ...limits, argv: [`${program}-none`] })).toBe(`${program}-none does not exist`);
});

test('where systemd is the init, its unit runs the program, unless others can change it', async () => {
  const units: CommandRunner = { run: ({ argv }) => Promise.resolve(`unit of ${argv.join(' ')}`) };
  expect(await openProgramRunner('policy', () => units).run({ ...limits, argv: ['/bin/true', 'x'] })).toBe('unit of /bin/true x');
  expect(await openProgramRunner('policy', () => units).run({ ...limits, argv: ['/none'] })).toBe('/none does not exist');
});
