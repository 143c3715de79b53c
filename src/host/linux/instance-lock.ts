import { createHash } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { makeDirectorySync } from '../../directory.js';
import { errnoName, HostError, UnavailableError } from '../../errors.js';
import type { NodeIdentity } from '../../monitor/ports.js';
import type { Binding } from '../../native/binding.js';
import { lockFileText, readLockFile } from './lock-holder.js';

/** Held while one evictd guards a node. The kernel gives it back when the process ends, however it ends. */
export interface InstanceLock {
  /** What tells this node's files apart from another's in the runtime directory. */
  readonly instance: string;
  /** Why the lock file does not say who holds it, so that `evictd reload` does not find him; undefined: it does. */
  readonly untold: Error | undefined;
  close(): void;
}

/**
 * One evictd per node: two would evict twice for one shortage. Several may run beside each other for different nodes.
 *
 * A dry run ends nobody: it has a lock of its own, and may run beside the one that guards.
 *
 * @throws UnavailableError where another holds it; HostError where the runtime directory cannot be used
 */
export function lockInstance(runtimeDirectory: string, node: NodeIdentity, native: Binding, dryRun = false): InstanceLock {
  const instance = instanceName(node, dryRun);
  const path = join(runtimeDirectory, `${instance}.lock`);
  let lock: { close(): void };
  try {
    makeDirectorySync(runtimeDirectory, 0o700);
    lock = new native.FileLock(path);
  } catch (cause) {
    if (errnoName(cause) === 'EAGAIN') throw occupied(path, node, cause);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HostError('EVICTD_RUNTIME_DIRECTORY', `runtime directory ${runtimeDirectory} cannot be used: ${reason}`, {
      hint: 'run evictd as root, or set runtimeDirectory to a directory on tmpfs that it may write to',
      path: runtimeDirectory,
      cause,
    });
  }
  return {
    instance,
    untold: tellHolder(path),
    close: () => {
      lock.close();
    },
  };
}

/** For who reloads it, for doctor, and for the message below. The page that is there is kept: in a full directory there may be no other. */
function tellHolder(path: string): Error | undefined {
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

/** 'machine', 'cgroup-%2Fworkload.slice'; a name that no directory takes becomes its hash. */
export function instanceName({ cgroup }: Pick<NodeIdentity, 'cgroup'>, dryRun = false): string {
  const ending = dryRun ? '-dry-run' : '';
  if (cgroup === undefined) return `machine${ending}`;
  const name = encodeURIComponent(cgroup);
  return `cgroup-${name.length <= 200 ? name : createHash('sha256').update(cgroup).digest('hex')}${ending}`;
}

function occupied(path: string, node: NodeIdentity, cause: unknown): UnavailableError {
  const pid = readLockFile(path)?.pid;
  return new UnavailableError(
    'EVICTD_INSTANCE_RUNNING',
    `another evictd${pid ? ` (process ${String(pid)})` : ''} guards this node (${node.name})`,
    {
      hint: `stop it first, or choose another node; the lock is ${path}`,
      cause,
    },
  );
}
