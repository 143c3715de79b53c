import { amountOfBytes } from '../core/amount.js';
import type { MemoryReserve } from '../core/memory-reserve.js';
import { SIGNAL_FACTS, type Signal } from '../core/signal.js';
import type { MachineFacts } from './machine.js';

/** What never stops being available, by the way in which a signal is counted. */
export interface Floor {
  readonly amount: bigint;
  /** The sum, for people: 'min_free_kbytes 66MiB + huge pages 2GiB = 2.06GiB'; empty where there is none. */
  readonly text: string;
}

const NO_FLOOR: Floor = { amount: 0n, text: '' };

/**
 * available = capacity − (anonymous + file − inactive file pages) counts as available what no process can have: the pages that the kernel keeps free
 * for itself (vm.min_free_kbytes: mm/page_alloc.c, __zone_watermark_ok), and the pools of huge pages, which MemTotal contains and neither AnonPages nor
 * Cached does (mm/hugetlb.c; kubernetes/kubernetes#137984 and #131319 are the same in the kubelet). When they are all that is left, allocations fail, and
 * the kernel's OOM killer is at work. Where a cgroup is the node and its limit is more than the machine can give, the rest is added.
 */
export function floorOf(signal: Signal, machine: MachineFacts | undefined): Floor {
  const capacity = machine?.capacities.get(signal);
  const reserve = machine?.reserve;
  // MemAvailable leaves both out already (mm/show_mem.c, si_mem_available).
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
