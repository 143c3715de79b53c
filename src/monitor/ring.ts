import { closeSync, constants, existsSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const MAGIC = 0x4a445645; // 'EVDJ'
const RECORD = 0x43455245; // 'EREC'
const FILE_HEADER = 64;
const RECORD_HEADER = 24; // magic u32, length u32, sequence u64, crc32 u32, padding
const ALIGN = 8;
const DRAINED_AT = 16;
const ZEROS = 65_536;

export interface RingRecord {
  readonly sequence: bigint;
  readonly text: string;
}

/**
 * The journal's first place: a file of fixed size in the runtime directory (tmpfs), every page of which was written at start-up, so that a record
 * needs no memory, no disk and no allocation in the file system. One pwrite a record, no fsync. The oldest records are overwritten.
 *
 * Layout: 64 bytes of header (magic, size, newest sequence that the state directory has), then records at multiples of 8 bytes: magic, length,
 * sequence, CRC-32 of the text, text. Readers look for valid records; there is no index that could tear.
 */
export class Ring {
  readonly #fd: number;
  readonly #sizeBytes: number;
  readonly #header = Buffer.alloc(FILE_HEADER);
  #at = FILE_HEADER;
  #sequence: bigint;
  /** Records of an earlier run that the state directory does not have, oldest first. */
  readonly undrained: readonly RingRecord[];

  /** Opens or makes the file and touches every page. Throws Node's errors. `sizeBytes` is a multiple of 8. */
  constructor(path: string, sizeBytes: number) {
    this.#sizeBytes = sizeBytes;
    const found = recover(path);
    this.undrained = found.records.filter(({ sequence }) => sequence > found.drained);
    this.#sequence = found.records.at(-1)?.sequence ?? found.drained;
    // Made beside the old one, which a crash in the middle leaves as it is. A link in its place is not followed.
    const fresh = `${path}.new`;
    rmSync(fresh, { force: true });
    this.#fd = openSync(fresh, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
    this.#header.writeUInt32LE(MAGIC, 0);
    this.#header.writeUInt32LE(sizeBytes, 4);
    const zeros = Buffer.alloc(ZEROS);
    for (let at = 0; at < sizeBytes; at += ZEROS) writeSync(this.#fd, zeros, 0, Math.min(ZEROS, sizeBytes - at), at);
    this.drained(found.drained);
    for (const { sequence, text } of this.undrained) this.#put(sequence, text);
    renameSync(fresh, path);
  }

  /** The newest sequence number given out. */
  get sequence(): bigint {
    return this.#sequence;
  }

  /** Appends under the next sequence number. Throws Node's errors; the number is used up all the same. */
  append(text: string): void {
    this.#sequence += 1n;
    this.#put(this.#sequence, text);
  }

  /** The state directory has everything up to `sequence`. */
  drained(sequence: bigint): void {
    this.#header.writeBigUInt64LE(sequence, DRAINED_AT);
    writeSync(this.#fd, this.#header, 0, FILE_HEADER, 0);
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** A text larger than half of the file becomes a record that says so and holds its beginning. */
  #put(sequence: bigint, text: string): void {
    const limit = Math.floor(this.#sizeBytes / 2) - RECORD_HEADER;
    const fits = Buffer.byteLength(text) <= limit;
    const payload = Buffer.from(fits ? text : JSON.stringify({ type: 'oversize', beginning: text.slice(0, Math.floor(limit / 8)) }));
    const record = Buffer.alloc(Math.ceil((RECORD_HEADER + payload.length) / ALIGN) * ALIGN);
    record.writeUInt32LE(RECORD, 0);
    record.writeUInt32LE(payload.length, 4);
    record.writeBigUInt64LE(sequence, 8);
    record.writeUInt32LE(crc32(payload), 16);
    payload.copy(record, RECORD_HEADER);
    if (this.#at + record.length > this.#sizeBytes) this.#at = FILE_HEADER;
    writeSync(this.#fd, record, 0, record.length, this.#at);
    this.#at += record.length;
  }
}

/** What an earlier run left: valid records in their order, and how far the state directory had them. */
function recover(path: string): { records: RingRecord[]; drained: bigint } {
  const file = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  if (file.length < FILE_HEADER || file.readUInt32LE(0) !== MAGIC) return { records: [], drained: 0n };
  return { records: validRecords(file), drained: file.readBigUInt64LE(DRAINED_AT) };
}

function validRecords(file: Buffer): RingRecord[] {
  const records: RingRecord[] = [];
  for (let at = FILE_HEADER; at + RECORD_HEADER <= file.length; at += ALIGN) {
    if (file.readUInt32LE(at) !== RECORD) continue;
    const length = file.readUInt32LE(at + 4);
    const text = file.subarray(at + RECORD_HEADER, at + RECORD_HEADER + length);
    if (text.length !== length || crc32(text) !== file.readUInt32LE(at + 16)) continue;
    records.push({ sequence: file.readBigUInt64LE(at + 8), text: text.toString() });
  }
  return records.sort((a, b) => (a.sequence < b.sequence ? -1 : 1));
}
