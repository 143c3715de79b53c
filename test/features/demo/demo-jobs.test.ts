import { expect, test } from 'vitest';
import { JobNode } from '../../../src/features/demo/job-node.js';
import { verdict } from '../../../src/features/demo/demo-report.js';
import type { DemoJobs } from '../../../src/features/demo/open.js';

const GIB = 1n << 30n;
const own = (name: string): string => `evictd-demo-${String(process.pid)}-${name}`;

/** Jobs in memory. */
class Played implements DemoJobs {
  available = 8n * GIB;
  readonly jobs = new Map<string, number[]>();
  readonly done: string[] = [];
  memory = () => ({ available: this.available, capacity: 16n * GIB });
  make = (name: string, mostBytes: bigint) => {
    this.jobs.set(name, []);
    this.done.push(`make ${name} ${String(mostBytes / GIB)}GiB`);
  };
  add = (name: string, pid: number) => {
    this.jobs.get(name)?.push(pid);
  };
  processes = (name: string) => this.jobs.get(name) ?? [];
  usedBytes = (name: string) => BigInt(this.processes(name).length);
  end = (name: string) => {
    this.jobs.set(name, []);
    this.done.push(`end ${name}`);
  };
  askToStop = (directory: string) => {
    this.done.push(`stop ${directory}`);
  };
  close = () => {
    this.done.push('close');
  };
}

test('each workload is a job with a limit', () => {
  const jobs = new Played();
  const node = new JobNode(jobs, ['db', 'batch']);
  expect(jobs.done).toEqual([`make ${own('db')} 2GiB`, `make ${own('batch')} 2GiB`]);
  expect(node.settings().workloads).toEqual([{ job: own('db') }, { job: own('batch') }]);
});

test('the threshold is 512 MiB below the memory that is available once the workloads have started', () => {
  const jobs = new Played();
  const node = new JobNode(jobs, ['db']);
  jobs.available = 7n * GIB;
  expect(node.settings().evictionHard).toEqual({ 'memory.available': String(7n * GIB - GIB / 2n), 'nodefs.available': '0%' });
  expect(node.described).toEqual({
    cgroup: null,
    cgroupVersion: null,
    limitBytes: Number(16n * GIB),
    threshold: `memory.available<${String(7n * GIB - GIB / 2n)}`,
  });
});

test('a started process is in the job and ends with it', async () => {
  const jobs = new Played();
  const node = new JobNode(jobs, ['db', 'batch']);
  node.started('batch', 12);
  expect([node.processes('batch'), node.workingSetBytes('batch'), node.workingSetBytes()]).toEqual([[12], 1n, 1n]);
  expect(await node.remove()).toBeUndefined();
  expect(jobs.done.slice(2)).toEqual([`end ${own('db')}`, `end ${own('batch')}`, 'close']);
});

test('without an OOM killer the demo does not check for one', () => {
  const facts = { records: [], leakingProcesses: 0, survivors: [], guardEnd: 'exit code 0' };
  const checks = (oomKills: { before: number; after: number } | undefined): string[] =>
    verdict({ ...facts, oomKills }, 'batch').map(({ check }) => check);
  expect(checks({ before: 0, after: 0 }).filter((check) => check.includes('OOM'))).toHaveLength(1);
  expect(checks(undefined).filter((check) => check.includes('OOM'))).toEqual([]);
});
