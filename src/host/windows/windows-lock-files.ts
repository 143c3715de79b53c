import manifest from '../../../package.json' with { type: 'json' };
import type { NodeIdentity } from '../../monitor/ports/ports.js';
import type { WindowsBinding } from '../../native/windows-binding.js';
import { takeInstanceLock, type InstanceLock } from '../instance-lock.js';
import { recordHolder, recordedHolder } from './windows-lock-holder.js';

/** With LockFileEx; a file beside the lock contains the holder. */
export function lockInstance(
  runtimeDirectory: string,
  node: NodeIdentity,
  native: Pick<WindowsBinding, 'FileLock' | 'processes'>,
  dryRun = false,
): InstanceLock {
  const files = {
    take: (path: string) => new native.FileLock(path),
    record: (path: string): Error | undefined => {
      try {
        recordHolder(path, manifest.version, native);
        return undefined;
      } catch (error) {
        return error instanceof Error ? error : new Error(String(error));
      }
    },
    recordedPid: (path: string) => recordedHolder(path)?.pid,
    hint: 'run evictd as an administrator or as a service, or set runtimeDirectory to a directory that it may write to',
  };
  return takeInstanceLock(runtimeDirectory, node, files, dryRun);
}
