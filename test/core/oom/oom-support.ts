import type { OomDomain, OomReading, OomTask } from '../../../src/core/oom/oom-reading.js';
import { Gi, Mi } from '../support.js';

export const PAGE = 4096n;

/** A process of `mebibytes`, all of them resident, that the kernel may kill. */
export function task(pid: number, mebibytes: bigint, overrides: Partial<OomTask> = {}): OomTask {
  return {
    pid,
    name: `p${String(pid)}`,
    kernelThread: false,
    memory: { rssBytes: mebibytes * Mi, swapBytes: 0n, pageTableBytes: 0n },
    oomScoreAdj: 0,
    oomScore: 700,
    cgroup: undefined,
    group: undefined,
    ...overrides,
  };
}

/** On a machine of 8 GiB; 1 ‰ of it is 2097 pages. */
export function oomReading(tasks: readonly OomTask[], overrides: Partial<OomReading> & { readonly memcg?: OomDomain } = {}): OomReading {
  const { memcg, ...rest } = overrides;
  return {
    domain: memcg ?? { cgroup: undefined, totalBytes: 8n * Gi },
    machineBytes: 8n * Gi,
    pageSize: PAGE,
    tasks,
    initialPidNamespace: true,
    instead: undefined,
    cgroupVersion: 2,
    uncertainBytes: Mi,
    settings: { panic: 0, killAllocating: false, killDisabled: false },
    boundToNodes: 0,
    unreadable: 0,
    ...rest,
  };
}
