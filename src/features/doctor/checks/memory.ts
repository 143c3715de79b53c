import { hardMemoryLimit } from '../../../config/lint/limit.js';
import { amountOfBytes } from '../../../core/quantity/amount.js';
import { jsonInteger } from '../../../core/quantity/integer.js';
import { degraded, hidden, ok } from '../check.js';
import { defineCheck } from '../check-kind.js';
import { findingsOf, judged } from '../findings.js';
import { setting } from './kernel.js';

const STRICT = 2;

/**
 * With strict accounting malloc fails at CommitLimit (Documentation/mm/overcommit-accounting.rst), and the process that
 * allocates may crash. If that happens before the threshold is met, evictd cannot choose the victim.
 */
export const overcommitCheck = defineCheck(
  'kernel.overcommit',
  ['memory', 'node'],
  ({ memory: { overcommitMemory, totalBytes, commitLimitBytes }, node }, id) => {
    if (overcommitMemory === undefined) return hidden(id, 'whether allocations can fail', ['/proc/sys/vm/overcommit_memory']);
    const details = { overcommitMemory, commitLimitBytes: commitLimitBytes === undefined ? null : jsonInteger(commitLimitBytes) };
    if (overcommitMemory !== STRICT) return ok(id, `vm.overcommit_memory=${String(overcommitMemory)}`, details);
    if (commitLimitBytes === undefined) return hidden(id, 'when allocations fail', ['/proc/meminfo']);
    const limit = hardMemoryLimit(node.thresholds, node.capacities);
    const needed = totalBytes - (limit?.bytes ?? 0n);
    const what = `vm.overcommit_memory=2, CommitLimit ${amountOfBytes(commitLimitBytes)}`;
    if (commitLimitBytes > needed) return ok(id, `${what}: the threshold is met before allocations fail`, details);
    const reached = limit === undefined ? 'memory is used up' : `${limit.text} is met`;
    const summary = `${what}: allocations fail before ${reached} (at ${amountOfBytes(needed)} in use), and any process may crash`;
    return degraded(id, summary, `${setting('vm.overcommit_memory=0')}, or raise vm.overcommit_ratio`, details);
  },
);

/** kernel.watermarks judges swap that is not on zram. */
export const swapCheck = defineCheck('kernel.swap', ['memory', 'workloads'], ({ memory, workloads }, id) => {
  const { swapBytes, swaps, swappiness } = memory;
  const details = {
    swapBytes: swapBytes === undefined ? null : jsonInteger(swapBytes),
    swaps: swaps ?? null,
    swappiness: swappiness ?? null,
  };
  if (findingsOf(id, workloads).length > 0) return judged(id, workloads, '', details);
  if (swapBytes === undefined) return hidden(id, 'whether there is swap', ['/proc/meminfo']);
  if (swapBytes === 0n) return ok(id, 'no swap', details);
  if (swaps === undefined) return hidden(id, 'where swap is', ['/proc/swaps']);
  const zram = swaps.some((name) => name.startsWith('/dev/zram')) ? ': zram keeps swapped pages in memory, compressed' : '';
  const summary = `${amountOfBytes(swapBytes)} on ${swaps.join(', ')}, swappiness ${String(swappiness ?? 'unknown')}${zram}`;
  return ok(id, summary, details);
});

/** Whether the thresholds of memory let the kernel act first. */
export const watermarksCheck = defineCheck('kernel.watermarks', ['node', 'workloads'], ({ node: { margin }, workloads }, id) =>
  margin === undefined && findingsOf(id, workloads).length === 0 ? [] : [judged(id, workloads, margin ?? '')],
);
