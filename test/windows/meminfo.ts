import { readFileSync } from 'node:fs';
import { eventually, type Patience } from '../support/eventually.js';

// Wine takes the numbers from the machine's own /proc/meminfo, which is the file Z:\proc\meminfo there: read before and after, it has them between.

export interface Meminfo {
  readonly total: bigint;
  readonly swap: bigint;
  /** What Wine takes for it is not MemAvailable. */
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

/** What a page or two of rounding and a reading of other files in between may come to. */
const SLACK = 4n << 20n;

/**
 * Waits until a reading lies between what two readings of meminfo come to. Others on the machine take memory and give it back meanwhile: once in a while they do not.
 *
 * @param read  in bytes
 * @param slack  what the reading itself may cost
 */
export async function liesBetween(
  of: (read: Meminfo) => bigint,
  read: () => bigint,
  slack = SLACK,
  patience: Patience = {},
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
