import type { OomMemory, OomReading, OomTask } from './oom-reading.js';

// The order in which the kernel's OOM killer takes processes (mm/oom_kill.c: out_of_memory, select_bad_process, oom_evaluate_task, oom_badness; since
// Linux 5.9). Amounts are pages where the kernel's are, because its divisions round.

/**
 * Why a process is never taken. `passed-over`: the kernel gives it no points though it has memory: it was killed already and its memory is given
 * back, or it has borrowed its parent's between vfork and exec.
 */
export type OomExemption = 'kernel-thread' | 'ended' | 'init' | 'unkillable' | 'passed-over';

export interface OomCandidate {
  /** 1 is killed first. */
  readonly place: number;
  readonly task: OomTask;
  readonly memory: OomMemory;
  /** oom_badness as bytes: memory and oom_score_adj's part of the domain; negative where that outweighs the memory. */
  readonly pointsBytes: bigint;
}

export interface OomOrder {
  readonly candidates: readonly OomCandidate[];
  readonly exempt: readonly { readonly task: OomTask; readonly exemption: OomExemption }[];
}

/** The oom_score_adj that takes a process out of the kernel's reach (OOM_SCORE_ADJ_MIN). */
export const UNKILLABLE = -1000;
/** A score so much above 0 is not what rounding and counters per CPU make of a 0. */
const CLEAR_SCORE = 10n;

/** Pages of badness. The adjustment is in thousandths of `totalPages`, which is divided first, as the kernel does. */
export function badnessPages(memory: OomMemory, oomScoreAdj: number, totalPages: bigint, pageSize: bigint): bigint {
  const used = memory.rssBytes / pageSize + memory.swapBytes / pageSize + memory.pageTableBytes / pageSize;
  return used + BigInt(oomScoreAdj) * (totalPages / 1000n);
}

/** What /proc/PID/oom_score shows for it: 0 … 1333, and 666 for a process of no size (fs/proc/base.c, proc_oom_score). */
export function oomScoreOf(points: bigint, totalPages: bigint): bigint {
  return ((1000n + (points * 1000n) / totalPages) * 2n) / 3n;
}

/** Most points first. Of equals the one that the kernel looks at last: it replaces what it has chosen by whatever is not smaller. */
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

/** Who dies when a process is chosen: itself, or all of its group but the unkillable and process 1 (oom_kill_memcg_member). */
export function diesWith(chosen: OomCandidate, { candidates }: OomOrder): readonly OomCandidate[] {
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

/** At least one, as in the kernel (constrained_alloc). */
function pagesOf(bytes: bigint, { pageSize }: OomReading): bigint {
  const pages = bytes / pageSize;
  return pages > 0n ? pages : 1n;
}
