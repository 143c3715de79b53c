import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { atMost, type Bench, type Benchmark, type Result } from './benchmark.js';
import { RunningEvictd } from './evictd.js';
import { plantTree, WORKLOADS } from './tree.js';

/** V8 frees the memory of the start once, after some 8 s, in about 30 ms: part of the start. */
const SETTLE_MS = 15_000;
const START_MS = 3_000;
const SCRAPES = 100;

/** Cost of an idle evictd: the machine as the node, a hundred workloads; compared with an idle Node process. */
export const idle: Benchmark = {
  name: 'idle',
  what: 'processor time and memory of `evictd run` with nothing to do',
  run: async (bench: Bench): Promise<Result> => {
    const { node } = await plantTree(bench);
    const evictd = await RunningEvictd.start(bench, { workloads: [{ cgroup: node.path }] });
    const bare = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)'], { stdio: 'ignore' });
    const ended = once(bare, 'exit');
    bench.cleanup(() => {
      bare.kill('SIGKILL');
      return ended;
    });
    const barePid = bare.pid ?? 0;

    await pause(START_MS);
    const atStart = residentMiB(evictd.pid);
    await pause(SETTLE_MS - START_MS);
    const before = [evictd.pid, barePid].map(processorNs);
    const from = process.hrtime.bigint();
    await pause(bench.idleSeconds * 1e3);
    const [usedNs = 0n, bareNs = 0n] = [evictd.pid, barePid].map((pid, index) => processorNs(pid) - (before[index] ?? 0n));
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
        { what: 'resident after the start', unit: 'MiB', measured: atStart, ...atMost(60) },
        { what: `resident after ${String(bench.idleSeconds)} s`, unit: 'MiB', measured: later, ...atMost(60) },
        { what: `resident after ${String(SCRAPES)} scrapes`, unit: 'MiB', measured: scraped, ...atMost(60) },
        { what: 'resident, a bare node', unit: 'MiB', measured: bareMiB },
        { what: 'resident, evictd / bare node', unit: '×', measured: scraped / bareMiB },
      ],
      notes: [
        `over ${String(bench.idleSeconds)} s, all threads, by the scheduler's own count in ns; the machine as the node, ${String(WORKLOADS)} workloads, metrics on`,
      ],
    };
  },
};

/** Processor time of all threads by /proc/PID/task/TID/schedstat: the ticks of /proc/PID/stat are 10 ms. */
function processorNs(pid: number): bigint {
  const threads = readdirSync(`/proc/${String(pid)}/task`);
  return threads.reduce((sum, thread) => {
    const [onProcessor = ''] = readFileSync(`/proc/${String(pid)}/task/${thread}/schedstat`, 'utf8').split(' ');
    return sum + BigInt(onProcessor);
  }, 0n);
}

function residentMiB(pid: number): number {
  const [, kib = 'NaN'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}
