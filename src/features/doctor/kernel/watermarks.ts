import { amountOfBytes } from '../../../core/quantity/amount.js';
import { jsonInteger } from '../../../core/quantity/integer.js';
import { isPressure } from '../../../core/signal/signal.js';
import { operandsOf } from '../../../core/threshold/threshold.js';
import { broken, degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { MemoryFacts } from '../../../host/facts/kernel-facts.js';
import type { NodeFacts } from '../facts/node-facts.js';
import { hardMemoryLimit } from './memory-limit.js';

const ID = 'kernel.watermarks';

/** One thread that touches page after page (docs/lint.md). */
const FILL_BYTES_PER_MS = 1_500_000n;
/** evictd sends its signal within this time. */
const REACTION_MS = 20n;

/**
 * How far the threshold is above the memory that the kernel keeps free. At the zones' `min` allocations reclaim
 * directly, then the OOM killer runs. With swap, kswapd swaps to keep `high` free: a lower threshold is met only when
 * swap is full (mm/page_alloc.c, mm/vmscan.c).
 */
export function checkWatermarks({ watermarks, swapBytes }: MemoryFacts, node: NodeFacts): Check[] {
  const limit = hardMemoryLimit(node);
  if (!node.isMachine || watermarks === undefined || limit === undefined) return [];
  const { minBytes, lowBytes, highBytes } = watermarks;
  const details = {
    thresholdBytes: jsonInteger(limit.bytes),
    minBytes: jsonInteger(minBytes),
    lowBytes: jsonInteger(lowBytes),
    highBytes: jsonInteger(highBytes),
  };
  const more = `raise evictionHard.memory.available above ${amountOfBytes(minBytes + FILL_BYTES_PER_MS * REACTION_MS)}, or lower vm.min_free_kbytes`;
  if (limit.bytes <= minBytes) {
    const summary = `${limit.text} is never met: the kernel keeps ${amountOfBytes(minBytes)} free (min), and its OOM killer runs first`;
    return [broken(ID, summary, more, details)];
  }
  const ms = (limit.bytes - minBytes) / FILL_BYTES_PER_MS;
  const margin = `${limit.text} is ${amountOfBytes(limit.bytes - minBytes)} above the kernel's reserve (min): one core allocates that in ${String(ms)} ms (1.5 GB/s)`;
  if (ms < REACTION_MS) return [degraded(ID, `${margin}, too short to act before the OOM killer`, more, details)];
  if (swapBytes > 0n && limit.bytes <= highBytes && !watchesSwapOrPressure(node)) {
    const summary = `${limit.text} is met only when swap is full: until then the kernel swaps to keep ${amountOfBytes(highBytes)} free (high)`;
    const fix = `raise it above ${amountOfBytes(highBytes)}, or add a threshold of swap.available or of memory.pressure.full`;
    return [degraded(ID, summary, fix, details)];
  }
  return [ok(ID, margin, details)];
}

function watchesSwapOrPressure({ thresholds }: NodeFacts): boolean {
  return thresholds.flatMap(operandsOf).some(({ signal }) => signal === 'swap.available' || isPressure(signal));
}

export const watermarksCheck = defineCheck(ID, ['memory', 'node'], ({ memory, node }) => checkWatermarks(memory, node));
