import * as z from 'zod/mini';

// Numbers as files of evictd have them.

/** Of an unsigned 64 bit integer, which JSON has no number for. */
export function writtenInteger() {
  return z.pipe(
    z.string().check(z.regex(/^\d{1,20}$/)),
    z.transform((text: string) => BigInt(text)),
  );
}

export function writtenPid() {
  return z.int().check(z.positive());
}
