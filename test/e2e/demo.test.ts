import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, onTestFinished, test } from 'vitest';
import { memoryController } from '../support/cgroup.js';
import { EVICTD } from './evictd.js';
import { ON } from './node.js';
import { until } from './wait.js';

/** What a demo creates: cgroups, directories, processes with its name in their arguments. */
function leftovers(demo: number): string[] {
  const name = `evictd-demo-${String(demo)}`;
  const cgroup = `${memoryController()?.mount ?? ''}/${name}`;
  const directories = ['/dev/shm', tmpdir()].flatMap((parent) => readdirSync(parent).filter((entry) => entry.startsWith(`${name}-`)));
  return [...(existsSync(cgroup) ? [cgroup] : []), ...directories, ...processes(name)];
}

function processes(argument: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
        return command.includes(argument) ? [`${pid} ${command}`] : [];
      } catch {
        return []; // the process has ended
      }
    });
}

function start(...args: string[]) {
  const child = spawn(process.execPath, [EVICTD, 'demo', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGTERM'));
  const ended = once(child, 'close').then(([code]) => code as number);
  const demo = { pid: child.pid ?? 0, stdout: '', stderr: '', ended, kill: (signal: NodeJS.Signals) => child.kill(signal) };
  child.stdout.on('data', (chunk: Buffer) => (demo.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (demo.stderr += chunk.toString()));
  return demo;
}

describe(`evictd demo (${ON})`, () => {
  test('shows one eviction with its reason, and leaves nothing behind', async () => {
    const demo = start();
    expect(await demo.ended, demo.stdout).toBe(0);
    expect(demo.stdout).toMatch(/evictd evicted batch, and only batch, before the OOM killer acted\./);
    expect(demo.stdout).toMatch(/reason +memory\.available .* < 64Mi \(hard\); batch uses .*, has no request, priority -10/);
    expect(demo.stdout).toMatch(/latency +crossing → (wake [\d.]+ ms → decision [\d.]+ ms → )?signal [\d.]+ ms → gone [\d.]+ ms/);
    expect(demo.stdout).toMatch(/OOM killer +0 kills before, 0 after/);
    expect(demo.stdout).toMatch(/alive +db, web\n/);
    expect(demo.stdout).not.toContain('\u001b'); // no terminal, no colours
    process.stdout.write(`${ON}: ${/latency .*/.exec(demo.stdout)?.[0] ?? ''}\n`); // printed, not asserted: it depends on the machine
    expect(leftovers(demo.pid)).toEqual([]);
  });

  test('run twice, where two at once do not meet, prints JSON', async () => {
    const demos = [start('--output', 'json'), start('--output', 'json')];
    for (const demo of demos) {
      expect(await demo.ended, demo.stdout + demo.stderr).toBe(0);
      const report = JSON.parse(demo.stdout) as {
        ok: boolean;
        oomKills: object;
        checks: { ok: boolean }[];
        decision: object;
        outcome: object;
      };
      expect(report).toMatchObject({
        ok: true,
        oomKills: { before: 0, after: 0 },
        decision: { victim: { name: 'batch' } },
        outcome: { result: 'killed' },
      });
      expect(report.checks.every(({ ok }) => ok)).toBe(true);
    }
    expect(demos.flatMap(({ pid }) => leftovers(pid))).toEqual([]);
  });

  test.each<[signal: NodeJS.Signals, when: string, said: RegExp]>([
    ['SIGINT', 'while the workloads start', /the node is cgroup/],
    ['SIGTERM', 'while evictd guards', /evictd: .*guards node/],
    ['SIGHUP', 'during the leak', /starts to leak/],
  ])('%s %s removes everything and exits with 1', async (signal, _when, said) => {
    const demo = start();
    await until('the demo has reached this point', () => said.test(demo.stdout));
    demo.kill(signal);
    demo.kill(signal); // a second signal does not interrupt the clean-up
    expect(await demo.ended).toBe(1);
    expect(demo.stderr).toBe(`evictd demo: interrupted by ${signal}; everything is removed\n`);
    expect(leftovers(demo.pid)).toEqual([]);
  });

  test('exits with 1 and removes everything when standard output cannot be written', async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [EVICTD, 'demo'], { stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(child, 'close')) as [unknown];
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^evictd: EVICTD_OUTPUT_WRITE: .*ENOSPC.*\n$/) as string });
    expect(leftovers(child.pid ?? 0)).toEqual([]);
  });

  test('reports it when evictd itself ends in the middle, exits with 1, and removes everything', async () => {
    const demo = start();
    await until('evictd guards', () => /evictd: .*guards node/.test(demo.stdout));
    const [guard = ''] = processes('run --config ').filter((line) => parentOf(line) === demo.pid);
    process.kill(Number(guard.split(' ')[0]), 'SIGKILL');
    expect(await demo.ended).toBe(1);
    expect(demo.stdout + demo.stderr).toMatch(/evictd (run ended|stopped on request \(ended early): SIGKILL/);
    expect(leftovers(demo.pid)).toEqual([]);
  });

  test('without permission to create cgroups exits with 75 and a hint', async () => {
    const readOnly = `mount -o remount,bind,ro ${memoryController()?.mount ?? ''} && exec "$@"`;
    const child = spawn('unshare', ['--mount', 'sh', '-c', readOnly, 'sh', process.execPath, EVICTD, 'demo'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    expect([code, stderr]).toEqual([
      75,
      expect.stringMatching(/^evictd: EVICTD_DEMO_CGROUP: cannot create a cgroup .*EROFS.*\n {2}hint: run it as root/),
    ]);
  });
});

function parentOf(process: string): number {
  const stat = readFileSync(`/proc/${process.split(' ')[0] ?? ''}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}
