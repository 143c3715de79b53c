import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectorySync } from '../../directory.js';
import { errnoName, HostError, UnavailableError } from '../../errors.js';
import type { NodeIdentity } from '../../monitor/ports.js';
import type { Binding } from '../../native/binding.js';

/** Held while one evictd guards a node. The kernel gives it back when the process ends, however it ends. */
export interface InstanceLock {
  /** What tells this node's files apart from another's in the runtime directory. */
  readonly instance: string;
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
  const instance = instanceName(node) + (dryRun ? '-dry-run' : '');
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
  writeFileSync(path, `${String(process.pid)}\n`); // for people, and for the message below
  return {
    instance,
    close: () => {
      lock.close();
    },
  };
}

/** 'machine', 'cgroup-%2Fworkload.slice'; a name that no directory takes becomes its hash. */
export function instanceName({ cgroup }: Pick<NodeIdentity, 'cgroup'>): string {
  if (cgroup === undefined) return 'machine';
  const name = encodeURIComponent(cgroup);
  return `cgroup-${name.length <= 200 ? name : createHash('sha256').update(cgroup).digest('hex')}`;
}

function occupied(path: string, node: NodeIdentity, cause: unknown): UnavailableError {
  const pid = readFileSync(path, 'utf8').trim();
  return new UnavailableError(
    'EVICTD_INSTANCE_RUNNING',
    `another evictd${pid === '' ? '' : ` (process ${pid})`} guards this node (${node.name})`,
    {
      hint: `stop it first, or choose another node; the lock is ${path}`,
      cause,
    },
  );
}
