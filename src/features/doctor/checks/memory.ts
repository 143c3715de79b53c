import { amountOfBytes } from '../../../core/quantity/amount.js';
import { isListed, resolve, thresholdKind, valueText, type Threshold, operandsOf } from '../../../core/threshold/threshold.js';
import type { NodeFacts } from '../machine-facts.js';
import { jsonInteger } from '../../../core/quantity/integer.js';
import { degraded, ok, broken } from '../check.js';
import { defineCheck } from '../check-kind.js';
import { isPressure, type Signal } from '../../../core/signal/signal.js';

/** The hard threshold of evictd. */
export interface MemoryLimit {
  readonly bytes: bigint;
  /** 'memory.available<5% (400MiB)' */
  readonly text: string;
}

/** The highest hard threshold of memory.available alone; undefined: none, or unknown capacity. */
export function hardMemoryLimit({ thresholds, capacities }: Pick<NodeFacts, 'thresholds' | 'capacities'>): MemoryLimit | undefined {
  const capacity = capacities.get('memory.available');
  if (capacity === undefined) return undefined;
  const limits = thresholds.filter(isHardMemory).map(({ value }): MemoryLimit => {
    const bytes = resolve(value, capacity);
    const amount = value.kind === 'percentage' ? ` (${amountOfBytes(bytes)})` : '';
    return { bytes, text: `memory.available<${valueText(value)}${amount}` };
  });
  return limits.sort((a, b) => (a.bytes < b.bytes ? 1 : -1))[0];
}

/** A hard threshold of memory.available that is not joined with other signals. */
export function isHardMemory(threshold: Threshold): boolean {
  return threshold.signal === 'memory.available' && !isListed(threshold) && thresholdKind(threshold) === 'hard';
}

const STRICT = 2;

/**
 * With strict accounting malloc fails at CommitLimit (Documentation/mm/overcommit-accounting.rst), and the process that
 * allocates may crash. If that happens before the threshold is met, evictd cannot choose the victim.
 */
export const overcommitCheck = defineCheck(
  'kernel.overcommit',
  ['memory', 'node'],
  ({ memory: { overcommitMemory, totalBytes, commitLimitBytes }, node }, id) => {
    const details = { overcommitMemory: overcommitMemory ?? null, commitLimitBytes: jsonInteger(commitLimitBytes) };
    if (overcommitMemory !== STRICT) return ok(id, `vm.overcommit_memory=${String(overcommitMemory ?? 'unknown')}`, details);
    const limit = hardMemoryLimit(node);
    const needed = totalBytes - (limit?.bytes ?? 0n);
    const what = `vm.overcommit_memory=2, CommitLimit ${amountOfBytes(commitLimitBytes)}`;
    if (commitLimitBytes > needed) return ok(id, `${what}: the threshold is met before allocations fail`, details);
    const reached = limit === undefined ? 'memory is used up' : `${limit.text} is met`;
    const summary = `${what}: allocations fail before ${reached} (at ${amountOfBytes(needed)} in use), and any process may crash`;
    return degraded(id, summary, 'sysctl vm.overcommit_memory=0, or raise vm.overcommit_ratio', details);
  },
);

/** Where memory.available counts zram's memory as available. kernel.watermarks judges other swap. */
export const swapCheck = defineCheck('kernel.swap', ['memory', 'node'], ({ memory: { swapBytes, swaps, swappiness }, node }, id) => {
  const details = { swapBytes: jsonInteger(swapBytes), swaps, swappiness: swappiness ?? null };
  if (swapBytes === 0n) return ok(id, 'no swap', details);
  const summary = `${amountOfBytes(swapBytes)} on ${swaps.join(', ')}, swappiness ${String(swappiness ?? 'unknown')}`;
  if (!swaps.some((name) => name.startsWith('/dev/zram'))) return ok(id, summary, details);
  const remark = `${summary}: zram keeps swapped pages in memory, compressed`;
  if (!node.isMachine || node.estimated === true || watches(node, 'memory.kernelAvailable')) return ok(id, remark, details);
  const fix = 'set departures: {kernel-memory: true}, or with compatibility: evictd a threshold of memory.kernelAvailable';
  return degraded(id, `${remark}, and memory.available counts that memory as available`, fix, details);
});

/** One thread that touches page after page (docs/lint.md). */
const FILL_BYTES_PER_MS = 1_500_000n;
/** evictd sends its signal within this time. */
const REACTION_MS = 20n;

/**
 * How far the threshold is above the memory that the kernel keeps free. At the zones' `min` allocations reclaim
 * directly, then the OOM killer runs. With swap, kswapd swaps to keep `high` free: a lower threshold is met only when
 * swap is full (mm/page_alloc.c, mm/vmscan.c). MemAvailable leaves out what the kernel keeps free, `high` included.
 */
export const watermarksCheck = defineCheck('kernel.watermarks', ['memory', 'node'], ({ memory: { watermarks, swapBytes }, node }, id) => {
  const limit = hardMemoryLimit(node);
  if (!node.isMachine || watermarks === undefined || limit === undefined) return [];
  const { lowBytes, highBytes } = watermarks;
  const minBytes = node.estimated === true ? 0n : watermarks.minBytes;
  const details = {
    thresholdBytes: jsonInteger(limit.bytes),
    minBytes: jsonInteger(watermarks.minBytes),
    lowBytes: jsonInteger(lowBytes),
    highBytes: jsonInteger(highBytes),
  };
  const more = `raise evictionHard.memory.available above ${amountOfBytes(minBytes + FILL_BYTES_PER_MS * REACTION_MS)}, or lower vm.min_free_kbytes`;
  if (limit.bytes <= minBytes && node.estimated !== true) {
    const summary = `${limit.text} is never met: the kernel keeps ${amountOfBytes(minBytes)} free (min), and its OOM killer runs first`;
    return [broken(id, summary, more, details)];
  }
  const ms = (limit.bytes - minBytes) / FILL_BYTES_PER_MS;
  const margin = `${limit.text} is ${amountOfBytes(limit.bytes - minBytes)} above the kernel's reserve (min): one core allocates that in ${String(ms)} ms (1.5 GB/s)`;
  if (ms < REACTION_MS) return [degraded(id, `${margin}, too short to act before the OOM killer`, more, details)];
  if (node.estimated !== true && swapBytes > 0n && limit.bytes <= highBytes && !watchesSwapOrPressure(node)) {
    const summary = `${limit.text} is met only when swap is full: until then the kernel swaps to keep ${amountOfBytes(highBytes)} free (high)`;
    const fix = `raise it above ${amountOfBytes(highBytes)}, or add a threshold of swap.available or of memory.pressure.full`;
    return [degraded(id, summary, fix, details)];
  }
  return [ok(id, margin, details)];
});

function watches({ thresholds }: NodeFacts, wanted: Signal): boolean {
  return thresholds.flatMap(operandsOf).some(({ signal }) => signal === wanted);
}

function watchesSwapOrPressure(node: NodeFacts): boolean {
  return watches(node, 'swap.available') || node.thresholds.flatMap(operandsOf).some(({ signal }) => isPressure(signal));
}
