import { existsSync } from 'node:fs';
import type { FileSpec } from '../../src/native/index.js';
import { memoryController, testCgroup, type TestCgroup } from '../support/cgroup.js';
import type { Bench } from './benchmark.js';

export const WORKLOADS = 100;
const LIMIT_BYTES = 1n << 30n;

/** A cgroup as the node with child cgroups as workloads, each with a live process. */
export interface Tree {
  readonly node: TestCgroup;
  readonly workloads: readonly TestCgroup[];
  /** Puts a live process into a workload. */
  readonly fill: (workload: TestCgroup) => Promise<void>;
}

/** Removed after the benchmark. Throws without a memory controller. */
export async function plantTree(bench: Bench, size = WORKLOADS): Promise<Tree> {
  const node = testCgroup();
  bench.cleanup(() => node.cleanup());
  node.limit(LIMIT_BYTES);
  const workloads = Array.from({ length: size }, (_, index) => node.child(`w${String(index).padStart(3, '0')}`));
  const fill = async (workload: TestCgroup): Promise<void> => {
    await workload.spawn('sleep', ['3600']);
  };
  for (const workload of workloads) await fill(workload);
  return { node, workloads, fill };
}

/** The files that a pass over the workloads reads. */
export function filesOfWorkload(): { readonly usage: string; readonly stat: string; readonly statKey: string } {
  return memoryController()?.version === 1
    ? { usage: 'memory.usage_in_bytes', stat: 'memory.stat', statKey: 'total_inactive_file' }
    : { usage: 'memory.current', stat: 'memory.stat', statKey: 'inactive_file' };
}

/** All memory files of a workload; usage first, so that mask 1 reads only that. */
export function allFilesOfWorkload(): readonly FileSpec[] {
  const number = (path: string): FileSpec => ({ path, format: 'number' });
  return memoryController()?.version === 1
    ? [
        number('memory.usage_in_bytes'),
        { path: 'memory.stat', format: 'keyed', keys: ['total_inactive_file', 'total_rss', 'total_cache', 'total_shmem'] },
        { path: 'memory.oom_control', format: 'keyed', keys: ['oom_kill'] },
        number('memory.limit_in_bytes'),
        { path: 'pids.current', format: 'number', directory: 1 },
        { path: 'cgroup.procs', format: 'occupied' },
      ]
    : [
        number('memory.current'),
        { path: 'memory.stat', format: 'keyed', keys: ['inactive_file', 'anon', 'file', 'shmem'] },
        ...['memory.swap.current', 'pids.current', 'memory.low', 'memory.min', 'memory.high', 'memory.max'].map(number),
        { path: 'cgroup.events', format: 'keyed', keys: ['populated'] },
        { path: 'memory.events', format: 'keyed', keys: ['oom_kill'] },
      ];
}

/** usage − inactive_file is what evictd compares: how much usage a working set of `bytes` is now. */
export function usageAtWorkingSet(cgroup: TestCgroup, bytes: bigint): bigint {
  const { stat, statKey } = filesOfWorkload();
  const [, inactive = '0'] = new RegExp(`^${statKey} (\\d+)$`, 'm').exec(cgroup.read(stat)) ?? [];
  return bytes + BigInt(inactive);
}

export function usageOf(cgroup: TestCgroup): bigint {
  return BigInt(cgroup.read(filesOfWorkload().usage).trim());
}

/** A directory on tmpfs if there is one, to exclude the disk from measurements. */
export const SCRATCH = existsSync('/dev/shm') ? '/dev/shm' : '/tmp';
