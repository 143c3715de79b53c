import { existsSync, readdirSync } from 'node:fs';
import { cgroupDirectory, membership, pathBelowMount } from '../../../core/workload/cgroup.js';
import { fieldOf, textOf, walk, type OomRoots } from './oom-domain.js';
import type { OomMemory } from '../../../core/oom/oom-reading.js';
import { namesText } from '../../../byte-paths.js';

export interface SeenProcess {
  readonly pid: number;
  readonly parsed: ParsedTask;
  /** The path below the mount; undefined: unknown. */
  readonly cgroup: string | undefined;
}

/** Processes in the order in which the kernel compares them. */
export interface Processes {
  readonly seen: readonly SeenProcess[];
  /** Running, but not readable. */
  readonly unreadable: number;
}

/** Processes by age, the order of the kernel's list of processes: new ones are appended. */
export function processesOfMachine(roots: OomRoots): Processes {
  const pids = readdirSync(roots.proc).filter((name) => /^\d+$/.test(name));
  const { seen, unreadable } = look(
    pids.map((pid) => ({ pid: Number(pid) })),
    roots,
  );
  return { seen: byAge(seen).map((each) => ({ ...each, cgroup: memcgOf(each.pid, roots) })), unreadable };
}

/** The memcg of a process, below the mount; undefined: unknown. */
export function memcgOf(pid: number, { proc, hierarchy }: OomRoots): string | undefined {
  const text = hierarchy && textOf(`${proc}/${String(pid)}/cgroup`);
  const kernelPath = hierarchy && text !== undefined ? membership(text, hierarchy) : undefined;
  return hierarchy && kernelPath !== undefined ? pathBelowMount(kernelPath.replace(/ \(deleted\)$/, ''), hierarchy) : undefined;
}

/** Processes, cgroup by cgroup. On v2 cgroup.procs has the kernel's order; v1 sorts it by pid, so age stands for the order of joining. */
export function processesOfMemcg(domain: string, roots: OomRoots): Processes {
  const { hierarchy } = roots;
  if (!hierarchy) return { seen: [], unreadable: 0 };
  const all = walk(hierarchy, domain).map((cgroup) => {
    // A threaded cgroup answers EOPNOTSUPP; its domain lists the processes.
    const listed = textOf(`${cgroupDirectory(hierarchy, cgroup)}/cgroup.procs`)?.split('\n') ?? [];
    const pids = [...new Set(listed.filter((line) => line !== '').map(Number))];
    const { seen, unreadable } = look(
      pids.map((pid) => ({ pid, cgroup })),
      roots,
    );
    return { seen: hierarchy.version === 1 ? byAge(seen) : seen, unreadable };
  });
  return { seen: all.flatMap(({ seen }) => seen), unreadable: all.reduce((sum, { unreadable }) => sum + unreadable, 0) };
}

function byAge(seen: readonly SeenProcess[]): readonly SeenProcess[] {
  return [...seen].sort((a, b) => {
    const [left, right] = [a.parsed.startTicks, b.parsed.startTicks];
    return left === right ? a.pid - b.pid : left < right ? -1 : 1;
  });
}

function look(processes: readonly { readonly pid: number; readonly cgroup?: string }[], { proc }: OomRoots): Processes {
  const seen: SeenProcess[] = [];
  let unreadable = 0;
  for (const { pid, cgroup } of processes) {
    if (pid === process.pid) continue; // this process would not be there
    const directory = `${proc}/${String(pid)}`;
    const parsed = pid > 0 ? readTask(directory) : undefined; // 0 in cgroup.procs: outside this pid namespace
    if (parsed) seen.push({ pid, parsed, cgroup });
    else if (pid === 0 || existsSync(directory)) unreadable++;
  }
  return { seen, unreadable };
}

function readTask(directory: string): ParsedTask | undefined {
  try {
    const text = (file: string): string => namesText(`${directory}/${file}`);
    const task = parseTask({
      status: text('status'),
      stat: text('stat'),
      score: textOf(`${directory}/oom_score`),
      scoreAdj: text('oom_score_adj'),
    });
    if (!task || task.memory || task.kernelThread || task.threads <= 1) return task;
    return { ...task, memory: memoryOfThreads(directory) };
  } catch {
    return undefined; // it has ended, or may not be read
  }
}

/** A process's first thread may have ended before the others, which have its memory (find_lock_task_mm). */
function memoryOfThreads(directory: string): ParsedTask['memory'] {
  for (const thread of readdirSync(`${directory}/task`)) {
    const memory = parseMemory(textOf(`${directory}/task/${thread}/status`) ?? '');
    if (memory) return memory;
  }
  return undefined;
}

/** The contents of files in /proc/PID. */
export interface ProcessTexts {
  readonly status: string;
  readonly stat: string;
  /** oom_score and oom_score_adj; undefined: not readable. */
  readonly score: string | undefined;
  readonly scoreAdj: string;
}

export interface ParsedTask {
  readonly name: string;
  readonly kernelThread: boolean;
  readonly threads: number;
  readonly memory: OomMemory | undefined;
  readonly oomScoreAdj: number;
  readonly oomScore: number | undefined;
  /** Clock ticks from boot to its start. */
  readonly startTicks: bigint;
  /** The memory nodes that it may use ('0-1'). */
  readonly memoryNodes: string | undefined;
}

/** A flag in /proc/PID/stat (include/linux/sched.h): older kernels have no 'Kthread:' in status. */
const PF_KTHREAD = 0x0020_0000;
/** Fields of /proc/PID/stat behind the name: 9 are the flags, 22 is the start. */
const FLAGS = 9 - 3;
const START = 22 - 3;

/** undefined: not as the kernel writes them. */
export function parseTask({ status, stat, score, scoreAdj }: ProcessTexts): ParsedTask | undefined {
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .trimEnd()
    .split(' ');
  const flags = Number(fields[FLAGS]);
  const startTicks = fields[START];
  const name = fieldOf(status, 'Name');
  const oomScoreAdj = integer(scoreAdj);
  if (name === undefined || !Number.isInteger(flags) || !/^\d+$/.test(startTicks ?? '') || oomScoreAdj === undefined) return undefined;
  return {
    name,
    kernelThread: Math.floor(flags / PF_KTHREAD) % 2 === 1,
    threads: Number(fieldOf(status, 'Threads') ?? 1),
    memory: parseMemory(status),
    oomScoreAdj,
    oomScore: score === undefined ? undefined : integer(score),
    startTicks: BigInt(startTicks ?? 0),
    memoryNodes: fieldOf(status, 'Mems_allowed_list'),
  };
}

/** Only a process with memory has these lines; kB are KiB. */
export function parseMemory(status: string): OomMemory | undefined {
  const [rss, swap, tables] = ['VmRSS', 'VmSwap', 'VmPTE'].map((key) => {
    const [, kib] = /^(\d+) kB$/.exec(fieldOf(status, key) ?? '') ?? [];
    return kib === undefined ? undefined : BigInt(kib) * 1024n;
  });
  if (rss === undefined || tables === undefined) return undefined;
  return { rssBytes: rss, swapBytes: swap ?? 0n, pageTableBytes: tables }; // without CONFIG_SWAP there is no VmSwap
}

function integer(text: string): number | undefined {
  return /^-?\d+\s*$/.test(text) ? Number(text) : undefined;
}
