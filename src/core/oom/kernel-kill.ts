import { amountOfBytes, counted } from '../quantity/amount.js';
import { isBelow } from '../workload/cgroup.js';
import type { CountedKills } from './oom-kill-count.js';

/** A kill by the kernel's OOM killer, from the kernel log. Paths are below the mount of the memory controller. */
export interface KernelKill {
  /** 'global': the machine was out of memory. 'memcg': a cgroup was at its limit. */
  readonly constraint: 'global' | 'memcg';
  /** undefined: global, or not known. */
  readonly limitedCgroup: string | undefined;
  /** The cgroup of the process; undefined: not known. */
  readonly cgroup: string | undefined;
  readonly pid: number;
  readonly name: string;
  readonly uid: number | undefined;
  readonly anonBytes: bigint;
  readonly oomScoreAdj: number;
  readonly sinceBootUs: number;
}

/**
 * Which memory ran out. 'node': what evictd guards, so evictd was too late or could not help. 'workload': a limit of
 * the workload itself, which the kernel enforces. 'other': a limit that evictd does not guard. 'unknown': the kernel
 * log does not say.
 */
export const OOM_LIMITS = ['node', 'workload', 'other', 'unknown'] as const;
export type OomLimit = (typeof OOM_LIMITS)[number];

export interface GuardedMemory {
  /** undefined: the machine. */
  readonly node: string | undefined;
  readonly allocatable: string | undefined;
}

/** @param workload  path; undefined: the process is in no workload */
export function oomLimitOf(
  { constraint, limitedCgroup }: Pick<KernelKill, 'constraint' | 'limitedCgroup'>,
  { node, allocatable }: GuardedMemory,
  workload: string | undefined,
): OomLimit {
  if (constraint === 'global') return node === undefined ? 'node' : 'other';
  if (limitedCgroup === undefined) return 'unknown';
  if (limitedCgroup === node || limitedCgroup === allocatable) return 'node';
  const own = workload !== undefined && (limitedCgroup === workload || isBelow(limitedCgroup, workload));
  return own ? 'workload' : 'other';
}

/** undefined: the machine, which every kill concerns. */
export function concernsNode({ cgroup }: KernelKill, node: string | undefined): boolean {
  if (node === undefined) return true;
  return cgroup !== undefined && (cgroup === node || isBelow(cgroup, node));
}

/** "the kernel's OOM killer killed tail (pid 2546, 22.5MiB) of workload batch: /node was at its limit". */
export function kernelKillMessage(kill: KernelKill, workload: string | undefined): string {
  const { constraint, limitedCgroup, cgroup, pid, name, anonBytes } = kill;
  const of = workload === undefined ? (cgroup === undefined ? '' : ` of ${cgroup}`) : ` of workload ${workload}`;
  const why = constraint === 'global' ? 'the machine was out of memory' : `${limitedCgroup ?? 'its cgroup'} was at its limit`;
  return `the kernel's OOM killer killed ${name} (pid ${String(pid)}, ${amountOfBytes(anonBytes)})${of}: ${why}`;
}

/**
 * "the kernel's OOM killer killed 3 processes of workload batch: its counters say so, the kernel log does not name
 * them". @param node  undefined: the machine
 */
export function countedKillMessage({ cgroup, count }: CountedKills, workload: string | undefined, node: string | undefined): string {
  const where = workload === undefined ? `below ${cgroup ?? node ?? 'the node'}` : `of workload ${workload}`;
  return `the kernel's OOM killer killed ${counted(BigInt(count), 'processes')} ${where}: its counters say so, the kernel log does not name ${count === 1 ? 'it' : 'them'}`;
}
