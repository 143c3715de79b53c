import { existsSync, readFileSync } from 'node:fs';
import type { MemoryReserve } from '../../../core/signal/memory-reserve.js';

/** The texts of the kernel's files. */
export interface ReserveFiles {
  readonly meminfo: string;
  readonly minFreeKbytes: string;
  readonly vmstat: string;
  readonly swaps: string;
  /** Empty: not readable. */
  readonly zoneinfo: string;
}

/**
 * Memory that no process can have.
 *
 * Hugetlb is the size of all pools; kernels before 4.16 have only HugePages_Total × Hugepagesize, the default pool. The
 * kernel's own memory is SUnreclaim, stacks, page tables, per-CPU areas and zsmalloc's pools (nr_zspages of
 * /proc/vmstat); pages that a driver took from the page allocator are listed nowhere.
 *
 * @returns undefined where a file is not as expected
 */
export function parseMemoryReserve(
  { meminfo, minFreeKbytes, vmstat, swaps, zoneinfo }: ReserveFiles,
  pageSize: bigint,
): MemoryReserve | undefined {
  const fields = new Map([...meminfo.matchAll(/^(\S+):\s+(\d+)/gm)].map(([, key = '', value = '']) => [key, BigInt(value)]));
  const kilobytes = (key: string): bigint => (fields.get(key) ?? 0n) * 1024n;
  const totalBytes = kilobytes('MemTotal');
  const minFree = /^\d+$/.exec(minFreeKbytes.trim())?.[0];
  if (totalBytes === 0n || minFree === undefined) return undefined;
  const highBytes = highWatermark(zoneinfo, pageSize);
  return {
    totalBytes,
    minFreeBytes: BigInt(minFree) * 1024n,
    hugePagesBytes: fields.has('Hugetlb') ? kilobytes('Hugetlb') : (fields.get('HugePages_Total') ?? 0n) * kilobytes('Hugepagesize'),
    kernelBytes: ['SUnreclaim', 'KernelStack', 'PageTables', 'SecPageTables', 'Percpu'].reduce(
      (sum, key) => sum + kilobytes(key),
      BigInt(/^nr_zspages (\d+)$/m.exec(vmstat)?.[1] ?? 0) * pageSize,
    ),
    swapBytes: kilobytes('SwapTotal'),
    ...(highBytes !== undefined && { highBytes }),
    ...(/^\/dev\/zram/m.test(swaps) && { zram: true }),
  };
}

/** The sum of 'high' (pages) over the zones that have memory; undefined: no such zone. */
function highWatermark(zoneinfo: string, pageSize: bigint): bigint | undefined {
  // Movable and Device are listed with watermarks even when they are empty.
  const zones = zoneinfo.split(/^Node /m).filter((zone) => /^ +managed +[1-9]/m.test(zone));
  const pages = zones.reduce((sum, zone) => sum + BigInt(/^ +high +(\d+)$/m.exec(zone)?.[1] ?? 0), 0n);
  return zones.length === 0 ? undefined : pages * pageSize;
}

/** undefined: not readable, or not as expected. */
export function readMemoryReserve(): MemoryReserve | undefined {
  try {
    const files = {
      meminfo: readFileSync('/proc/meminfo', 'latin1'),
      minFreeKbytes: readFileSync('/proc/sys/vm/min_free_kbytes', 'latin1'),
      vmstat: readFileSync('/proc/vmstat', 'latin1'),
      swaps: ifAny('/proc/swaps'),
      zoneinfo: ifAny('/proc/zoneinfo'),
    };
    return parseMemoryReserve(files, readPageSize());
  } catch {
    return undefined;
  }
}

const ifAny = (path: string): string => (existsSync(path) ? readFileSync(path, 'latin1') : '');

const AT_PAGESZ = 6n;

/** The kernel's page size in bytes, from the auxiliary vector (man 3 getauxval): pairs of native words. */
export function parsePageSize(auxv: Buffer): bigint | undefined {
  for (let at = 0; at + 16 <= auxv.length; at += 16) {
    if (auxv.readBigUInt64LE(at) === AT_PAGESZ) return auxv.readBigUInt64LE(at + 8);
  }
  return undefined;
}

/** 4 KiB where it is unknown: a page size that is too small registers a little early, never too late. */
export function readPageSize(): bigint {
  return parsePageSize(readFileSync('/proc/self/auxv')) ?? 4096n;
}
