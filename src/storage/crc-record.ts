import { crc32 } from 'node:zlib';

/**
 * A record in a file of fixed size, which journal ring and saved state share: 24 bytes of header, then the text. The
 * header has a magic number that names the kind of file (u32), the length of the text in bytes (u32), a sequence number
 * (u64), and the CRC-32 (u32) of the length, the sequence number and the text. All are little-endian.
 */
export const RECORD_HEADER_BYTES = 24;
const LENGTH_AT = 4;
const SEQUENCE_AT = 8;
const CRC_AT = 16;

export interface CrcRecord {
  readonly sequence: bigint;
  readonly text: string;
  /** Header included. */
  readonly bytes: number;
}

/** Writes a record to the beginning of `into`, which is large enough. Returns its bytes, header included. */
export function putRecord(into: Buffer, magic: number, sequence: bigint, text: string): number {
  const length = into.write(text, RECORD_HEADER_BYTES);
  into.writeUInt32LE(magic, 0);
  into.writeUInt32LE(length, LENGTH_AT);
  into.writeBigUInt64LE(sequence, SEQUENCE_AT);
  into.writeUInt32LE(checksum(into, length), CRC_AT);
  return RECORD_HEADER_BYTES + length;
}

/** The record that begins at `at`; undefined: none that is whole does. */
export function recordAt(file: Buffer, at: number, magic: number): CrcRecord | undefined {
  if (at + RECORD_HEADER_BYTES > file.length || file.readUInt32LE(at) !== magic) return undefined;
  const length = file.readUInt32LE(at + LENGTH_AT);
  const bytes = RECORD_HEADER_BYTES + length;
  const record = file.subarray(at, at + bytes);
  if (record.length !== bytes || checksum(record, length) !== record.readUInt32LE(CRC_AT)) return undefined;
  return { sequence: record.readBigUInt64LE(SEQUENCE_AT), text: record.toString('utf8', RECORD_HEADER_BYTES), bytes };
}

function checksum(record: Buffer, length: number): number {
  const text = record.subarray(RECORD_HEADER_BYTES, RECORD_HEADER_BYTES + length);
  return crc32(text, crc32(record.subarray(LENGTH_AT, CRC_AT)));
}
