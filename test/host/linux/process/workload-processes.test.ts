import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { WorkloadProcesses } from '../../../../src/host/linux/process/workload-processes.js';
import { workload } from '../../../core/support.js';
import { until } from '../../../e2e/wait.js';

/** A reader of a cgroup with these processes. */
const reader = (pids: readonly number[]): WorkloadProcesses => {
  const CgroupHandle = class {
    readonly processes = (): readonly number[] => pids;
    readonly close = (): void => undefined;
  };
  return new WorkloadProcesses({ CgroupHandle } as never, { version: 2, mount: '/nowhere', root: '/' } as never);
};

function read(pids: readonly number[], compared = 256) {
  const reading = reader(pids).read(workload('batch'), compared);
  for (;;) {
    const step = reading.next();
    if (step.done === true) return step.value;
  }
}

async function sleeping(...argv: readonly [string, ...string[]]): Promise<number> {
  const child = spawn(argv[0], argv.slice(1), { stdio: 'ignore' });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const pid = child.pid ?? 0;
  const name = argv.at(-2) ?? '';
  await until('the program runs', () => readFileSync(`/proc/${String(pid)}/cmdline`, 'latin1').includes(name));
  return pid;
}

test.runIf(process.platform === 'linux')('a process has a name, command line, user, memory and the score of the OOM killer', async () => {
  const pid = await sleeping('sleep', '77', '1000');
  const [found, ...others] = read([pid]);
  expect(others).toEqual([]);
  expect(found).toMatchObject({ pid, name: 'sleep', command: 'sleep 77 1000', uid: process.getuid?.() });
  if (process.getuid?.() === 0) expect(found?.user).toBe('root');
  expect(found?.rssBytes).toBeGreaterThan(0);
  expect(found?.oomScore).toBeGreaterThanOrEqual(0);
});

test.runIf(process.platform === 'linux')(
  'at most five processes are listed, the largest first, without those that have ended',
  async () => {
    const small = await Promise.all(Array.from({ length: 6 }, () => sleeping('sleep', '77', '1000')));
    const found = read([0, 2 ** 22 + 1, ...small, process.pid]);
    expect(found).toHaveLength(5);
    expect(found[0]?.pid).toBe(process.pid);
    const sizes = found.map(({ rssBytes = 0 }) => rssBytes);
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
  },
);

test.runIf(process.platform === 'linux')('a long command line is shortened', async () => {
  const pid = await sleeping('sh', '-c', 'sleep 1000; true', 'x'.repeat(300), 'y');
  expect(read([pid])[0]?.command).toHaveLength(128);
});

test('a cgroup that does not exist has no processes', () => {
  const CgroupHandle = function (): never {
    throw new Error('ENOENT');
  };
  const reading = new WorkloadProcesses({ CgroupHandle } as never, { version: 2, mount: '/nowhere', root: '/' } as never);
  expect(reading.read(workload('batch'), 1).next()).toEqual({ done: true, value: [] });
});
