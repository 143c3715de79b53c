import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { checkedJson } from '../../storage/checked-json.js';
import { writtenPid } from '../../storage/written-number.js';
import { replaceFileSync } from '../../storage/directory.js';
import { attempt, errnoName, asError } from '../../errors.js';
import { loadAddon } from '../../native/load.js';
import { asWindows } from '../../native/windows-addon.js';
import type { WindowsBinding } from '../../native/windows-binding.js';
import manifest from '../../../package.json' with { type: 'json' };
import { takeInstanceLock, type InstanceLock, type LockedNode } from '../instance-lock.js';

type Processes = Pick<WindowsBinding, 'processes'>;

export interface Holder {
  readonly pid: number;
  readonly version: string;
}

interface RecordedHolder extends Holder {
  /** The start time of the process; a bigint as text. */
  readonly createdAt: string;
}

/** The path beside the lock, because Windows lets no other process read or write a locked file. */
function holderPath(lock: string): string {
  return lock.replace(/\.lock$/, '.holder.json');
}

export function recordHolder(lock: string, version: string, native: Processes): void {
  const createdAt = native.processes().find(({ pid }) => pid === process.pid)?.createdAt ?? 0n;
  const written: RecordedHolder = { pid: process.pid, version, createdAt: String(createdAt) };
  replaceFileSync(holderPath(lock), `${JSON.stringify(written)}\n`, 0o600);
}

/**
 * The process that holds a lock file of evictd; undefined: none. The record counts while that process exists: pid and
 * start time identify it. Throws where processes cannot be listed, and Node's errors.
 */
export function holderOf(lock: string, native: Processes = asWindows(loadAddon().loaded as object)): Holder | undefined {
  const recorded = recordedHolder(lock);
  if (recorded === undefined) return undefined;
  return native.processes().some(({ pid, createdAt }) => pid === recorded.pid && String(createdAt) === recorded.createdAt)
    ? recorded
    : undefined;
}

export function lockHolder(lock: string): number | undefined {
  return holderOf(lock)?.pid;
}

/** The record, current or not. undefined: none, or evictd has not written it. */
export function recordedHolder(lock: string): RecordedHolder | undefined {
  let text: string;
  try {
    text = readFileSync(holderPath(lock), 'utf8');
  } catch (error) {
    if (errnoName(error) === 'ENOENT') return undefined;
    throw error;
  }
  return attempt(() => checkedJson(text, z.object({ pid: writtenPid(), version: z.string(), createdAt: z.string() })));
}

/** The processes that hold lock files in a directory. */
export function lockHoldersIn(directory: string): readonly number[] {
  let names: readonly string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    if (errnoName(error) === 'ENOENT') return [];
    throw error;
  }
  return names.filter((name) => name.endsWith('.lock')).flatMap((name) => lockHolder(join(directory, name)) ?? []);
}

/** Locks the instance with LockFileEx; a file beside the lock contains the holder. */
export function lockInstance(
  runtimeDirectory: string,
  node: LockedNode,
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
        return asError(error);
      }
    },
    recordedPid: (path: string) => recordedHolder(path)?.pid,
    hint: 'run evictd as an administrator or as a service, or set runtimeDirectory to a directory that it may write to',
  };
  return takeInstanceLock(runtimeDirectory, node, files, dryRun);
}
