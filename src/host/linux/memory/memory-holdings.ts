import { readFileSync } from 'node:fs';
import { attempt } from '../../../errors.js';
import { NO_HOLDINGS, type MemoryHoldings } from '../../../core/budget/growth-base.js';
import { memoryCounters } from '../../../core/budget/memory-growth.js';
import { childPath, cgroupDirectory, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { Binding, FileSpec } from '../../../native/binding.js';
import { fsPath, subdirectoriesIn } from '../../../byte-paths.js';
import { readTmpfs } from './tmpfs-mounts.js';

/** `looked`: at most so many cgroups, about 30 µs each. `measured`: of the largest, the page cache, too, about 40 µs each. */
const LIMITS = { looked: 512, measured: 128 };

type Native = Pick<Binding, 'CgroupTable'>;

/**
 * Reads what holds memory outside the workloads: the uppermost cgroups that have no workload in them, those in slices one
 * by one, each tmpfs, and, of a machine, its kernel. Never throws: what cannot be read is left out.
 *
 * @param node  the node's cgroup; undefined: the machine
 * @param above  cgroups with workloads below them, or whose children an earlier reading has
 * @param isWorkload  whether a cgroup is a workload, or in one
 */
export function readMemoryHoldings(
  native: Native,
  hierarchy: CgroupHierarchy | undefined,
  node: string | undefined,
  above: ReadonlySet<string>,
  isWorkload: (cgroup: string) => boolean,
  limits = LIMITS,
): MemoryHoldings {
  const outside = hierarchy === undefined ? NO_HOLDINGS : cgroupsOutside(native, hierarchy, node ?? '/', above, isWorkload, limits);
  const counters = node === undefined ? memoryCounters(textOf('/proc/meminfo')) : shmemOf(hierarchy, node);
  return { ...outside, counters, tmpfs: readTmpfs() };
}

function shmemOf(hierarchy: CgroupHierarchy | undefined, node: string): ReadonlyMap<string, bigint> {
  const stat = hierarchy && textOf(`${cgroupDirectory(hierarchy, node)}/memory.stat`);
  const [, shmem] = (hierarchy?.version === 1 ? /^total_shmem (\d+)$/m : /^shmem (\d+)$/m).exec(stat ?? '') ?? [];
  return new Map(shmem === undefined ? [] : [['Shmem', BigInt(shmem)]]);
}

function textOf(file: string): string {
  return attempt(() => readFileSync(fsPath(file), 'latin1')) ?? '';
}

/**
 * Level by level, so that the limit leaves out the deepest: in a level first what is above workloads, then the largest
 * slices. A slice for which there is no room counts as a whole.
 */
function cgroupsOutside(
  native: Native,
  hierarchy: CgroupHierarchy,
  root: string,
  above: ReadonlySet<string>,
  isWorkload: (cgroup: string) => boolean,
  { looked, measured }: typeof LIMITS,
): Omit<MemoryHoldings, 'counters' | 'tmpfs'> {
  const usages = new Map<string, bigint>();
  const opened = new Set<string>();
  const unread: string[] = [];
  const isAbove = (path: string): boolean => path === root || above.has(path);
  let room = looked;
  for (let level = [root]; level.length > 0;) {
    const below: string[] = [];
    for (const parent of level) {
      const children = room > 0 ? childrenOf(hierarchy, parent).filter((path) => !isWorkload(path)) : [];
      children.sort((a, b) => Number(above.has(b)) - Number(above.has(a)));
      const fits = room > children.length;
      if (!fits && isAbove(parent)) unread.push(parent);
      if (!fits && !isAbove(parent)) continue;
      usages.delete(parent);
      opened.add(parent);
      for (const [path, bytes] of amountsOf(native, hierarchy, [], children.slice(0, room))) {
        usages.set(path, bytes);
        if (above.has(path) || path.endsWith('.slice')) below.push(path);
      }
      room = Math.max(room - 1 - children.length, 0);
    }
    level = below.sort((a, b) => Number(isAbove(b)) - Number(isAbove(a)) || Number((usages.get(b) ?? 0n) - (usages.get(a) ?? 0n)));
  }
  for (const path of unread) usages.delete(path);
  const bySize = [...usages].sort(([, a], [, b]) => Number(b - a));
  const largest = bySize.slice(0, measured).map(([path]) => path);
  const cache = hierarchy.version === 1 ? ['total_inactive_file', 'total_active_file'] : ['inactive_file', 'active_file'];
  return {
    cgroups: amountsOf(native, hierarchy, cache, largest),
    othersAtMost: bySize[measured]?.[1] ?? 0n,
    unread,
    above: opened,
  };
}

function childrenOf(hierarchy: CgroupHierarchy, path: string): string[] {
  const names = attempt(() => subdirectoriesIn(cgroupDirectory(hierarchy, path))) ?? []; // removed meanwhile
  return names.map((name) => childPath(path, name));
}

/**
 * Memory and swap, in bytes, less what memory.stat counts under `without`: the page cache, which the kernel drops. Where
 * swap is not counted by cgroup, the memory alone.
 */
function amountsOf(
  native: Native,
  hierarchy: CgroupHierarchy,
  without: readonly string[],
  paths: readonly string[],
): ReadonlyMap<string, bigint> {
  if (paths.length === 0) return new Map();
  const [memory, other] =
    hierarchy.version === 1 ? ['memory.usage_in_bytes', 'memory.memsw.usage_in_bytes'] : ['memory.current', 'memory.swap.current'];
  const files: readonly FileSpec[] = [
    { path: memory, format: 'number' },
    { path: other, format: 'number' },
    ...(without.length === 0 ? [] : [{ path: 'memory.stat', format: 'keyed', keys: without } as const]),
  ];
  const table = new native.CgroupTable(files, { maxOpenFiles: 0 });
  try {
    const rows = paths.flatMap((path): (readonly [string, number])[] => {
      return attempt(() => [[path, table.add(cgroupDirectory(hierarchy, path))]]) ?? []; // removed meanwhile
    });
    const values = new Float64Array(table.rowCount * table.columns);
    table.read(values, new Int32Array(table.rowCount));
    return new Map(
      rows.flatMap(([path, row]) => {
        const [usage = NaN, swap = NaN, ...cache] = values.subarray(row * table.columns, (row + 1) * table.columns);
        const all = hierarchy.version === 1 ? Math.max(usage, swap || 0) : usage + (swap || 0);
        const held = cache.reduce((rest, part) => rest - part, all);
        return Number.isFinite(held) ? [[path, BigInt(Math.max(held, 0))] as const] : [];
      }),
    );
  } finally {
    table.close();
  }
}
