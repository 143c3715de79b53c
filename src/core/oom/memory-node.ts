import { minBigInt } from '../quantity/integer.js';

/** Memory of one node of a NUMA machine, in bytes. */
export interface MemoryNode {
  readonly node: number;
  readonly availableBytes: bigint;
  readonly capacityBytes: bigint;
}

/** '0-2,5\n' → 0, 1, 2, 5 (bitmap_parselist). */
export function numbersIn(list: string): readonly number[] {
  return [...list.matchAll(/(\d+)(?:-(\d+))?/g)].flatMap(([, first = '0', last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index),
  );
}

/**
 * The nodes that a cpuset permits, if it keeps its processes off some; undefined: it permits all, or is not there.
 *
 * @param mems  cpuset.mems.effective, on v1 cpuset.effective_mems
 */
export function boundTo(all: readonly number[], mems: string): readonly number[] | undefined {
  const own = numbersIn(mems);
  return own.length > 0 && all.some((node) => !own.includes(node)) ? own : undefined;
}

/**
 * What a process that is bound to the node can get without swapping: as si_mem_available (mm/show_mem.c), for one node.
 *
 * @param meminfo  /sys/devices/system/node/nodeN/meminfo
 * @param zoneinfo  /proc/zoneinfo, for the watermarks and reserves of the node's zones; empty: they are not subtracted
 * @returns undefined where meminfo is not as expected
 */
export function parseMemoryNode(node: number, meminfo: string, zoneinfo: string): MemoryNode | undefined {
  const fields = new Map(
    [...meminfo.matchAll(/^Node \d+ (\S+):\s+(\d+) kB$/gm)].map(([, key = '', kib = '']) => [key, BigInt(kib) * 1024n]),
  );
  const [free, capacityBytes] = [fields.get('MemFree'), fields.get('MemTotal')];
  if (free === undefined || capacityBytes === undefined) return undefined;
  const pages = watermarks(node, zoneinfo);
  // MemTotal is what the zones manage.
  const bytes = (count: bigint): bigint => (pages.managed === 0n ? 0n : (count * capacityBytes) / pages.managed);
  const cache = (fields.get('Active(file)') ?? 0n) + (fields.get('Inactive(file)') ?? 0n);
  const available = [cache, fields.get('KReclaimable') ?? fields.get('SReclaimable') ?? 0n].reduce(
    (sum, held) => sum + held - minBigInt(held / 2n, bytes(pages.low)),
    free - bytes(pages.reserve),
  );
  return { node, availableBytes: available > 0n ? available : 0n, capacityBytes };
}

/** Pages. `reserve`: as calculate_totalreserve_pages (mm/page_alloc.c); `low`: the sum of the zones' low watermarks. */
function watermarks(node: number, zoneinfo: string): { readonly reserve: bigint; readonly low: bigint; readonly managed: bigint } {
  const zones = zoneinfo.split(/^(?=Node \d+, zone )/m).filter((zone) => zone.startsWith(`Node ${String(node)},`));
  return zones.reduce(
    ({ reserve, low, managed }, zone) => {
      const pages = (key: string): bigint => BigInt(new RegExp(`^ +${key} +(\\d+)$`, 'm').exec(zone)?.[1] ?? 0);
      const protection = /^ +protection: \(([\d, ]+)\)$/m.exec(zone)?.[1]?.split(',').map(BigInt) ?? [];
      const kept = protection.reduce((a, b) => (a > b ? a : b), 0n) + pages('high');
      return { reserve: reserve + minBigInt(kept, pages('managed')), low: low + pages('low'), managed: managed + pages('managed') };
    },
    { reserve: 0n, low: 0n, managed: 0n },
  );
}
