import { amountOfBytes } from '../../core/quantity/amount.js';
import type { MemoryReserve } from '../../core/signal/memory-reserve.js';
import { SIGNAL_FACTS, type Signal } from '../../core/signal/signal.js';
import type { MachineFacts } from './machine.js';

/** The amount that a signal always counts as available. */
export interface Floor {
  readonly amount: bigint;
  /** 'min_free_kbytes 66MiB + huge pages 2GiB = 2.06GiB'; empty without a floor. */
  readonly text: string;
}

const NO_FLOOR: Floor = { amount: 0n, text: '' };

/**
 * available = capacity − (anonymous + file − inactive file pages) includes memory that no process can get: pages that
 * the kernel keeps free (vm.min_free_kbytes: mm/page_alloc.c, __zone_watermark_ok) and huge page pools, which are in
 * MemTotal but not in AnonPages or Cached (mm/hugetlb.c; kubernetes/kubernetes#137984 and #131319). When nothing else
 * is left, allocations fail and the kernel's OOM killer runs. If a cgroup's limit exceeds the memory of the machine,
 * the excess is added.
 */
export function floorOf(signal: Signal, machine: MachineFacts | undefined): Floor {
  const capacity = machine?.capacities.get(signal);
  const reserve = machine?.reserve;
  // MemAvailable excludes both (mm/show_mem.c, si_mem_available).
  if (SIGNAL_FACTS[signal].resource !== 'memory' || signal === 'memory.kernelAvailable' || capacity === undefined || reserve === undefined)
    return NO_FLOOR;
  const { totalBytes, minFreeBytes, hugePagesBytes } = reserve;
  const amount = capacity - (totalBytes - minFreeBytes - hugePagesBytes);
  if (amount <= 0n) return NO_FLOOR;
  const sum = reserveText(reserve);
  if (capacity === totalBytes) return { amount, text: hugePagesBytes === 0n ? sum : `${sum} = ${amountOfBytes(amount)}` };
  const given = `machine's memory ${amountOfBytes(totalBytes)} − ${reserveText(reserve).replace(' + ', ' − ')}`;
  return { amount, text: `capacity ${amountOfBytes(capacity)} − (${given}) = ${amountOfBytes(amount)}` };
}

function reserveText({ minFreeBytes, hugePagesBytes }: MemoryReserve): string {
  const minFree = `min_free_kbytes ${amountOfBytes(minFreeBytes)}`;
  return hugePagesBytes === 0n ? minFree : `${minFree} + huge pages ${amountOfBytes(hugePagesBytes)}`;
}
