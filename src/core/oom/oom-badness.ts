import type { OomMemory, OomReading, OomTask } from './oom-reading.js';

// The order in which the kernel's OOM killer selects processes (mm/oom_kill.c: out_of_memory, select_bad_process,
// oom_evaluate_task, oom_badness; since Linux 5.9). Amounts are pages where the kernel's are, because its divisions
// round.

/**
 * Why the kernel never selects a process. `passed-over`: it has memory but no points, because it is already being
 * killed, or borrows its parent's memory between vfork and exec.
 */
export type OomExemption = 'kernel-thread' | 'ended' | 'init' | 'unkillable' | 'passed-over';

export interface OomCandidate {
  /** 1 is killed first. */
  readonly place: number;
  readonly task: OomTask;
  readonly memory: OomMemory;
  /** oom_badness in bytes: memory plus oom_score_adj's part of the domain. May be negative. */
  readonly pointsBytes: bigint;
}

export interface OomOrder {
  readonly candidates: readonly OomCandidate[];
  readonly exempt: readonly { readonly task: OomTask; readonly exemption: OomExemption }[];
}

/** OOM_SCORE_ADJ_MIN: the kernel never selects such a process. */
export const UNKILLABLE = -1000;
/** A score this far above 0 is not the effect of rounding or of counters per CPU. */
const CLEAR_SCORE = 10n;

/** The badness in pages. The adjustment is in thousandths of `totalPages`; the kernel divides first. */
export function badnessPages(memory: OomMemory, oomScoreAdj: number, totalPages: bigint, pageSize: bigint): bigint {
  const used = memory.rssBytes / pageSize + memory.swapBytes / pageSize + memory.pageTableBytes / pageSize;
  return used + BigInt(oomScoreAdj) * (totalPages / 1000n);
}

/** /proc/PID/oom_score: 0 … 1333; 666 for a process without memory (fs/proc/base.c, proc_oom_score). */
export function oomScoreOf(points: bigint, totalPages: bigint): bigint {
  return ((1000n + (points * 1000n) / totalPages) * 2n) / 3n;
}

/**
 * Most points first. Of equals the last one that the kernel looks at: it replaces its choice by any process that is not
 * smaller.
 */
export function oomOrder(reading: OomReading): OomOrder {
  const totalPages = pagesOf(reading.domain.totalBytes, reading);
  const exempt: { readonly task: OomTask; readonly exemption: OomExemption }[] = [];
  const found: (Omit<OomCandidate, 'place'> & { readonly seen: number })[] = [];
  for (const [seen, task] of reading.tasks.entries()) {
    const { memory } = task;
    const exemption = exemptionOf(task, reading);
    if (exemption !== undefined) exempt.push({ task, exemption });
    else if (memory) {
      const pointsBytes = badnessPages(memory, task.oomScoreAdj, totalPages, reading.pageSize) * reading.pageSize;
      found.push({ task, memory, pointsBytes, seen });
    }
  }
  found.sort((a, b) => (a.pointsBytes === b.pointsBytes ? b.seen - a.seen : a.pointsBytes > b.pointsBytes ? -1 : 1));
  return { candidates: found.map(({ task, memory, pointsBytes }, index) => ({ place: index + 1, task, memory, pointsBytes })), exempt };
}

/** The selected process, or its whole group except unkillable processes and process 1 (oom_kill_memcg_member). */
export function killedTogether(chosen: OomCandidate, { candidates }: OomOrder): readonly OomCandidate[] {
  const { group } = chosen.task;
  return group === undefined ? [chosen] : candidates.filter(({ task }) => task.group === group);
}

function exemptionOf(task: OomTask, reading: OomReading): OomExemption | undefined {
  if (task.kernelThread) return 'kernel-thread';
  if (task.pid === 1 && reading.initialPidNamespace) return 'init';
  if (task.memory === undefined) return 'ended';
  if (task.oomScoreAdj === UNKILLABLE) return 'unkillable';
  if (task.oomScore !== 0) return undefined;
  const machinePages = pagesOf(reading.machineBytes, reading);
  const points = badnessPages(task.memory, task.oomScoreAdj, machinePages, reading.pageSize);
  return oomScoreOf(points, machinePages) >= CLEAR_SCORE ? 'passed-over' : undefined;
}

/** The number of pages, at least one, as in the kernel (constrained_alloc). */
function pagesOf(bytes: bigint, { pageSize }: OomReading): bigint {
  const pages = bytes / pageSize;
  return pages > 0n ? pages : 1n;
}
