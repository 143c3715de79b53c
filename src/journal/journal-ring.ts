import { closeSync, constants, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../core/name/json-text.js';
import { putRecord, RECORD_HEADER_BYTES, recordAt } from '../storage/crc-record.js';
import { isOutOfSpace, makeFixedFile, openFixedFile, openExistingFile, type FixedFile } from '../storage/fixed-file.js';

const MAGIC = 0x4a445645; // 'EVDJ'
const RECORD_MARK = Buffer.from('EREC');
const RECORD = RECORD_MARK.readUInt32LE();
const FILE_HEADER = 64;
const ALIGN = 8;
const DRAINED_AT = 16;

export function ringPath(runtimeDirectory: string, instance: string): string {
  return join(runtimeDirectory, `journal-${instance}`);
}

export interface RingRecord {
  readonly sequence: bigint;
  readonly text: string;
}

interface FoundRing {
  /** The valid ones, oldest first. */
  readonly records: readonly RingRecord[];
  /** The state directory has every record up to this. */
  readonly drained: bigint;
  readonly endBytes: number;
  /** The header is that of a ring of this size. */
  readonly isRing: boolean;
}

/**
 * The journal's first place: a file of fixed size in the runtime directory (tmpfs). One pwrite a record, no fsync. The
 * oldest records are overwritten. A run continues in the file of the run before, so that it starts also where that
 * directory has no room left.
 *
 * Layout: 64 bytes of header (magic, size, newest sequence number that the state directory has), then records
 * (crc-record.ts) at multiples of 8 bytes. Readers look for valid records: there is no index that could tear.
 */
export class Ring {
  readonly #path: string;
  readonly #sizeBytes: number;
  #file: FixedFile | undefined;
  readonly #header = Buffer.alloc(FILE_HEADER);
  #at: number;
  #sequence: bigint;
  #drained: bigint;
  /** The maximum number of bytes of records that are not in the state directory. */
  #undrainedBytes: number;
  before: readonly RingRecord[];
  /** The records that the state directory does not have. */
  undrained: readonly RingRecord[];
  /** Why there is no file: no space. undefined: there is one. */
  problem: Error | undefined;

  /**
   * Opens or makes the file. Throws Node's errors, except for a lack of space: `problem`.
   *
   * @param sizeBytes  a multiple of 8
   */
  constructor(path: string, sizeBytes: number) {
    this.#path = path;
    this.#sizeBytes = sizeBytes;
    const standing = openExistingFile(path);
    const found = readRing(standing?.content ?? Buffer.alloc(0));
    this.before = found.records;
    this.undrained = found.records.filter(({ sequence }) => sequence > found.drained);
    this.#sequence = found.records.at(-1)?.sequence ?? found.drained;
    this.#drained = found.drained;
    this.#undrainedBytes = this.undrained.reduce((sum, { text }) => sum + recordBytes(text), 0);
    this.#at = FILE_HEADER;
    if (!found.isRing) standing?.file.close();
    const going = found.isRing ? standing : undefined;
    try {
      this.#file = openFixedFile(path, sizeBytes, going, (file) => {
        this.#writeHeader(file);
        for (const { sequence, text } of this.undrained) this.#put(file, sequence, text);
      });
      if (this.#file === going?.file) this.#at = found.endBytes;
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
      this.problem = error;
    }
  }

  get sequence(): bigint {
    return this.#sequence;
  }

  /**
   * Appends under the next sequence number, where there is a file. Throws Node's errors; the number is used up all the
   * same.
   *
   * @param isDispensable  it is left out, and uses no number, where half of the file is records that the state directory
   * lacks
   */
  append(text: string, isDispensable = false): void {
    const undrainedBytes = this.#undrainedBytes + recordBytes(text);
    if (isDispensable && undrainedBytes > this.#sizeBytes / 2) return;
    this.#undrainedBytes = undrainedBytes;
    this.#sequence += 1n;
    if (this.#file) this.#put(this.#file, this.#sequence, text);
  }

  /** Writes only the header, which stays the same. Throws Node's errors. */
  rehearse(text: string): void {
    putRecord(Buffer.alloc(recordBytes(text)), RECORD, this.#sequence, text);
    if (this.#file) this.#writeHeader(this.#file);
  }

  /** The state directory has every record up to `sequence`. */
  drained(sequence: bigint): void {
    this.#drained = sequence;
    if (sequence === this.#sequence) this.#undrainedBytes = 0;
    if (this.#file) this.#writeHeader(this.#file);
  }

  /** Makes the file where there was no space for it before. Returns whether it has. Throws Node's errors. */
  retry(): boolean {
    if (this.problem === undefined) return false;
    try {
      this.#file = makeFixedFile(this.#path, this.#sizeBytes, (file) => {
        this.#writeHeader(file);
      });
      this.problem = undefined;
      return true;
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
      return false;
    }
  }

  /** Frees the memory of the records of earlier runs: they may be as large as the file. */
  forget(): void {
    this.before = this.undrained = [];
  }

  /** What follows is written to no file: the number of the descriptor may belong to another file by then. */
  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #writeHeader(file: FixedFile): void {
    this.#header.writeUInt32LE(MAGIC, 0);
    this.#header.writeUInt32LE(file.sizeBytes, 4);
    this.#header.writeBigUInt64LE(this.#drained, DRAINED_AT);
    file.write(this.#header, FILE_HEADER, 0);
  }

  /** A text larger than half of the file becomes a record that says so and has its beginning. */
  #put(file: FixedFile, sequence: bigint, text: string): void {
    const limit = Math.floor(file.sizeBytes / 2) - RECORD_HEADER_BYTES;
    const fits = Buffer.byteLength(text) <= limit;
    const written = fits ? text : JSON.stringify({ type: 'oversize', beginning: text.slice(0, Math.floor(limit / 8)) });
    const record = Buffer.alloc(recordBytes(written));
    putRecord(record, RECORD, sequence, written);
    if (this.#at + record.length > file.sizeBytes) {
      // Records behind the newest are older than those that are overwritten next. The oldest go first, or an outcome
      // would go before its decision.
      const rest = file.sizeBytes - this.#at;
      file.write(Buffer.alloc(rest), rest, this.#at);
      this.#at = FILE_HEADER;
    }
    file.write(record, record.length, this.#at);
    this.#at += record.length;
  }
}

/** What the state directory does not have, oldest first, of a ring that may be in use. Throws Node's errors. */
export function undrainedRecords(path: string): readonly RingRecord[] {
  const { records, drained } = ringIn(path);
  return records.filter(({ sequence }) => sequence > drained);
}

/** The decisions in a ring that may be in use. Throws Node's errors. */
export function decisionsIn(path: string): EarlierDecisions {
  return earlierDecisions(ringIn(path).records.map(({ text }) => text));
}

function ringIn(path: string): FoundRing {
  return readRing(existsSync(path) ? readFileSync(path) : Buffer.alloc(0));
}

/** Does what `drained` does to a ring that no evictd uses. Throws Node's errors. */
export function markDrained(path: string, sequence: bigint): void {
  const field = Buffer.alloc(8);
  field.writeBigUInt64LE(sequence);
  const fd = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW);
  try {
    writeSync(fd, field, 0, field.length, DRAINED_AT);
  } finally {
    closeSync(fd);
  }
}

function readRing(file: Buffer): FoundRing {
  const nothing = { records: [], drained: 0n, endBytes: FILE_HEADER, isRing: false };
  if (file.length < FILE_HEADER || file.readUInt32LE(0) !== MAGIC) return nothing;
  const found: (RingRecord & { readonly endBytes: number })[] = [];
  for (let at = nextMark(file, FILE_HEADER); at !== -1; at = nextMark(file, at)) {
    const record = recordAt(file, at, RECORD);
    at += record ? aligned(record.bytes) : ALIGN;
    if (record) found.push({ ...record, endBytes: at });
  }
  found.sort((a, b) => (a.sequence < b.sequence ? -1 : 1));
  return {
    records: found.map(({ sequence, text }) => ({ sequence, text })),
    drained: file.readBigUInt64LE(DRAINED_AT),
    endBytes: found.at(-1)?.endBytes ?? FILE_HEADER,
    isRing: file.readUInt32LE(4) === file.length && file.length % ALIGN === 0,
  };
}

/** The next place where a record may begin; -1: there is none. */
function nextMark(file: Buffer, from: number): number {
  let at = file.indexOf(RECORD_MARK, from);
  while (at % ALIGN > 0) at = file.indexOf(RECORD_MARK, at + 1);
  return at;
}

function recordBytes(text: string): number {
  return aligned(RECORD_HEADER_BYTES + Buffer.byteLength(text));
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGN) * ALIGN;
}

/** The decisions in the records of earlier runs. */
export interface EarlierDecisions {
  /** Decisions without an outcome, by number. Those of a dry run are left out. */
  readonly unfinished: ReadonlyMap<number, JsonObject>;
  readonly over: ReadonlySet<number>;
  /** The highest number; 0: there was none. */
  readonly last: number;
}

const DECIDED = /^\{"time":"[^"]*","type":"(?:decision|outcome)"/;

/** @param texts  in the order of writing */
export function earlierDecisions(texts: readonly string[]): EarlierDecisions {
  const unfinished = new Map<number, JsonObject>();
  const over = new Set<number>();
  let last = 0;
  for (const text of texts) {
    if (!DECIDED.test(text)) continue;
    const line = JSON.parse(text) as JsonObject;
    const { decision } = line;
    if (typeof decision !== 'number') continue;
    last = Math.max(last, decision);
    if (line.type === 'outcome') {
      unfinished.delete(decision);
      over.add(decision);
    } else {
      over.delete(decision);
      if (line.dryRun !== true) unfinished.set(decision, line);
    }
  }
  return { unfinished, over, last };
}
