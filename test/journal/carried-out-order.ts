import { closeSync, openSync, writeSync } from 'node:fs';

/** Writes what the native layer writes into the file of an order that it carries out. */
export function carryOut(path: string, record: Buffer = Buffer.alloc(0), crossedAtNs = 5n, decidedAtNs = 7n): void {
  const header = Buffer.alloc(64);
  header.writeBigUInt64LE(crossedAtNs, 0);
  header.writeBigUInt64LE(decidedAtNs, 8);
  header.writeDoubleLE(1_020, 16);
  header.writeDoubleLE(40, 24);
  const fd = openSync(path, 'r+');
  writeSync(fd, Buffer.concat([header, record]));
  closeSync(fd);
}
