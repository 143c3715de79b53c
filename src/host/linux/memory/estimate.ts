import { readFileSync } from 'node:fs';
import { attempt } from '../../../errors.js';
import type { Missing } from '../sampling/kernel-source.js';
import { readPageSize } from './memory-reserve.js';

/** The texts of /proc/meminfo and /proc/zoneinfo at one time. */
export interface EstimateFiles {
  readonly meminfo: string;
  readonly zoneinfo: string;
}

type Amounts = Float64Array | readonly number[];

export function readEstimateFiles(): EstimateFiles {
  return { meminfo: readFileSync('/proc/meminfo', 'latin1'), zoneinfo: readFileSync('/proc/zoneinfo', 'latin1') };
}

/**
 * What no machine can have: MemAvailable is a part of MemTotal, and not less than MemFree − the kernel's reserve. That
 * is read only if MemAvailable is far below MemFree, and all of it again: the reserve changes with vm.min_free_kbytes,
 * and a reader that has to wait in between sees two times in one reading.
 *
 * @param values  MemTotal, MemAvailable and MemFree, in bytes
 * @returns undefined: possible, or not known
 */
export function impossibleEstimate(values: Amounts, again: () => EstimateFiles): Missing | undefined {
  const [total = NaN, available = NaN] = values;
  if (!(total > 0)) return mixed('MemTotal is 0');
  if (available > total) return mixed('MemAvailable is more than MemTotal');
  if (!isFarBelow(values, 0)) return undefined;
  const files = attempt(again);
  if (files === undefined) return undefined;
  const now = amountsIn(files.meminfo, ['MemTotal', 'MemAvailable', 'MemFree']);
  const reserve = reserveOf(files.zoneinfo, now[0] ?? NaN);
  return reserve !== undefined && isFarBelow(now, reserve) ? mixed("MemAvailable is less than MemFree − the kernel's reserve") : undefined;
}

/** Each processor counts some pages for itself. NaN is not far below. */
function isFarBelow([total = NaN, available = NaN, free = NaN]: Amounts, reserve: number): boolean {
  return available + reserve + total / 20 < free;
}

/**
 * What no machine can have: more pages than memory. lxcfs before version 4 shows a container's MemTotal and MemFree beside
 * the machine's AnonPages. Free, anonymous and file pages are disjoint; a page in the swap cache may count twice, so
 * SwapCached is left out. If only the free pages are too many, all is read again: memory that is allocated while the kernel
 * writes the file counts as free and as used.
 *
 * @param values  in bytes: MemTotal, AnonPages, Cached, Buffers, SwapCached, Inactive(file), MemFree
 * @returns undefined: possible, or not known
 */
export function impossiblePages(values: Amounts, again: () => EstimateFiles): Missing | undefined {
  const [total = NaN, anonymous = NaN, cached = NaN, buffers = NaN, , inactive = NaN, free = NaN] = values;
  if (!(anonymous + cached + buffers <= total)) return mixed('AnonPages + Cached + Buffers are more than MemTotal');
  // Each processor counts some pages for itself before they are in the sums.
  if (inactive > cached + buffers + total / 100) return mixed('Inactive(file) is more than Cached + Buffers');
  if (!isFarAbove([total, anonymous, cached, buffers, free])) return undefined;
  const files = attempt(again);
  const now = files && amountsIn(files.meminfo, ['MemTotal', 'AnonPages', 'Cached', 'Buffers', 'MemFree']);
  return now && isFarAbove(now) ? mixed('AnonPages + Cached + Buffers + MemFree are more than MemTotal') : undefined;
}

/** What processors have counted but not added yet (mm/vmstat.c) is less than a twentieth. NaN is not far above. */
function isFarAbove([total = NaN, ...pages]: Amounts): boolean {
  return pages.reduce((sum, bytes) => sum + bytes, 0) > total + total / 20;
}

function amountsIn(text: string, keys: readonly string[]): number[] {
  return keys.map((key) => Number(new RegExp(`^${key}: +(\\d+) kB$`, 'm').exec(text)?.[1] ?? NaN) * 1024);
}

/**
 * totalreserve_pages in bytes (mm/page_alloc.c, calculate_totalreserve_pages): of each zone the high watermark and what
 * it keeps from allocations that could take other zones. 0 if the zones are those of a larger machine, because lxcfs
 * subtracts none. undefined: not readable.
 */
function reserveOf(zoneinfo: string, total: number): number | undefined {
  const pageSize = Number(readPageSize());
  let [managed, reserve] = [0, 0];
  for (const zone of zoneinfo.split(/^Node /m)) {
    const pages = Number(/^ +managed +(\d+)$/m.exec(zone)?.[1] ?? 0);
    const high = Number(/^ +high +(\d+)$/m.exec(zone)?.[1] ?? 0);
    const kept = /^ +protection: \(([\d, ]+)\)$/m.exec(zone)?.[1]?.split(',').map(Number) ?? [];
    managed += pages * pageSize;
    reserve += Math.min(pages, high + Math.max(0, ...kept)) * pageSize;
  }
  if (managed === 0) return undefined;
  return total < managed * 0.95 ? 0 : reserve;
}

function mixed(how: string): Missing {
  return { missing: `/proc/meminfo mixes two machines (lxcfs?): ${how}` };
}
