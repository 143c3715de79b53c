import { cgroupDirectory, isBelow, membership, pathBelowMount, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import type { Workload } from '../../core/workload/workload.js';
import { attempt, errnoName, HostError, messageOf } from '../../errors.js';
import type { Evictor, KillInProgress } from '../../monitor/ports/ports.js';
import type { Binding, MemoryReaper } from '../../native/binding.js';
import { VictimKill } from './victim-kill.js';
import { openOwnCgroups, openSharedCgroup, procCgroup } from './shared-cgroup.js';
import { VictimExit } from './victim-exit.js';
import { VictimFiles } from './victim-files.js';

/**
 * The hierarchies of the victims: memory and, if that is v1, others that can kill or freeze. undefined: not mounted.
 */
export interface VictimHierarchies {
  readonly memory: CgroupHierarchy | undefined;
  readonly unified: CgroupHierarchy | undefined;
  readonly freezer: CgroupHierarchy | undefined;
}

/** Evicts cgroups by ending every process in them. */
export function openCgroupEvictor(native: Binding, hierarchies: VictimHierarchies, reaper = new native.MemoryReaper()): Evictor {
  return {
    begin: (workload, _unit, _graceNs, isKilled) => {
      if (workload.protection) {
        throw new HostError('EVICTD_KILL_PROTECTED', `${workload.name} is protected (${workload.protection.kind}) and must not be evicted`);
      }
      if (hierarchies.memory === undefined) throw noWorkload(workload, new Error('this machine has no cgroup memory controller'));
      try {
        return begin(native, reaper, { ...hierarchies, memory: hierarchies.memory }, workload);
      } catch (error) {
        if (isKilled === true && error instanceof HostError && ENDED.has(error.errno ?? '')) return ENDED_KILL;
        throw error;
      }
    },
  };
}

/** errno of a cgroup that was removed, or replaced by another one of the same name. */
export const ENDED: ReadonlySet<string> = new Set(['ENOENT', 'ENODEV', 'ESTALE']);

/** The kill of a cgroup that is not there any more. */
const ENDED_KILL: KillInProgress = {
  terminate: () => ({ atNs: process.hrtime.bigint(), processes: 0, error: undefined }),
  kill: () => ({ atNs: process.hrtime.bigint(), processes: 0, error: undefined }),
  read: () => ({ processes: 0, usageBytes: undefined, removed: true }),
  onExit: () => undefined,
  close: () => undefined,
};

function begin(
  native: Binding,
  reaper: MemoryReaper,
  hierarchies: VictimHierarchies & { readonly memory: CgroupHierarchy },
  workload: Workload,
): KillInProgress {
  const { memory: hierarchy } = hierarchies;
  const { path } = workload;
  const directory = cgroupDirectory(hierarchy, path);
  let files: VictimFiles | undefined;
  try {
    // Files first: the handle compares the inode and so notices if the name belongs to a new cgroup by now.
    files = new VictimFiles(directory, hierarchy.version);
    const handle = new native.CgroupHandle(directory, workload.startOrder);
    const victim = { handle, hierarchy, path };
    return new VictimKill({
      handle,
      files,
      exit: new VictimExit(native, directory),
      reaper,
      holdsEvictd: () => holdsSelf(path, hierarchy),
      openShared: (name) => {
        const other = hierarchies[name];
        return other && openSharedCgroup(native, victim, other)?.handle;
      },
      openFreezers: () => (hierarchies.freezer === undefined ? [] : openOwnCgroups(native, victim, hierarchies.freezer)),
    });
  } catch (cause) {
    files?.close();
    throw noWorkload(workload, cause);
  }
}

/** Whether evictd is in the cgroup at `path` or below. undefined: a namespace or the mount hides its own cgroup, or it cannot be read. */
function holdsSelf(path: string, hierarchy: CgroupHierarchy): boolean | undefined {
  const own = pathOfSelf(hierarchy);
  return own === undefined ? undefined : own === path || isBelow(own, path);
}

/** The cgroup of evictd below the mount. undefined: as above. */
export function pathOfSelf(hierarchy: CgroupHierarchy): string | undefined {
  const own = membership(attempt(() => procCgroup('self')) ?? '', hierarchy);
  return own === undefined ? undefined : pathBelowMount(own, hierarchy);
}

function noWorkload(workload: Workload, cause: unknown): HostError {
  const errno = errnoName(cause);
  const why = errno === 'ESTALE' ? 'another cgroup has its name now' : messageOf(cause);
  return new HostError('EVICTD_KILL_GONE', `${workload.name} (${workload.path}) cannot be evicted: ${why}`, {
    ...(errno === undefined ? {} : { errno }),
    path: workload.path,
    cause,
  });
}
