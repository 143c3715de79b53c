import { existsSync, readFileSync } from 'node:fs';
import { putRecord, RECORD_HEADER_BYTES, recordAt } from '../storage/crc-record.js';
import { isOutOfSpace, makeFixedFile, openFixedFile, openExistingFile, type FixedFile } from '../storage/fixed-file.js';

const MAGIC = 0x53445645; // 'EVDS'
const SLOTS = [0, 1] as const;

/** 32 evictions take 40 KiB to 60 KiB, pending deletions 48 KiB, and what operators have asked for about 50 KiB, at most each. */
const SLOT_BYTES = 192 * 1024;
export const STATE_BYTES = SLOTS.length * SLOT_BYTES;

export interface FoundState {
  /** The newest valid text; undefined: there is none. */
  readonly text: string | undefined;
  /** Slots that were cut off: evictd, or the machine, ended during the write. */
  readonly torn: number;
}

/**
 * One text in a file of fixed size in the runtime directory (tmpfs). One pwrite replaces the older of two slots; where
 * it is cut off, the other slot is valid. A run continues in the file of the run before, so that it starts also where
 * that directory has no space left.
 */
export class StateFile {
  readonly #path: string;
  readonly #sizeBytes: number;
  #record: Buffer;
  #file: FixedFile | undefined;
  #sequence = 0n;
  #slot: number = SLOTS[0];
  /** Why there is no file: no space. */
  #problem: Error | undefined;
  readonly found: FoundState;

  /** Opens or makes the file. Throws Node's errors, except for a lack of space: then `write` throws it. */
  constructor(path: string, slotBytes = SLOT_BYTES) {
    this.#path = path;
    this.#sizeBytes = 2 * slotBytes;
    this.#record = Buffer.alloc(slotBytes);
    const standing = openExistingFile(path);
    const slots = readSlots(standing?.content ?? Buffer.alloc(0));
    const newest = slots.newest;
    this.found = { text: newest?.text, torn: slots.torn.length };
    const canGoOn = newest !== undefined || standing?.file.sizeBytes === this.#sizeBytes;
    if (!canGoOn) standing?.file.close();
    try {
      this.#file = openFixedFile(path, this.#sizeBytes, canGoOn ? standing : undefined, (file) => {
        if (newest !== undefined && this.fits(newest.text)) this.#put(file, newest.text);
      });
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
      this.#problem = error;
    }
    if (this.#file !== undefined && this.#file === standing?.file) {
      this.#record = Buffer.alloc(this.#file.sizeBytes / SLOTS.length);
      this.#sequence = newest?.sequence ?? 0n;
      this.#slot = newest === undefined ? 0 : 1 - newest.slot;
      // A torn slot is reported once.
      for (const slot of slots.torn) this.#file.write(Buffer.alloc(RECORD_HEADER_BYTES), RECORD_HEADER_BYTES, slot * this.#record.length);
    }
  }

  fits(text: string): boolean {
    return RECORD_HEADER_BYTES + Buffer.byteLength(text) <= this.#record.length;
  }

  /** Throws Node's errors, and RangeError for a text that does not fit; the text before stays then. */
  write(text: string): void {
    if (this.#file === undefined) throw this.#problem ?? new Error(`${this.#path} is closed`);
    if (!this.fits(text))
      throw new RangeError(`the state needs ${String(Buffer.byteLength(text))} bytes, and the file has ${String(this.#record.length)}`);
    this.#put(this.#file, text);
  }

  /** Makes the file where there was no space for it before. Throws Node's errors. */
  retry(): void {
    if (this.#problem === undefined) return;
    try {
      this.#file = makeFixedFile(this.#path, this.#sizeBytes, () => undefined);
      this.#problem = undefined;
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
    }
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  /** After a failed write the other slot is valid, and the next write uses the same slot. */
  #put(file: FixedFile, text: string): void {
    const sequence = this.#sequence + 1n;
    file.write(this.#record, putRecord(this.#record, MAGIC, sequence, text), this.#slot * this.#record.length);
    this.#sequence = sequence;
    this.#slot = 1 - this.#slot;
  }
}

/** The content of a file that no evictd writes to. Throws Node's errors. */
export function readStateFile(path: string): FoundState {
  const { newest, torn } = readSlots(existsSync(path) ? readFileSync(path) : Buffer.alloc(0));
  return { text: newest?.text, torn: torn.length };
}

interface FoundText {
  readonly slot: number;
  readonly sequence: bigint;
  readonly text: string;
}

/** Slots of another size, made by another version, are read as well. */
function readSlots(file: Buffer): { readonly newest: FoundText | undefined; readonly torn: readonly number[] } {
  const half = Math.floor(file.length / SLOTS.length);
  const slots = SLOTS.map((slot) => readSlot(slot, file.subarray(slot * half, (slot + 1) * half)));
  const [newest] = slots.filter((slot) => typeof slot === 'object').sort((a, b) => (a.sequence > b.sequence ? -1 : 1));
  return { newest, torn: SLOTS.filter((slot) => slots[slot] === 'torn') };
}

function readSlot(slot: number, bytes: Buffer): FoundText | 'empty' | 'torn' {
  if (bytes.length < RECORD_HEADER_BYTES || bytes.subarray(0, RECORD_HEADER_BYTES).every((byte) => byte === 0)) return 'empty';
  const record = recordAt(bytes, 0, MAGIC);
  return record ? { slot, sequence: record.sequence, text: record.text } : 'torn';
}
