import { targetOf, type WindowsTarget } from '../../core/windows/windows-target.js';
import type { Workload } from '../../core/workload/workload.js';
import { errnoName, HostError } from '../../errors.js';
import type { Evictor, KillInProgress } from '../../monitor/ports/ports.js';
import { thrownText } from '../../native/system-error.js';
import type { WindowsBinding } from '../../native/windows-binding.js';
import type { ProtectedProcesses } from './protected-process.js';
import { JobKill } from './job-kill.js';
import { TreeKill } from './process-tree-kill.js';
import { ServiceKill } from './service-kill.js';

type Native = Pick<WindowsBinding, 'processes' | 'ProcessHandle' | 'Job' | 'services' | 'stopService'>;

/**
 * Evicts jobs, services and process trees.
 *
 * @param isCritical  by the rules in force: a workload may have started such a process after it was chosen
 */
export function openWindowsEvictor(native: Native, isCritical: ProtectedProcesses['isCritical'], ownPid: number = process.pid): Evictor {
  const spared: ProtectedProcesses = { pid: ownPid, isCritical };
  return {
    begin: (workload) => {
      if (workload.protection) {
        throw new HostError('EVICTD_KILL_PROTECTED', `${workload.name} is protected (${workload.protection.kind}) and must not be evicted`);
      }
      const target = targetOf(workload.id);
      if (target === undefined) throw noWorkload(workload, 'it is not a workload of Windows');
      return begin(native, workload, target, spared);
    },
  };
}

function begin(native: Native, workload: Workload, target: WindowsTarget, spared: ProtectedProcesses): KillInProgress {
  if (target.kind === 'job') return new JobKill(native, openJob(native, workload, target.name), spared);
  const { pid, createdAt } = target;
  const root = native.processes().find((entry) => entry.pid === pid && entry.createdAt === createdAt);
  if (root === undefined) throw noWorkload(workload, 'its process has ended');
  const tree = TreeKill.of(native, root, spared);
  if (tree === undefined) throw noWorkload(workload, 'its process has just ended');
  return target.kind === 'tree' ? tree : new ServiceKill(native, target, tree);
}

function openJob(native: Native, workload: Workload, name: string): InstanceType<Native['Job']> {
  try {
    return new native.Job(name);
  } catch (error) {
    if (errnoName(error) === 'ERROR_FILE_NOT_FOUND') throw noWorkload(workload, 'the job does not exist any more', error);
    const errno = errnoName(error);
    throw new HostError('EVICTD_KILL_GONE', `${workload.name} (${workload.path}) cannot be evicted: ${thrownText(error)}`, {
      cause: error,
      ...(errno !== undefined && { errno }),
    });
  }
}

/** ESRCH tells the monitor that the workload has ended. */
function noWorkload(workload: Workload, why: string, cause?: unknown): HostError {
  return new HostError('EVICTD_KILL_GONE', `${workload.name} (${workload.path}) cannot be evicted: ${why}`, {
    errno: 'ESRCH',
    path: workload.path,
    ...(cause !== undefined && { cause }),
  });
}
