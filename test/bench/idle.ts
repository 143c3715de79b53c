import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { atMost, type Bench, type Benchmark, type Result } from './benchmark.js';
import { RunningEvictd } from './evictd.js';
import { testCgroup } from '../support/cgroup.js';
import { plantTree, WORKLOADS } from './tree.js';

/** V8 frees the memory of the start once, after some 17 s, in about 50 ms: part of the start. */
const SETTLE_MS = 26_000;
const START_MS = 3_000;
const SCRAPES = 100;
const POLICIES = 100;
const SCOPES = 300;

/** Cost of an idle evictd: the machine as the node, a hundred workloads; compared with evictd with policies, an idle Node and earlyoom. */
export const idle: Benchmark = {
  name: 'idle',
  what: 'processor time and memory of `evictd run` with nothing to do',
  run: async (bench: Bench): Promise<Result> => {
    const { node } = await plantTree(bench);
    const scopes = testCgroup();
    bench.cleanup(() => scopes.cleanup());
    for (let index = 0; index < SCOPES; index += 1) scopes.child(`${String(index)}.service`);
    const withPolicies = (...policies: readonly object[]): Promise<RunningEvictd> =>
      RunningEvictd.start(bench, { workloads: [{ cgroup: node.path }], policies });
    const then = ['notify'];
    const evictd = await withPolicies();
    const one = await withPolicies({ name: 'one', when: 'memory.available < 1Mi', then });
    const scope = { cgroup: `${scopes.path}/*` };
    const all = Array.from({ length: POLICIES }, (_, index) => ({
      name: `p${String(index)}`,
      scope,
      when: `memory.current > ${String(index + 1)}Ti`,
      then,
    }));
    const many = await withPolicies(...all);
    const barePid = started(bench, process.execPath, '-e', 'setInterval(() => {}, 1e9)') ?? 0;
    const earlyoomPid = started(bench, 'earlyoom', '--dryrun', '-r', '0');
    const pids = [evictd.pid, barePid, one.pid, many.pid, ...(earlyoomPid === undefined ? [] : [earlyoomPid])];

    await pause(START_MS);
    const atStart = residentMiB(evictd.pid);
    await pause(SETTLE_MS - START_MS);
    const before = pids.map(processorNs);
    const wakesBefore = pids.map(wakes);
    const from = process.hrtime.bigint();
    await pause(bench.idleSeconds * 1e3);
    const used = pids.map((pid, index) => processorNs(pid) - (before[index] ?? 0n));
    const [usedNs = 0n, bareNs = 0n, oneNs = 0n, manyNs = 0n, earlyoomNs] = used;
    const wallNs = Number(process.hrtime.bigint() - from);
    const percent = (ns: bigint): number => (Number(ns) / wallNs) * 100;
    const [ownWakes = 0, , oneWakes = 0, manyWakes = 0] = pids.map(
      (pid, index) => ((wakes(pid) - (wakesBefore[index] ?? 0)) / wallNs) * 60e9,
    );
    const later = residentMiB(evictd.pid);
    for (let scrape = 0; scrape < SCRAPES; scrape += 1) await evictd.scrape();
    const scraped = residentMiB(evictd.pid);
    const bareMiB = residentMiB(barePid);
    return {
      figures: [
        { what: 'evictd run', unit: '% of a core', measured: percent(usedNs), ...atMost(0.1) },
        { what: 'evictd run', unit: 'wakes/min', measured: ownWakes },
        { what: 'a policy that is not met', unit: 'wakes/min', measured: oneWakes },
        { what: 'a policy that is not met / none', unit: '×', measured: Number(oneNs) / Number(usedNs), ...atMost(1.1) },
        { what: `${String(POLICIES)} policies over ${String(SCOPES)} cgroups`, unit: 'wakes/min', measured: manyWakes },
        {
          what: `${String(POLICIES)} policies over ${String(SCOPES)} cgroups / none`,
          unit: '×',
          measured: Number(manyNs) / Number(usedNs),
        },
        { what: 'a bare node', unit: '% of a core', measured: percent(bareNs) },
        ...(earlyoomNs === undefined ? [] : [{ what: 'earlyoom', unit: '% of a core', measured: percent(earlyoomNs) }]),
        { what: 'resident after the start', unit: 'MiB', measured: atStart, ...atMost(55) },
        { what: `resident after ${String(bench.idleSeconds)} s`, unit: 'MiB', measured: later, ...atMost(55) },
        { what: `resident after ${String(SCRAPES)} scrapes`, unit: 'MiB', measured: scraped, ...atMost(55) },
        { what: 'resident, a bare node', unit: 'MiB', measured: bareMiB },
        { what: 'resident, evictd / bare node', unit: '×', measured: scraped / bareMiB },
      ],
      notes: [
        `over ${String(bench.idleSeconds)} s, all threads, by the scheduler's own count in ns; the machine as the node, ${String(WORKLOADS)} workloads, metrics on`,
      ],
    };
  },
};

/** Returns the process id of a program that runs beside evictd; undefined: it is not installed. */
function started(bench: Bench, command: string, ...args: readonly string[]): number | undefined {
  const child = spawn(command, args, { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  bench.cleanup(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return child.pid;
}

/** Processor time of all threads by /proc/PID/task/TID/schedstat: the ticks of /proc/PID/stat are 10 ms. */
function processorNs(pid: number): bigint {
  const threads = readdirSync(`/proc/${String(pid)}/task`);
  return threads.reduce((sum, thread) => {
    const [onProcessor = ''] = readFileSync(`/proc/${String(pid)}/task/${thread}/schedstat`, 'utf8').split(' ');
    return sum + BigInt(onProcessor);
  }, 0n);
}

/** How often a thread has begun to run after it waited. */
function wakes(pid: number): number {
  return readdirSync(`/proc/${String(pid)}/task`).reduce((sum, thread) => {
    const status = readFileSync(`/proc/${String(pid)}/task/${thread}/status`, 'latin1');
    return sum + Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1]);
  }, 0);
}

export function residentMiB(pid: number): number {
  const [, kib = 'NaN'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}
