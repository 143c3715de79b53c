import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { evictd, Family, Running } from './program.js';

/** Met on any machine from the start. */
const MET = { 'memory.available': '99.9%', 'nodefs.available': '0%' };
const UNMET = { 'memory.available': '1Mi', 'nodefs.available': '0%' };

const jobName = (name: string): string => `evictd-test-${String(process.pid)}-${name}-${String(Date.now())}`;

test.each<[limit: string, exit: number]>([
  ['1Mi', 0],
  ['99.9%', 2],
])('check compares with the commit limit of the machine: memory.available<%s gives exit code %i', (limit, exit) => {
  const { status, stdout } = evictd('check', '-o', 'json', '--eviction-hard', `memory.available<${limit}`);
  const { signals } = JSON.parse(stdout) as { readonly signals: readonly { readonly signal: string; readonly capacityBytes: number }[] };
  expect(status).toBe(exit);
  expect(signals.find(({ signal }) => signal === 'memory.available')?.capacityBytes).toBeGreaterThan(0);
});

test('rank lists a job with the usage of its processes (0 under Wine)', async () => {
  const name = jobName('ranked');
  await Family.start(process.execPath, name);
  const { status, stdout } = evictd('rank', '-o', 'json', '--workload-job', name);
  const { workloads } = JSON.parse(stdout) as { readonly workloads: readonly { readonly name: string; readonly usageBytes: number }[] };
  expect(status).toBe(0);
  expect(workloads.map((workload) => workload.name)).toEqual([name]);
  expect(workloads[0]?.usageBytes).toBeTypeOf('number');
});

test('rank protects processes that evictd descends from', () => {
  const { stdout } = evictd('rank', '-o', 'json', '--workload-process', process.execPath);
  const { workloads } = JSON.parse(stdout) as { readonly workloads: readonly { readonly protection: string | null }[] };
  expect(workloads.length).toBeGreaterThan(0);
  expect(workloads.every(({ protection }) => protection !== null)).toBe(true);
});

test('run terminates every process of the first job, and of no other', async () => {
  const [first, other] = [jobName('first'), jobName('other')];
  const victim = await Family.start(process.execPath, first);
  const spared = await Family.start(process.execPath, other);
  const guard = new Running({
    evictionHard: MET,
    workloads: [{ job: first }, { job: other }],
    rules: [{ match: { name: other }, critical: true }],
  });
  const outcome = await guard.recorded('outcome');
  expect(outcome).toMatchObject({ processesLeft: 0, victim: { name: first } }); // what the machine got back others take
  expect(guard.journal('decision')).toMatchObject([{ action: 'TerminateJobObject', victim: { name: first } }]);
  await victim.ends();
  expect(spared.living()).toEqual(spared.pids);
  await guard.says('metrics are served');
  expect(await guard.metrics()).toContain('evictd_evictions_total{eviction_signal="memory.available"} 1');
  expect(await guard.stop()).toBe(0);
  expect(guard.said).toContain('evictd stopped');
  expect(spared.living()).toEqual(spared.pids);
});

/** Copies of node.exe with these names. */
function programs(...names: readonly string[]): string[] {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return names.map((name) => {
    const program = join(directory, name);
    copyFileSync(process.execPath, program);
    return program;
  });
}

test('run terminates a program and its children', async () => {
  const [program = ''] = programs('victim.exe');
  const victim = await Family.start(program);
  const guard = new Running({ evictionHard: MET, workloads: [{ process: { path: program } }] });
  expect(await guard.recorded('outcome')).toMatchObject({ processesLeft: 0, victim: { name: 'victim.exe' } });
  expect(guard.journal('decision')).toMatchObject([{ action: 'TerminateProcess' }]);
  await victim.ends();
});

// With a threshold that is always met: under Wine memory is freed after the end of a process, so evictd could not stop
// in time between two evictions.
test('process trees are evicted by priority, lowest first, and no process outside of the sources', async () => {
  const names = ['high.exe', 'low.exe', 'middle.exe'];
  const [unnamed = '', ...paths] = programs('unnamed.exe', ...names);
  const bystander = await Family.start(unnamed);
  for (const path of paths) await Family.start(path);
  const guard = new Running({
    evictionHard: MET,
    workloads: paths.map((path) => ({ process: { path } })),
    rules: [
      { match: { name: 'low.exe' }, priority: -1 },
      { match: { name: 'high.exe' }, priority: 1 },
    ],
  });
  await eventually('all trees are evicted', () => guard.journal('outcome').length === names.length, {
    ms: 60_000,
    circumstances: () => guard.said,
  });
  expect(await guard.stop()).toBe(0);
  expect(guard.journal('decision').map(({ victim }) => victim?.name)).toEqual(['low.exe', 'middle.exe', 'high.exe']);
  expect(bystander.living()).toEqual(bystander.pids);
});

test('a dry run names the workload that it would evict, and terminates no process', async () => {
  const name = jobName('dry');
  const family = await Family.start(process.execPath, name);
  const guard = new Running({ evictionHard: MET, workloads: [{ job: name }] }, '--dry-run');
  await guard.says('dry run: would evict');
  expect(family.living()).toEqual(family.pids);
});

test('a second evictd does not start, and the first one answers a reload', async () => {
  const guard = new Running({ evictionHard: UNMET });
  await guard.says('metrics are served');
  const second = guard.command('run');
  expect(second.status).toBe(75);
  expect(second.stderr).toContain('EVICTD_INSTANCE_RUNNING');
  guard.configure({ evictionHard: { ...UNMET, 'memory.available': '2Mi' } });
  const { status, stdout } = guard.command('reload');
  expect(status).toBe(0);
  expect(stdout).toContain('reloaded its configuration');
  await guard.says('evictd reloaded its configuration: memory.available<2Mi');
  expect(guard.command('pause', '1m', '--reason', 'a test').stderr).toContain('takes no request on Windows but evictd reload');
});
