import { cgroupDirectory, type CgroupHierarchy } from '../core/cgroup.js';
import type { Workload } from '../core/workload.js';
import { errnoName, HostError } from '../errors.js';
import type { Evictor, KillInProgress } from '../monitor/ports.js';
import type { Binding } from '../native/binding.js';
import { CgroupKill } from './cgroup-kill.js';
import { VictimExit } from './victim-exit.js';
import { VictimFiles } from './victim-files.js';

/** Evicts workloads that are cgroups, by ending every process in them. */
export function openCgroupEvictor(native: Binding, node: { readonly hierarchy: CgroupHierarchy | undefined }): Evictor {
  const { hierarchy } = node;
  return {
    begin: (workload) => {
      if (workload.protection) {
        throw new HostError('EVICTD_KILL_PROTECTED', `${workload.name} is protected (${workload.protection.kind}) and must not be evicted`);
      }
      if (hierarchy === undefined) throw gone(workload, new Error('this machine has no cgroup memory controller'));
      return begin(native, hierarchy, workload);
    },
  };
}

function begin(native: Binding, hierarchy: CgroupHierarchy, workload: Workload): KillInProgress {
  const directory = cgroupDirectory(hierarchy, workload.path);
  let files: VictimFiles | undefined;
  try {
    // The files first: the handle compares the inode, so if the name had been given to another cgroup before they were opened, it says so.
    files = new VictimFiles(directory, hierarchy.version);
    return new CgroupKill(new native.CgroupHandle(directory, workload.startOrder), files, new VictimExit(native, directory));
  } catch (cause) {
    files?.close();
    throw gone(workload, cause);
  }
}

function gone(workload: Workload, cause: unknown): HostError {
  const errno = errnoName(cause);
  const why = errno === 'ESTALE' ? 'another cgroup has its name now' : cause instanceof Error ? cause.message : String(cause);
  return new HostError('EVICTD_KILL_GONE', `${workload.name} (${workload.path}) cannot be evicted: ${why}`, {
    ...(errno === undefined ? {} : { errno }),
    path: workload.path,
    cause,
  });
}
