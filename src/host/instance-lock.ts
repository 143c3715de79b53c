import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { makeDirectorySync } from '../directory.js';
import { HostError, UnavailableError } from '../errors.js';
import type { NodeIdentity } from '../monitor/ports.js';
import { isHeldByAnother } from '../native/lock-refusal.js';

/** Held while one evictd guards a node. The kernel gives it back when the process ends, however it ends. */
export interface InstanceLock {
  /** What tells this node's files apart from another's in the runtime directory. */
  readonly instance: string;
  /** Why nobody learns from the runtime directory who holds it, so that `evictd reload` does not find him; undefined: everybody does. */
  readonly untold: Error | undefined;
  close(): void;
}

/** How an operating system locks a file, and where it is said who has. */
export interface LockFiles {
  take(path: string): { close(): void };
  /** Says that this process holds it. Never throws. */
  tell(path: string): Error | undefined;
  /** Whoever was said to hold it last. */
  toldPid(path: string): number | undefined;
  /** Where the runtime directory cannot be used. */
  readonly hint: string;
}

/**
 * One evictd per node: two would evict twice for one shortage. Several may run beside each other for different nodes.
 *
 * A dry run ends nobody: it has a lock of its own, and may run beside the one that guards.
 *
 * @throws UnavailableError where another holds it; HostError where the runtime directory cannot be used
 */
export function takeInstanceLock(runtimeDirectory: string, node: NodeIdentity, files: LockFiles, dryRun: boolean): InstanceLock {
  const instance = instanceName(node, dryRun);
  const path = join(runtimeDirectory, `${instance}.lock`);
  let lock: { close(): void };
  try {
    makeDirectorySync(runtimeDirectory, 0o700);
    lock = files.take(path);
  } catch (cause) {
    if (isHeldByAnother(cause)) throw occupied(path, node, files.toldPid(path), cause);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HostError('EVICTD_RUNTIME_DIRECTORY', `runtime directory ${runtimeDirectory} cannot be used: ${reason}`, {
      hint: files.hint,
      path: runtimeDirectory,
      cause,
    });
  }
  return {
    instance,
    untold: files.tell(path),
    close: () => {
      lock.close();
    },
  };
}

/** 'machine', 'cgroup-%2Fworkload.slice'; a name that no directory takes becomes its hash. */
export function instanceName({ cgroup }: Pick<NodeIdentity, 'cgroup'>, dryRun = false): string {
  const ending = dryRun ? '-dry-run' : '';
  if (cgroup === undefined) return `machine${ending}`;
  const name = encodeURIComponent(cgroup);
  return `cgroup-${name.length <= 200 ? name : createHash('sha256').update(cgroup).digest('hex')}${ending}`;
}

function occupied(path: string, node: NodeIdentity, pid: number | undefined, cause: unknown): UnavailableError {
  return new UnavailableError(
    'EVICTD_INSTANCE_RUNNING',
    `another evictd${pid ? ` (process ${String(pid)})` : ''} guards this node (${node.name})`,
    {
      hint: `stop it first, or choose another node; the lock is ${path}`,
      cause,
    },
  );
}
