import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { cgroupDirectory, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { UNKILLABLE } from '../../core/oom/oom-badness.js';
import { victimName, type WorkloadProcess } from '../../core/workload/process.js';
import type { Workload } from '../../core/workload/workload.js';
import { attempt, errnoName, HostError, messageOf } from '../../errors.js';
import type { Evictor, KillInProgress, SignalResult, VictimSample } from '../../monitor/ports/ports.js';
import type { Binding, Pidfd, Watch } from '../../native/binding.js';
import { processNow, processorUse } from './dying-processes.js';
import { belongs } from './shared-cgroup.js';
import { VictimFiles } from './victim-files.js';

/**
 * Ends one process of a workload, or a cgroup in it that ends as a whole, where the decision says so.
 *
 * @param cgroups  ends such a cgroup
 * @param others  ends everything else
 */
export function openProcessEvictor(
  native: Binding,
  hierarchy: CgroupHierarchy | undefined,
  { cgroups, others }: { readonly cgroups: Evictor; readonly others: Evictor },
): Evictor {
  return {
    begin: (workload, unit, graceNs, isKilled, victim, cause) => {
      if (victim === undefined || hierarchy === undefined) return others.begin(workload, unit, graceNs, isKilled, undefined, cause);
      if (victim.group !== undefined) {
        const { path, id } = victim.group;
        const inside = { ...workload, name: victimName({ workload, process: victim }), path, startOrder: id };
        return measuredBy(cgroupDirectory(hierarchy, workload.path), hierarchy, cgroups.begin(inside, undefined, graceNs, isKilled));
      }
      const name = victimName({ workload, process: victim });
      if (workload.protection) {
        throw new HostError('EVICTD_KILL_PROTECTED', `${name} is protected (${workload.protection.kind}) and must not be evicted`);
      }
      const { path } = workload;
      let [files, pidfd]: [VictimFiles | undefined, Pidfd | undefined] = [undefined, undefined];
      try {
        files = new VictimFiles(cgroupDirectory(hierarchy, path), hierarchy.version);
        pidfd = new native.Pidfd(victim.pid);
        // From here on the pid belongs to the held process or to no process, so what is read of it now is never of another process.
        const why = objectionTo(victim, workload, hierarchy);
        if (why === undefined) return new ProcessKill(native, victim, pidfd, files);
        throw new HostError('EVICTD_KILL_GONE', `${name} cannot be ended: ${why}`, { errno: 'ESRCH', path });
      } catch (cause) {
        files?.close();
        pidfd?.close();
        if (cause instanceof HostError) throw cause;
        const errno = errnoName(cause);
        throw new HostError('EVICTD_KILL_GONE', `${name} cannot be ended: ${messageOf(cause)}`, { ...(errno && { errno }), path, cause });
      }
    },
  };
}

/** What the end of a part frees is read of the workload, which goes on. */
function measuredBy(directory: string, { version }: CgroupHierarchy, part: KillInProgress): KillInProgress {
  const files = attempt(() => new VictimFiles(directory, version)); // removed: so is the part
  return {
    terminate: () => part.terminate(),
    kill: () => part.kill(),
    read: () => {
      const { usageBytes: _, swapBytes: __, ...sample } = part.read();
      const usage = files?.usage();
      if (files === undefined || usage === undefined || usage === 'removed') return { ...sample, usageBytes: undefined };
      return { ...sample, removed: false, usageBytes: usage, swapBytes: files.swap(usage) };
    },
    onExit: (callback) => {
      part.onExit(callback);
    },
    close: () => {
      part.close();
      files?.close();
    },
  };
}

/** Why the process with this pid is not the one that was chosen, or must not be ended any more. */
function objectionTo({ pid, startTicks }: WorkloadProcess, { path }: Workload, hierarchy: CgroupHierarchy): string | undefined {
  const now = processNow(pid);
  if (now === undefined || now.hasExited) return 'it has ended';
  if (now.startTicks !== startTicks) return 'another process has its pid now';
  if (pid === 1 || pid === process.pid) return 'it must not be ended';
  if (oomScoreAdjOf(pid) === UNKILLABLE) return 'its oom_score_adj is -1000 now';
  return belongs(pid, { hierarchy, path }) ? undefined : 'it has left its workload';
}

function oomScoreAdjOf(pid: number): number | undefined {
  return attempt(() => Number(readFileSync(`/proc/${String(pid)}/oom_score_adj`, 'latin1')));
}

/** Ends one process, held by a pidfd. What is freed is read of its workload, which goes on. */
class ProcessKill implements KillInProgress {
  #exit: Watch | undefined;

  constructor(
    private readonly native: Binding,
    private readonly victim: WorkloadProcess,
    private readonly pidfd: Pidfd,
    private readonly files: VictimFiles,
  ) {}

  /** SIGCONT as well: a stopped process could not handle SIGTERM. */
  terminate(): SignalResult {
    const terminated = this.#signal('SIGTERM');
    this.#signal('SIGCONT');
    return terminated;
  }

  kill(): SignalResult {
    return this.#signal('SIGKILL');
  }

  read(): VictimSample {
    const { pid, startTicks } = this.victim;
    const now = processNow(pid);
    const isLeft = now?.startTicks === startTicks && !now.hasExited;
    const usage = this.files.usage();
    const removed = usage === 'removed' && !isLeft;
    const sample = { processes: isLeft ? 1 : 0, removed };
    if (usage === undefined || usage === 'removed') return { ...sample, usageBytes: undefined };
    return { ...sample, usageBytes: usage, swapBytes: this.files.swap(usage), ...(isLeft && processorUse([pid])) };
  }

  onExit(callback: (atNs: bigint) => void): void {
    this.#exit?.close();
    try {
      this.#exit = new this.native.ProcessExit([this.victim.pid], (wake, atNs) => {
        if ((wake & this.native.WAKE.GONE) !== 0) callback(atNs);
      });
    } catch {
      this.#exit = undefined; // out of descriptors: the loop reads the victim without it
    }
  }

  close(): void {
    this.#exit?.close();
    this.files.close();
    this.pidfd.close();
  }

  #signal(name: 'SIGTERM' | 'SIGCONT' | 'SIGKILL'): SignalResult {
    try {
      this.pidfd.signal(constants.signals[name]);
      return { atNs: process.hrtime.bigint(), processes: 1, error: undefined };
    } catch (error) {
      const errno = errnoName(error);
      const atNs = process.hrtime.bigint();
      if (errno === 'ESRCH') return { atNs, processes: 0, error: undefined };
      return { atNs, processes: 1, error: `${name}: ${errno ?? String(error)}` };
    }
  }
}
