import * as crypto from 'node:crypto';
import { join } from 'node:path';
import { bytesOfText } from '../core/name/byte-text.js';
import { MAX_SOCKET_BYTES } from '../core/name/socket-path.js';
import { makeDirectorySync } from '../storage/directory.js';
import { HostError, UnavailableError, messageOf } from '../errors.js';
import type { NodeIdentity } from '../monitor/ports/ports.js';
import { isLockHeld } from '../native/lock-held.js';

/** Held while one evictd guards a node. The kernel releases it when the process ends. */
export interface InstanceLock {
  /** The name of this node's files in the runtime directory. */
  readonly instance: string;
  /**
   * Why the holder could not be written to the runtime directory, so that `evictd reload` does not find it; undefined:
   * it was.
   */
  readonly recordError: Error | undefined;
  close(): void;
}

/** What is known of a node before anything of it is read. */
export type LockedNode = Pick<NodeIdentity, 'name' | 'cgroup'>;

/** How an operating system locks a file and records the holder. */
interface LockFiles {
  take(path: string): { close(): void };
  /** Records that this process is the holder. Never throws. */
  record(path: string): Error | undefined;
  /** The holder that was recorded last. */
  recordedPid(path: string): number | undefined;
  /** The hint where the runtime directory cannot be used. */
  readonly hint: string;
}

/**
 * Locks a node for one evictd: two would evict twice for one shortage. Different nodes can each have one. A dry run has
 * a lock of its own and may run beside an evictd that guards.
 *
 * @throws UnavailableError where another process holds the lock; HostError where the runtime directory cannot be used
 */
export function takeInstanceLock(runtimeDirectory: string, node: LockedNode, files: LockFiles, dryRun: boolean): InstanceLock {
  const instance = instanceName(node, dryRun);
  const path = join(runtimeDirectory, `${instance}.lock`);
  let lock: { close(): void };
  try {
    makeDirectorySync(runtimeDirectory, 0o700);
    lock = files.take(path);
  } catch (cause) {
    if (isLockHeld(cause)) throw occupied(path, node, files.recordedPid(path), cause);
    throw new HostError('EVICTD_RUNTIME_DIRECTORY', `runtime directory ${runtimeDirectory} cannot be used: ${messageOf(cause)}`, {
      hint: files.hint,
      path: runtimeDirectory,
      cause,
    });
  }
  return {
    instance,
    recordError: files.record(path),
    close: () => {
      lock.close();
    },
  };
}

/** 'machine', 'cgroup-%2Fworkload.slice'; a hash where the name is too long for a file, or not UTF-8. */
export function instanceName({ cgroup }: Pick<LockedNode, 'cgroup'>, dryRun = false): string {
  const ending = dryRun ? '-dry-run' : '';
  if (cgroup === undefined) return `machine${ending}`;
  const name = cgroup.isWellFormed() ? encodeURIComponent(cgroup) : undefined; // it throws on a lone surrogate
  const isShort = name !== undefined && name.length <= 200;
  return `cgroup-${isShort ? name : crypto.createHash('sha256').update(bytesOfText(cgroup)).digest('hex')}${ending}`;
}

/** The control socket of an instance; a hash of its name where the path is too long for a socket. */
export function controlSocketPath(runtimeDirectory: string, instance: string): string {
  const path = join(runtimeDirectory, `${instance}.sock`);
  if (Buffer.byteLength(path) <= MAX_SOCKET_BYTES) return path;
  return join(runtimeDirectory, `${crypto.createHash('sha256').update(instance).digest('hex').slice(0, 16)}.sock`);
}

function occupied(path: string, node: LockedNode, pid: number | undefined, cause: unknown): UnavailableError {
  return new UnavailableError(
    'EVICTD_INSTANCE_RUNNING',
    `another evictd${pid ? ` (process ${String(pid)})` : ''} guards this node (${node.name})`,
    {
      hint: `stop it first, or choose another node; the lock is ${path}`,
      cause,
    },
  );
}
