import type { MemoryFacts } from '../../facts/kernel-facts.js';
import { readPageSize } from '../memory/page-size.js';
import { numberIfAny, textIfAny } from './text-file.js';

export function readMemory(): MemoryFacts {
  const meminfo = textIfAny('/proc/meminfo') ?? '';
  const bytes = (key: string): bigint => BigInt(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(meminfo)?.[1] ?? 0) * 1024n;
  const zoneinfo = textIfAny('/proc/zoneinfo');
  return {
    overcommitMemory: numberIfAny('/proc/sys/vm/overcommit_memory'),
    totalBytes: bytes('MemTotal'),
    commitLimitBytes: bytes('CommitLimit'),
    swapBytes: bytes('SwapTotal'),
    swaps: swapNames(textIfAny('/proc/swaps') ?? ''),
    swappiness: numberIfAny('/proc/sys/vm/swappiness'),
    watermarks: zoneinfo === undefined ? undefined : watermarksOf(zoneinfo, readPageSize()),
  };
}

/** The first column below the heading; the kernel writes blanks in it as \040. */
export function swapNames(swaps: string): string[] {
  return swaps
    .split('\n')
    .slice(1)
    .flatMap((line) => /^\S+/.exec(line)?.[0] ?? []);
}

/**
 * /proc/zoneinfo: the sums of 'min', 'low' and 'high' (pages) over the zones that have memory. undefined: no such zone.
 */
export function watermarksOf(zoneinfo: string, pageSize: bigint): MemoryFacts['watermarks'] {
  // Movable and Device are listed with watermarks even when they are empty.
  const zones = zoneinfo.split(/^Node /m).filter((zone) => /^ +managed +[1-9]/m.test(zone));
  const sum = (name: string): bigint =>
    zones.reduce((total, zone) => total + BigInt(new RegExp(`^ +${name} +(\\d+)$`, 'm').exec(zone)?.[1] ?? 0), 0n) * pageSize;
  return zones.length === 0 ? undefined : { minBytes: sum('min'), lowBytes: sum('low'), highBytes: sum('high') };
}
