import type { Workload } from './workload.js';

/** A process of a workload, which a step of a policy may end alone. */
export interface WorkloadProcess {
  /** The cgroup of its workload. */
  readonly path: string;
  readonly pid: number;
  /** Clock ticks from boot to its start: a later process with its pid has another. */
  readonly startTicks: bigint;
  /** The command name, at most 15 bytes. A process chooses it itself. */
  readonly command: string;
  readonly residentBytes: bigint;
  /** The resident part that no other process or file holds: what its end frees. */
  readonly anonBytes: bigint;
  readonly swapBytes: bigint;
  readonly oomScore: number;
  /** The cgroup that the kernel kills with it: the highest one with memory.oom.group. Left out: it ends alone. */
  readonly group?: OomGroup;
}

/** A cgroup whose processes end together. */
export interface OomGroup {
  /** The path below the mount. */
  readonly path: string;
  /** Inode of its directory. */
  readonly id: bigint;
  /** Anonymous memory of its processes in the workload. */
  readonly anonBytes: bigint;
}

export type NamedProcess = Pick<WorkloadProcess, 'pid' | 'command'> & { readonly group?: { readonly path: string } };

export function namedProcess({ pid, command, group }: NamedProcess): NamedProcess {
  return { pid, command, ...(group && { group: { path: group.path } }) };
}

/** 'web', 'firefox (4711) of app.slice/firefox.scope', 'java (4711) and its cgroup /pods/web/main of web'. */
export function victimName({
  workload: { name },
  process: only,
}: {
  readonly workload: Pick<Workload, 'name'>;
  readonly process?: NamedProcess;
}): string {
  if (only === undefined) return name;
  const group = only.group === undefined ? '' : ` and its cgroup ${only.group.path}`;
  return `${only.command} (${String(only.pid)})${group} of ${name}`;
}

/** Never reused. */
export function victimId({
  workload: { id },
  process: only,
}: {
  readonly workload: Pick<Workload, 'id'>;
  readonly process?: Pick<WorkloadProcess, 'pid' | 'startTicks'> & { readonly group?: Pick<OomGroup, 'id'> };
}): string {
  if (only === undefined) return id;
  return only.group === undefined ? `${id} ${String(only.pid)} ${String(only.startTicks)}` : `${id} cgroup ${String(only.group.id)}`;
}
