import { JournalSets, type JournalSet } from './journal-sets.js';
import { RING_BYTES } from './journal.js';
import { journalLine, tornRecord, type JournalRecord } from './records/record.js';
import { markDrained, Ring, undrainedRecords } from './journal-ring.js';

export interface DrainedRing {
  readonly records: number;
  /** Why some of them are only in the ring; undefined: the state directory has all. */
  readonly failure: string | undefined;
  /** The directory does not answer and blocks a thread: the process can end only by exitNow. */
  readonly hangs: boolean;
}

/** Adds records to a ring that no evictd uses. Throws Node's errors. */
export function addToRing(path: string, records: readonly JournalRecord[], node: string): void {
  addLinesToRing(
    path,
    records.map((record) => journalLine(record, { node, dryRun: false })),
  );
}

/** Adds lines to a ring that no evictd uses. Throws Node's errors. */
export function addLinesToRing(path: string, lines: readonly string[]): void {
  const ring = new Ring(path, RING_BYTES);
  try {
    if (ring.problem) throw ring.problem;
    for (const line of lines) ring.append(line);
  } finally {
    ring.close();
  }
}

/**
 * Writes what a ring has not drained to the state directory. Only for a ring that no evictd uses. The ring stays: the
 * next evictd reads in it which decisions have no outcome. Throws Node's errors where it cannot be read.
 */
export async function drainRing(path: string, files: JournalSet, timeoutMs: number): Promise<DrainedRing> {
  const left = undrainedRecords(path);
  if (left.length === 0) return { records: 0, failure: undefined, hangs: false };
  const of = JSON.parse(left[0]?.text ?? '{}') as { readonly node: unknown; readonly dryRun: unknown };
  let failure = `no answer for ${String(timeoutMs / 1_000)} s`;
  const writer = new JournalSets(files, left, {
    written: (sequence) => {
      markDrained(path, sequence);
    },
    failed: ({ message }) => {
      failure = message;
    },
    lost: () => undefined, // the limit is larger than a ring
    torn: (bytes) => journalLine(tornRecord(bytes), of),
    reserved: () => undefined,
  });
  const written = await writer.flush(timeoutMs);
  return { records: left.length, failure: written ? undefined : failure, hangs: writer.waitingMs > 0 };
}
