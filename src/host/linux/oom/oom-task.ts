import type { OomMemory } from '../../../core/oom/oom-reading.js';

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
    name: name.replace(/\p{Cc}/gu, '?'), // untrusted text that goes to terminals
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

function fieldOf(status: string, key: string): string | undefined {
  const [, value] = new RegExp(`^${key}:[ \\t]*(.*)$`, 'm').exec(status) ?? [];
  return value;
}

function integer(text: string): number | undefined {
  return /^-?\d+\s*$/.test(text) ? Number(text) : undefined;
}
