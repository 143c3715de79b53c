import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { atMost, type Bench, type Benchmark, type Result } from './benchmark.js';
import { RunningEvictd } from './evictd.js';
import { plantTree, WORKLOADS } from './tree.js';

/** V8 frees the memory of the start once, after some 17 s, in about 50 ms: part of the start. */
const SETTLE_MS = 26_000;
const START_MS = 3_000;
const SCRAPES = 100;

/** Cost of an idle evictd: the machine as the node, a hundred workloads; compared with an idle Node and earlyoom. */
export const idle: Benchmark = {
  name: 'idle',
  what: 'processor time and memory of `evictd run` with nothing to do',
  run: async (bench: Bench): Promise<Result> => {
    const { node } = await plantTree(bench);
    const evictd = await RunningEvictd.start(bench, { workloads: [{ cgroup: node.path }] });
    const barePid = started(bench, process.execPath, '-e', 'setInterval(() => {}, 1e9)') ?? 0;
    const earlyoomPid = started(bench, 'earlyoom', '--dryrun', '-r', '0');
    const pids = [evictd.pid, barePid, ...(earlyoomPid === undefined ? [] : [earlyoomPid])];

    await pause(START_MS);
    const atStart = residentMiB(evictd.pid);
    await pause(SETTLE_MS - START_MS);
    const before = pids.map(processorNs);
    const from = process.hrtime.bigint();
    await pause(bench.idleSeconds * 1e3);
    const [usedNs = 0n, bareNs = 0n, earlyoomNs] = pids.map((pid, index) => processorNs(pid) - (before[index] ?? 0n));
    const wallNs = Number(process.hrtime.bigint() - from);
    const percent = (ns: bigint): number => (Number(ns) / wallNs) * 100;
    const later = residentMiB(evictd.pid);
    for (let scrape = 0; scrape < SCRAPES; scrape += 1) await evictd.scrape();
    const scraped = residentMiB(evictd.pid);
    const bareMiB = residentMiB(barePid);
    return {
      figures: [
        { what: 'evictd run', unit: '% of a core', measured: percent(usedNs), ...atMost(0.1) },
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

export function residentMiB(pid: number): number {
  const [, kib = 'NaN'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}
