import { readFileSync } from 'node:fs';
import { eventually, type WaitOptions } from '../support/eventually.js';

// Wine reads the /proc/meminfo of the machine (Z:\proc\meminfo): its values lie between two readings of that file.

export interface Meminfo {
  readonly total: bigint;
  readonly swap: bigint;
  /** As Wine computes it, which is not MemAvailable. */
  readonly available: bigint;
  readonly swapFree: bigint;
}

/** In bytes. */
export function meminfo(): Meminfo {
  const text = readFileSync('Z:\\proc\\meminfo', 'utf8');
  const of = (name: string): bigint => BigInt(new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(text)?.[1] ?? '') * 1024n;
  return {
    total: of('MemTotal'),
    swap: of('SwapTotal'),
    available: of('MemFree') + of('Buffers') + of('Cached'),
    swapFree: of('SwapFree'),
  };
}

/** For rounding by a page or two, and for reading other files in between. */
const SLACK = 4n << 20n;

/**
 * Waits until a reading lies between two readings of meminfo: other processes may change memory in between.
 *
 * @param read  in bytes
 * @param slack  bytes that the reading itself may use
 */
export async function liesBetween(
  of: (read: Meminfo) => bigint,
  read: () => bigint,
  slack = SLACK,
  patience: WaitOptions = {},
): Promise<void> {
  let seen = '';
  await eventually(
    'a reading between two others',
    () => {
      const before = of(meminfo());
      const value = read();
      const after = of(meminfo());
      const [low, high] = before < after ? [before, after] : [after, before];
      seen = `${String(value)} lies not between ${String(low)} and ${String(high)}`;
      return value >= low - slack && value <= high + slack;
    },
    { ...patience, circumstances: () => seen },
  );
}
