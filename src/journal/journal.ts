import { journalLine, tornRecord, type JournalRecord } from './records/record.js';
import { EVICTIONS_FILE, JOURNAL_FILE, JournalFiles, type Allocate, type JournalLimits, type RotationLock } from './journal-files.js';
import { isEvictionRecord } from './kept-records.js';
import { Occurrences } from './occurrences.js';
import { RecentLines } from './recent-lines.js';
import type { JsonObject } from '../core/name/json-text.js';
import { JournalSets, type JournalSet } from './journal-sets.js';
import { Ring, earlierDecisions, ringPath, type EarlierDecisions } from './journal-ring.js';
import type { Turns } from '../storage/turns.js';
import { asError } from '../errors.js';
import { decisionOf } from './order-file.js';

export const RING_BYTES = 4 * 1024 * 1024;

/** The files in the state directory. */
export function journalSet({ stateDirectory, limits, allocate, lock, replacesOpen }: JournalFilesOptions): JournalSet {
  const files = (name: typeof JOURNAL_FILE | typeof EVICTIONS_FILE): JournalFiles =>
    new JournalFiles(stateDirectory, limits, allocate, lock, replacesOpen, name);
  return { all: files(JOURNAL_FILE), kept: files(EVICTIONS_FILE) };
}

export interface JournalFilesOptions {
  readonly stateDirectory: string;
  /** Limits of each set of files. */
  readonly limits: JournalLimits;
  readonly allocate: Allocate;
  readonly replacesOpen?: boolean;
  readonly lock: RotationLock;
}

export interface JournalOptions extends JournalFilesOptions {
  readonly runtimeDirectory: string;
  /** Distinguishes the journals of several nodes in one runtime directory. */
  readonly instance: string;
  readonly node: string;
  /** Whether every record says `dryRun`: a dry run may write to the same journal as a guarding evictd. */
  readonly dryRun: boolean;
  /** Of all that uses the state directory. Left out: of the journal alone. */
  readonly turns?: Turns;
  readonly onError: (error: Error) => void;
  readonly onLost: (records: number) => void;
  /** Called when space cannot be reserved, once until it can. */
  readonly onUnreserved: (error: Error) => void;
  /** There is no space for the ring; undefined: there is now. */
  readonly onRing: (problem: Error | undefined) => void;
}

/**
 * Keeps decisions and their outcomes. `record` returns when the record is in the ring on tmpfs; the state directory
 * follows in the background.
 */
export class Journal {
  readonly #ring: Ring;
  readonly #writer: JournalSets;
  /** How many records an earlier run had not written to the state directory. */
  readonly recovered: number;
  /** The decisions of earlier runs that are still in the ring. */
  readonly earlier: EarlierDecisions;
  readonly #recent = new RecentLines();
  readonly #occurrences = new Occurrences();
  #closed = false;
  #unreserved = false;
  /** Records that wait for their turn. */
  readonly #later: Iterator<JournalRecord>[] = [];
  errors = 0;
  lost = 0;

