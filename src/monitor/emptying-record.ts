import { constants } from 'node:os';
import { amountOfBytes, counted } from '../core/amount.js';
import type { Decision } from '../core/eviction.js';
import { jsonInteger } from '../core/integer.js';
import type { DirectoryToEmpty, Emptied } from '../core/workload-directory.js';
import { errnoText } from '../errors.js';
import { victimOf } from './ranking-row.js';
import type { JournalRecord } from './record.js';

const { EXDEV } = constants.errno;

/**
 * A directory of who was evicted is being emptied, or what came of it.
 *
 * @param emptied  undefined: it begins; a text: why it was left alone, or nobody knows what came of it
 */
export function emptyingRecord(decision: Decision, directory: DirectoryToEmpty, emptied: Emptied | string | undefined): JournalRecord {
  const of = { decision: decision.serial, victim: victimOf(decision.victim), path: directory.path };
  const message = emptyingText(decision, directory, emptied);
  if (emptied === undefined) {
    const { bytes, inodes } = directory.holds;
    return { type: 'emptying', ...of, heldBytes: jsonInteger(bytes), heldInodes: jsonInteger(inodes), message };
  }
  if (typeof emptied === 'string') return { type: 'emptied', ...of, complete: false, reason: emptied, message };
  const { bytes, inodes, failed, failures } = emptied;
  const reason = reasonOf(emptied);
  return {
    type: 'emptied',
    ...of,
    complete: isComplete(emptied),
    removedBytes: bytes,
    removedInodes: inodes,
    failed,
    ...(failures.length > 0 && { failures: failures.map(({ name, errno }) => ({ name, error: failureText(errno) })) }),
    ...(reason !== undefined && { reason }),
    message,
  };
}

/** Whether nothing is left in it, as far as that is known. */
export function isComplete(emptied: Emptied | string): boolean {
  return typeof emptied === 'object' && emptied.end === 'done' && emptied.failed === 0;
}

export function emptyingText({ victim }: Decision, { path, holds }: DirectoryToEmpty, emptied: Emptied | string | undefined): string {
  const { name } = victim.workload;
  if (emptied === undefined) return `emptying ${path}, which held ${amountOfBytes(holds.bytes)}: ${name} was evicted`;
  if (typeof emptied === 'string') return `${path} was not emptied after ${name} was evicted: ${emptied}`;
  const { bytes, inodes, failed, failures, end } = emptied;
  const removed = `${counted(BigInt(inodes), 'inodes')} of ${amountOfBytes(BigInt(bytes))} removed`;
  const reason = reasonOf(emptied);
  if (reason !== undefined) {
    const untouched = inodes === 0 && (end === 'refused' || end === 'replaced' || end === 'populated');
    return `${path} was not emptied after ${name} was evicted: ${reason}${untouched ? '' : `; ${removed}`}`;
  }
  if (failed === 0) return `emptied ${path}: ${removed}`;
  const named = failures.map((failure) => `${JSON.stringify(failure.name)}: ${failureText(failure.errno)}`).join(', ');
  return `emptied ${path}, but not all of it: ${removed}, ${String(failed)} not: ${named}`;
}

/** Why it ended before all was tried; undefined: it did not. */
function reasonOf({ end, errno }: Emptied): string | undefined {
  switch (end) {
    case 'done':
      return undefined;
    case 'refused':
      return errnoText(errno);
    case 'replaced':
      return 'another directory is in its place';
    case 'populated':
      return 'somebody lives in the cgroup of the workload again';
    case 'moved':
      return 'it, or a directory in it, was moved or removed meanwhile';
    case 'late':
      return 'it took too long';
    case 'cancelled':
      return 'it was given up';
  }
}

function failureText(errno: number): string {
  return errno === EXDEV ? 'something is mounted there' : errnoText(errno);
}
