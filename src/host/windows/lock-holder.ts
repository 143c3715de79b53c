import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFileSync } from '../../directory.js';
import { errnoName } from '../../errors.js';
import { loadAddon } from '../../native/load.js';
import { ofWindows } from '../../native/of-windows.js';
import type { WindowsBinding } from '../../native/windows-binding.js';

type Processes = Pick<WindowsBinding, 'processes'>;

/** Whoever holds a lock, as he has said it. */
export interface Holder {
  readonly pid: number;
  readonly version: string;
}

interface Written extends Holder {
  /** Of the process; a bigint as text. */
  readonly createdAt: string;
}

/** Beside the lock, because a file that is locked can be neither read nor written by anybody else on Windows. */
function holderPath(lock: string): string {
  return lock.replace(/\.lock$/, '.holder.json');
}

/** Says that this process holds it. */
export function tellHolder(lock: string, version: string, native: Processes): void {
  const createdAt = native.processes().find(({ pid }) => pid === process.pid)?.createdAt ?? 0n;
  const written: Written = { pid: process.pid, version, createdAt: String(createdAt) };
  replaceFileSync(holderPath(lock), `${JSON.stringify(written)}\n`, 0o600);
}

/**
 * The process that holds a lock file of evictd's; undefined: nobody does. What the file says counts as long as that very process is there: with the time of its start a number is one process for ever.
 * Throws where processes cannot be listed, and Node's errors.
 */
export function holderOf(lock: string, native: Processes = thisAddon()): Holder | undefined {
  const told = toldHolder(lock);
  if (told === undefined) return undefined;
  return native.processes().some(({ pid, createdAt }) => pid === told.pid && String(createdAt) === told.createdAt) ? told : undefined;
}

export function lockHolder(lock: string): number | undefined {
  return holderOf(lock)?.pid;
}

/** Whether or not he holds it still. undefined: nobody has said so. */
export function toldHolder(lock: string): Written | undefined {
  try {
    return JSON.parse(readFileSync(holderPath(lock), 'utf8')) as Written;
  } catch (error) {
    if (errnoName(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
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

function thisAddon(): WindowsBinding {
  return ofWindows(loadAddon().loaded as object);
}
