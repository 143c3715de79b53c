import { amountOfBytes } from '../core/amount.js';
import { jsonInteger } from '../core/integer.js';
import { isPressure } from '../core/signal.js';
import { operandsOf } from '../core/threshold.js';
import { broken, degraded, ok, type Check } from './check.js';
import type { MemoryFacts } from './facts/kernel.js';
import type { NodeFacts } from './facts/node.js';
import { hardMemoryLimit } from './memory-limit.js';

const ID = 'kernel.watermarks';

/** One thread that touches page after page: docs/lint.md, "How fast memory goes". */
const FILL_BYTES_PER_MS = 1_500_000n;
/** Within which evictd is to have sent its signal, whatever else the machine does. */
const REACTION_MS = 20n;

/**
 * How far the threshold lies above what the kernel keeps free. At the zones' `min` ordinary allocations reclaim by themselves, and then the OOM killer is there; with
 * swap, kswapd swaps out to keep `high` free, so that a threshold below that is met only when swap is full (mm/page_alloc.c, mm/vmscan.c).
 */
export function checkWatermarks({ watermarks, swapBytes }: MemoryFacts, node: NodeFacts): Check[] {
  const limit = hardMemoryLimit(node);
  if (!node.isMachine || watermarks === undefined || limit === undefined) return []; // a cgroup has its limit, lint the rest
  const { minBytes, lowBytes, highBytes } = watermarks;
  const details = {
    thresholdBytes: jsonInteger(limit.bytes),
    minBytes: jsonInteger(minBytes),
    lowBytes: jsonInteger(lowBytes),
    highBytes: jsonInteger(highBytes),
  };
  const more = `raise evictionHard.memory.available above ${amountOfBytes(minBytes + FILL_BYTES_PER_MS * REACTION_MS)}, or lower vm.min_free_kbytes`;
  if (limit.bytes <= minBytes) {
    const said = `${limit.text} is never met: the kernel keeps ${amountOfBytes(minBytes)} free for itself (min), and kills before`;
    return [broken(ID, said, more, details)];
  }
  const ms = (limit.bytes - minBytes) / FILL_BYTES_PER_MS;
  const margin = `${limit.text} is ${amountOfBytes(limit.bytes - minBytes)} above the kernel's reserve: ${String(ms)} ms at 1.5 GB/s`;
  if (ms < REACTION_MS) return [degraded(ID, `${margin}, too short to be first`, more, details)];
  if (swapBytes > 0n && limit.bytes <= highBytes && !watchesSwapOrPressure(node)) {
    const said = `${limit.text} is met only when swap is full: until then the kernel swaps to keep ${amountOfBytes(highBytes)} free (high)`;
    const fix = `raise it above ${amountOfBytes(highBytes)}, or add a threshold of swap.available or of memory.pressure.full`;
    return [degraded(ID, said, fix, details)];
  }
  return [ok(ID, margin, details)];
}

function watchesSwapOrPressure({ thresholds }: NodeFacts): boolean {
  return thresholds.flatMap(operandsOf).some(({ signal }) => signal === 'swap.available' || isPressure(signal));
}
