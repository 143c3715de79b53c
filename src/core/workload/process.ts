import type { Workload } from './workload.js';

/** A process of a workload, which a step of a policy may end alone. */
export interface WorkloadProcess {
  /** The cgroup of its workload. */
  readonly path: string;
  readonly pid: number;
  /** Clock ticks from boot to its start: a later process with its pid has another. */
  readonly startTicks: bigint;
  /** At most 15 bytes. A process chooses it itself. */
  readonly command: string;
  readonly residentBytes: bigint;
  /** The resident part that no other process or file holds: what its end frees. */
  readonly anonBytes: bigint;
  readonly swapBytes: bigint;
  readonly oomScore: number;
}

export type NamedProcess = Pick<WorkloadProcess, 'pid' | 'command'>;

/** 'web', 'firefox (4711) of app.slice/firefox.scope'. */
export function victimName({
  workload: { name },
  process: only,
}: {
  readonly workload: Pick<Workload, 'name'>;
  readonly process?: NamedProcess;
}): string {
  return only === undefined ? name : `${only.command} (${String(only.pid)}) of ${name}`;
}

/** Never reused. */
export function victimId({
  workload: { id },
  process: only,
}: {
  readonly workload: Pick<Workload, 'id'>;
  readonly process?: Pick<WorkloadProcess, 'pid' | 'startTicks'>;
}): string {
  return only === undefined ? id : `${id} ${String(only.pid)} ${String(only.startTicks)}`;
}