  /**
   * Throws Node's errors where the runtime directory cannot be used. Without space for the ring, records go to the
   * state directory only.
   */
  constructor(private readonly options: JournalOptions) {
    this.#ring = new Ring(ringPath(options.runtimeDirectory, options.instance), RING_BYTES);
    this.#writer = new JournalSets(
      journalSet(options),
      this.#ring.undrained,
      {
        written: (sequence) => {
          if (this.#closed) return;
          this.#guarded(() => {
            this.#ring.drained(sequence);
          });
        },
        failed: (error) => {
          this.#failed(error);
        },
        lost: (records) => {
          this.lost += records;
          options.onLost(records);
        },
        torn: (bytes) => journalLine(tornRecord(bytes), options),
        reserved: (failure) => {
          if (failure !== undefined && !this.#unreserved) options.onUnreserved(failure);
          this.#unreserved = failure !== undefined;
        },
      },
      options.turns,
    );
    this.earlier = earlierDecisions(this.#ring.before.map(({ text }) => text));
    for (const { text } of this.#ring.before) {
      this.#recent.add(text);
      if (isEvictionRecord(text)) this.#occurrences.restore(JSON.parse(text) as JsonObject);
    }
    this.recovered = this.#ring.undrained.length;
    this.#ring.forget();
    if (this.#ring.problem !== undefined) options.onRing(this.#ring.problem);
  }

  /** The line of a record that may be written by `recordPrepared`, with the time and the occurrence of this call. */
  line(record: JournalRecord): string {
    return journalLine(this.#occurrences.prepared(record, Date.now()), this.options);
  }

  /**
   * Never throws: an eviction continues without a journal. A standing order that the run before recorded, but did not save
   * in its state, is decided again under its number, and has its record.
   */
  record(record: JournalRecord): void {
    if (record.type === 'decision' && typeof record.decision === 'number' && this.earlier.unfinished.has(record.decision)) return;
    this.#append(journalLine(this.#occurrences.numbered(record, Date.now()), this.options));
  }

  /** The line of a decision that an earlier run has prepared; nothing if that run recorded it. */
  recordPrepared(line: string): void {
    if (decisionOf(line) <= this.earlier.last) return;
    this.#occurrences.restore(JSON.parse(line) as JsonObject);
    this.#append(line);
  }

  /** Does all that `record` does before it writes. */
  rehearse(record: JournalRecord): void {
    this.#guarded(() => {
      this.#ring.rehearse(journalLine(record, this.options));
    });
  }

  /**
   * Writes records of one decision that may be long and many, one in a turn of the event loop. As every record that is not
   * kept, they are in the ring only where they push out no record that the state directory lacks. Never throws.
   */
  recordLater(records: Iterable<JournalRecord>): void {
    const all = records[Symbol.iterator]();
    const first = all.next();
    if (first.done === true) return;
    // Now: the outcome of the decision may be recorded before they are written.
    const { occurrence } = this.#occurrences.prepared(first.value, Date.now());
    this.#later.push(eachWith({ occurrence }, first.value, all));
    if (this.#later.length === 1) setImmediate(() => this.#writeNext());
  }

  /** Makes the ring where there was no space for it before. Never throws. Not for the path of an eviction. */
  retry(): void {
    if (this.#closed) return;
    this.#guarded(() => {
      if (this.#ring.retry()) this.options.onRing(undefined);
    });
  }

  /** The last records that an operator looks for, those of runs before too; the oldest first. */
  get recent(): readonly string[] {
    return this.#recent.all;
  }

  /** How long the state directory has not answered, in milliseconds; 0: it answers. */
  get waitingMs(): number {
    return this.#writer.waitingMs;
  }

  /**
   * Returns whether everything is in the state directory, after at most `timeoutMs`; false also while a write hangs.
   */
  async flush(timeoutMs: number): Promise<boolean> {
    while (this.#writeOne());
    return this.#writer.flush(timeoutMs);
  }

  /** A record after this goes to the state directory only. May be called twice. */
  close(): void {
    this.#closed = true;
    this.#ring.close();
  }

  #writeNext(): void {
    if (this.#writeOne()) setImmediate(() => this.#writeNext());
  }

  /** Returns whether there may be more. */
  #writeOne(): boolean {
    const [records] = this.#later;
    if (records === undefined) return false;
    const next = records.next();
    if (next.done === true) this.#later.shift();
    else this.#append(journalLine(next.value, this.options), true);
    return this.#later.length > 0;
  }

  #append(text: string, isDispensable = false): void {
    this.#recent.add(text);
    this.#guarded(() => {
      this.#ring.append(text, isDispensable || !isEvictionRecord(text));
    });
    this.#writer.push({ sequence: this.#ring.sequence, text });
  }

  #guarded(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#failed(asError(error));
    }
  }

  #failed(error: Error): void {
    this.errors += 1;
    this.options.onError(error);
  }
}

function* eachWith({ occurrence }: JsonObject, first: JournalRecord, rest: Iterator<JournalRecord>): Generator<JournalRecord, void> {
  for (let next: IteratorResult<JournalRecord> = { value: first }; next.done !== true; next = rest.next()) {
    yield occurrence === undefined ? next.value : { ...next.value, occurrence };
  }
}
