import { readFileSync } from 'node:fs';

/** Bytes of swap that this machine has and that are free. */
export function swap(): { readonly total: number; readonly free: number } {
  const meminfo = readFileSync('/proc/meminfo', 'latin1');
  const bytes = (field: string) => Number(new RegExp(`^${field}:\\s*(\\d+) kB`, 'm').exec(meminfo)?.[1] ?? 0) * 1024;
  return { total: bytes('SwapTotal'), free: bytes('SwapFree') };
}

export const hasSwap = swap().total > 0;
