import { jsonInteger } from '../../core/quantity/integer.js';
import { countedKillMessage, kernelKillMessage, type KernelKill, type OomLimit } from '../../core/oom/kernel-kill.js';
import type { CountedKills } from '../../core/oom/oom-kill-count.js';
import type { JournalRecord } from './record.js';

/**
 * The kernel's OOM killer has killed a process.
 *
 * @param workload  which lost the process; undefined: it was in none
 */
export function kernelOomRecord(
  kill: KernelKill,
  limit: OomLimit,
  workload: { readonly name: string; readonly path: string } | undefined,
): JournalRecord {
  const { limitedCgroup, cgroup, uid, anonBytes, constraint, pid, name, oomScoreAdj, sinceBootUs } = kill;
  return {
    type: 'kernel-oom',
    limit,
    constraint,
    ...(limitedCgroup === undefined ? {} : { limitedCgroup }),
    ...(cgroup === undefined ? {} : { cgroup }),
    ...(workload === undefined ? {} : { workload }),
    process: { pid, name, ...(uid === undefined ? {} : { uid }), anonBytes: jsonInteger(anonBytes), oomScoreAdj },
    sinceBootUs,
    message: kernelKillMessage(kill, workload?.name),
  };
}

/**
 * OOM kills that are only in the kernel's counters.
 *
 * @param node  undefined: the machine
 */
export function countedOomRecord(
  kills: CountedKills,
  limit: OomLimit,
  workload: { readonly name: string; readonly path: string } | undefined,
  node: string | undefined,
): JournalRecord {
  const { cgroup, count, limit: reached } = kills;
  return {
    type: 'kernel-oom',
    limit,
    count,
    ...(reached.kind === 'cgroup' ? { limitedCgroup: reached.path } : {}),
    ...(cgroup === undefined ? {} : { cgroup }),
    ...(workload === undefined ? {} : { workload }),
    message: countedKillMessage(kills, workload?.name, node),
  };
}
