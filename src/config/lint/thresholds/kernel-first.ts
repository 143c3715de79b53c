import { amountOfBytes } from '../../../core/quantity/amount.js';
import { isPressure, type Signal } from '../../../core/signal/signal.js';
import { operandsOf } from '../../../core/threshold/threshold.js';
import { floorOf, hardMemoryLimit, type MemoryLimit } from '../limit.js';
import type { Finding, LintRule, LintSubject } from '../lint-rule.js';
import type { MachineFacts } from '../machine.js';

/** The rate of one thread that touches page after page (docs/lint.md). */
const FILL_BYTES_PER_MS = 1_500_000n;
/** evictd sends its signal within this time. */
const REACTION_MS = 20n;

/**
 * The highest hard threshold of memory of a machine, and how far it is above what always counts as available. At the
 * zones' `min` allocations reclaim directly, then the OOM killer runs (mm/page_alloc.c).
 */
export interface KernelMargin {
  readonly limit: MemoryLimit;
  readonly floor: bigint;
  /** How long one core needs to allocate that much. */
  readonly ms: bigint;
  /** 'memory.available<500Mi is 436MiB above the kernel's reserve: one core allocates that in 304 ms (1.5 GB/s)' */
  readonly text: string;
}

/** undefined: not a machine, no such threshold, or it is never met. */
export function kernelMargin(subject: Pick<LintSubject, 'thresholds'>, machine: MachineFacts | undefined): KernelMargin | undefined {
  const limit = machine?.pressureOf === 'machine' ? hardMemoryLimit(subject.thresholds, machine.capacities) : undefined;
  const { amount: floor } = floorOf('memory.available', machine);
  if (limit === undefined || limit.bytes <= floor) return undefined;
  const ms = (limit.bytes - floor) / FILL_BYTES_PER_MS;
  const above = `${amountOfBytes(limit.bytes - floor)} above the kernel's reserve`;
  return { limit, floor, ms, text: `${limit.text} is ${above}: one core allocates that in ${String(ms)} ms (1.5 GB/s)` };
}

/**
 * Hard thresholds of memory that let the kernel act first. With swap, kswapd swaps to keep `high` free: a lower
 * threshold is met only when swap is full (mm/vmscan.c). MemAvailable leaves out what the kernel keeps free.
 */
function lintKernelFirst({ thresholds }: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const margin = kernelMargin({ thresholds }, machine);
  if (margin === undefined) return [];
  const { limit, floor, ms, text } = margin;
  const found = { level: 'warn', key: 'evictionHard.memory.available' } as const;
  if (ms < REACTION_MS) {
    const enough = amountOfBytes(floor + FILL_BYTES_PER_MS * REACTION_MS);
    const hint = `raise evictionHard.memory.available above ${enough}, or lower vm.min_free_kbytes`;
    return [{ ...found, code: 'EVICTD_LINT_KERNEL_FIRST', message: `${text}, too short to act before the OOM killer`, hint }];
  }
  const { swapBytes = 0n, highBytes = 0n } = machine?.reserve ?? {};
  const signals = thresholds.flatMap(operandsOf).map(({ signal }): Signal => signal);
  if (machine?.estimated === true || swapBytes === 0n || limit.bytes > highBytes) return [];
  if (signals.some((signal) => signal === 'swap.available' || isPressure(signal))) return [];
  const message = `${limit.text} is met only when swap is full: until then the kernel swaps to keep ${amountOfBytes(highBytes)} free (high)`;
  const hint = `raise it above ${amountOfBytes(highBytes)}, or add a threshold of swap.available or of memory.pressure.full`;
  return [{ ...found, code: 'EVICTD_LINT_SWAP_FIRST', message, hint }];
}

export const kernelFirstRule: LintRule = { codes: ['EVICTD_LINT_KERNEL_FIRST', 'EVICTD_LINT_SWAP_FIRST'], find: lintKernelFirst };
