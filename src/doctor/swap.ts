import { amountOfBytes } from '../core/amount.js';
import { jsonInteger } from '../core/integer.js';
import { ok, type Check } from './check.js';
import type { MemoryFacts } from './facts/kernel.js';

const ID = 'kernel.swap';

/** What there is to swap to. Nothing of it is wrong by itself: see kernel.watermarks. */
export function checkSwap({ swapBytes, swaps, swappiness }: MemoryFacts): Check {
  const details = { swapBytes: jsonInteger(swapBytes), swaps, swappiness: swappiness ?? null };
  if (swapBytes === 0n) return ok(ID, 'no swap', details);
  const zram = swaps.some((name) => name.startsWith('/dev/zram'));
  const remark = zram ? ': what is swapped to zram stays in memory, compressed' : '';
  return ok(ID, `${amountOfBytes(swapBytes)} on ${swaps.join(', ')}, swappiness ${String(swappiness ?? 'unknown')}${remark}`, details);
}
