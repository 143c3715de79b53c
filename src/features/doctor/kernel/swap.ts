import { amountOfBytes } from '../../../core/quantity/amount.js';
import { jsonInteger } from '../../../core/quantity/integer.js';
import { ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { MemoryFacts } from '../../../host/facts/kernel-facts.js';

const ID = 'kernel.swap';

/** Information only: kernel.watermarks judges it. */
export function checkSwap({ swapBytes, swaps, swappiness }: MemoryFacts): Check {
  const details = { swapBytes: jsonInteger(swapBytes), swaps, swappiness: swappiness ?? null };
  if (swapBytes === 0n) return ok(ID, 'no swap', details);
  const zram = swaps.some((name) => name.startsWith('/dev/zram'));
  const remark = zram ? ': zram keeps swapped pages in memory, compressed' : '';
  return ok(ID, `${amountOfBytes(swapBytes)} on ${swaps.join(', ')}, swappiness ${String(swappiness ?? 'unknown')}${remark}`, details);
}

export const swapCheck = defineCheck(ID, ['memory'], ({ memory }) => checkSwap(memory));
