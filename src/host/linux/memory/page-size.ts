import { readFileSync } from 'node:fs';

const AT_PAGESZ = 6n;

/** The kernel's page size in bytes, from the auxiliary vector (man 3 getauxval): pairs of native words. */
export function parsePageSize(auxv: Buffer): bigint | undefined {
  for (let at = 0; at + 16 <= auxv.length; at += 16) {
    if (auxv.readBigUInt64LE(at) === AT_PAGESZ) return auxv.readBigUInt64LE(at + 8);
  }
  return undefined;
}

/** 4 KiB where it is unknown: a page size that is too small registers a little early, never too late. */
export function readPageSize(): bigint {
  return parsePageSize(readFileSync('/proc/self/auxv')) ?? 4096n;
}
