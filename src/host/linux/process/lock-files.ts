import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import manifest from '../../../../package.json' with { type: 'json' };
import type { NodeIdentity } from '../../../monitor/ports/ports.js';
import type { Binding } from '../../../native/binding.js';
import { takeInstanceLock, type InstanceLock } from '../../instance-lock.js';
import { lockFileText, readLockFile } from './lock-holder.js';

export { instanceName, type InstanceLock } from '../../instance-lock.js';

/** With flock(2); the file contains the holder. */
export function lockInstance(runtimeDirectory: string, node: NodeIdentity, native: Binding, dryRun = false): InstanceLock {
  const files = {
    take: (path: string) => new native.FileLock(path),
    record: recordHolder,
    recordedPid: (path: string) => readLockFile(path)?.pid,
    hint: 'run evictd as root, or set runtimeDirectory to a directory on tmpfs that it may write to',
  };
  return takeInstanceLock(runtimeDirectory, node, files, dryRun);
}

/** For `reload`, `doctor` and the next evictd. Overwrites in place: a full disk may have no other page. */
function recordHolder(path: string): Error | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r+');
    ftruncateSync(fd, writeSync(fd, lockFileText(process.pid, manifest.version), 0));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
