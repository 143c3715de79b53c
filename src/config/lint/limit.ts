import { amountOf, amountOfBytes } from '../../core/quantity/amount.js';
import { type Signal, SIGNAL_FACTS } from '../../core/signal/signal.js';
import { isListed, resolve, thresholdKind, valueText, type Threshold, type ThresholdValue } from '../../core/threshold/threshold.js';
import type { LintSubject } from './lint-rule.js';
import type { MemoryReserve } from '../../core/signal/memory-reserve.js';
import type { MachineFacts } from './machine.js';

/** A value in units of its signal; undefined: a percentage of an unknown capacity. */
export function limitIn(value: ThresholdValue, capacity: bigint | undefined): bigint | undefined {
  if (value.kind === 'percentage' && value.fraction === 0) return 0n;
  return value.kind === 'quantity' || capacity !== undefined ? resolve(value, capacity ?? 0n) : undefined;
}

/** '500Mi'; a percentage with known capacity: '5% = 409MiB'. */
export function limitText(signal: Signal, value: ThresholdValue, capacity: bigint | undefined): string {
  const limit = value.kind === 'percentage' ? limitIn(value, capacity) : undefined;
  return limit === undefined ? valueText(value) : `${valueText(value)} = ${amountOf(signal, limit)}`;
}

/** 'memory.available: hard 5% = 409MiB' */
export function thresholdText(threshold: Threshold, capacity: bigint | undefined): string {
  return `${threshold.signal}: ${thresholdKind(threshold)} ${limitText(threshold.signal, threshold.value, capacity)}`;
}

/**
 * The key of a threshold. A soft one without a grace period counts as hard. If the signal's own entry is disabled, the
 * threshold is a copy.
 */
export function thresholdKey(threshold: Threshold, { written, thresholds }: LintSubject): string {
  if (isListed(threshold)) return `thresholds[${String(thresholds.filter(isListed).indexOf(threshold))}]`;
  const [hard, soft] = [`evictionHard.${threshold.signal}`, `evictionSoft.${threshold.signal}`];
  if (thresholdKind(threshold) === 'soft') return soft;
  if (isOff(written.get(hard))) return 'evictionHard.memory.available';
  return written.get(soft) === valueText(threshold.value) && written.get(hard) !== valueText(threshold.value) ? soft : hard;
}

/** A hard threshold of memory.available alone. */
export interface MemoryLimit {
  readonly bytes: bigint;
  /** 'memory.available<5% (400MiB)' */
  readonly text: string;
}

/** The highest of these thresholds. undefined: there is none, or the capacity is unknown. */
export function hardMemoryLimit(
  thresholds: readonly Threshold[],
  capacities: ReadonlyMap<Signal, bigint> | undefined,
): MemoryLimit | undefined {
  const capacity = capacities?.get('memory.available');
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

/** The two texts that disable a threshold. */
export function isOff(written: unknown): written is '0%' | '100%' {
  return written === '0%' || written === '100%';
}

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
  const isEstimated = signal === 'memory.kernelAvailable' || (signal === 'memory.available' && machine?.estimated === true);
  if (SIGNAL_FACTS[signal].resource !== 'memory' || isEstimated || capacity === undefined || reserve === undefined) return NO_FLOOR;
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
