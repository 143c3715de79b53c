import { existsSync, readlinkSync } from 'node:fs';
import { cpus } from 'node:os';
import { cgroupDirectory, normalCgroupPath, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { OomDomain, OomReading, OomSettings, OomTask } from '../../../core/oom/oom-reading.js';
import { UnavailableError } from '../../../errors.js';
import { readHierarchies } from '../cgroup/hierarchies.js';
import { domainOf, groupFinder, limitIn, machineMemory, textOf, type OomRoots } from './oom-domain.js';
import { processesOfMachine, processesOfMemcg } from './oom-processes.js';
import { readPageSize } from '../memory/memory-reserve.js';
import { fsPath } from '../../../byte-paths.js';

/** PROC_PID_INIT_INO, the same on every kernel (include/linux/proc_ns.h). */
const INITIAL_PID_NAMESPACE = 'pid:[4026531836]';
/** Resident size has three counters, swap one; each CPU holds back up to this many pages (lib/percpu_counter.c). */
const COUNTERS = 4;
const MIN_BATCH = 32;

/**
 * Reads what the OOM killer would compare now.
 *
 * @param cgroup an OOM in this memcg; undefined: of the machine
 * @throws UnavailableError where it does not exist
 */
export function readOomKiller(cgroup: string | undefined, given?: OomRoots): OomReading {
  const roots = given ?? { proc: '/proc', hierarchy: readHierarchies().memory };
  const path = cgroup === undefined ? undefined : existing(normalCgroupPath(cgroup), roots.hierarchy);
  const machineBytes = machineMemory(roots).totalBytes;
  const domain = path === undefined ? { cgroup: undefined, totalBytes: machineBytes } : domainOf(path, roots);
  const { seen, unreadable } = domain.cgroup === undefined ? processesOfMachine(roots) : processesOfMemcg(domain.cgroup, roots);
  const groupOf = groupFinder(domain.cgroup, roots);
  const tasks = seen.map(({ pid, parsed, cgroup: lives }): OomTask => {
    const { name, kernelThread, memory, oomScoreAdj, oomScore } = parsed;
    return {
      pid,
      name,
      kernelThread,
      memory,
      oomScoreAdj,
      oomScore,
      cgroup: lives,
      group: lives === undefined ? undefined : groupOf(lives),
    };
  });
  const pageSize = readPageSize();
  const allNodes = textOf(`${roots.proc}/1/status`)?.match(/^Mems_allowed_list:\s*(.*)$/m)?.[1];
  const cpuCount = BigInt(Math.max(cpus().length, 1));
  return {
    domain,
    instead: path !== undefined && path !== domain.cgroup ? path : undefined,
    machineBytes,
    pageSize,
    tasks,
    initialPidNamespace: readlinkSync('/proc/self/ns/pid') === INITIAL_PID_NAMESPACE,
    cgroupVersion: roots.hierarchy?.version,
    uncertainBytes: BigInt(COUNTERS) * cpuCount * BigInt(Math.max(MIN_BATCH, 2 * Number(cpuCount))) * pageSize,
    settings: settingsOf(domain, roots),
    boundToNodes: allNodes === undefined ? 0 : seen.filter(({ parsed }) => parsed.memory && parsed.memoryNodes !== allNodes).length,
    unreadable,
  };
}

function existing(path: string, hierarchy: CgroupHierarchy | undefined): string {
  if (hierarchy === undefined) {
    throw new UnavailableError('EVICTD_OOM_MEMCG', `memcg ${path}: this machine has no cgroup memory controller`, {
      hint: 'mount the cgroup filesystem, and boot without cgroup_disable=memory',
    });
  }
  const directory = cgroupDirectory(hierarchy, path);
  if (existsSync(fsPath(directory))) return path;
  throw new UnavailableError('EVICTD_OOM_MEMCG', `memcg ${path} does not exist (looked for ${directory})`, {
    hint: 'write the path below the mount of the memory controller, as in /proc/PID/cgroup',
  });
}

function settingsOf({ cgroup }: OomDomain, { proc, hierarchy }: OomRoots): OomSettings {
  const control =
    cgroup !== undefined && hierarchy?.version === 1 ? textOf(`${cgroupDirectory(hierarchy, cgroup)}/memory.oom_control`) : undefined;
  return {
    panic: Number(limitIn(`${proc}/sys/vm/panic_on_oom`) ?? 0n),
    killAllocating: cgroup === undefined && (limitIn(`${proc}/sys/vm/oom_kill_allocating_task`) ?? 0n) !== 0n,
    killDisabled: /^oom_kill_disable 1$/m.test(control ?? ''),
  };
}
