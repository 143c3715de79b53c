import { readFileSync } from 'node:fs';
import { attempt } from '../../../errors.js';
import type { MemoryHoldings } from '../../../core/budget/growth-base.js';
import { memoryCounters } from '../../../core/budget/memory-growth.js';
import { childPath, cgroupDirectory, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { Binding, FileSpec } from '../../../native/binding.js';
import { subdirectoriesIn } from '../../../byte-paths.js';

/** At most so many cgroups are read, about 40 µs each. */
const MAX_CGROUPS = 128;

/**
 * Reads what holds memory outside the workloads: the uppermost cgroups that have no workload in them, those in slices one
 * by one, and, of a machine, its kernel and tmpfs. Never throws: what cannot be read is left out.
 *
 * @param node  the node's cgroup; undefined: the machine
 * @param above  cgroups with workloads below them
 * @param isWorkload  whether a cgroup is a workload, or in one
 */
export function readMemoryHoldings(
  native: Pick<Binding, 'CgroupTable'>,
  hierarchy: CgroupHierarchy | undefined,
  node: string | undefined,
  above: ReadonlySet<string>,
  isWorkload: (cgroup: string) => boolean,
): MemoryHoldings {
  const paths = hierarchy === undefined ? [] : pathsOutside(hierarchy, node ?? '/', above, isWorkload);
  return {
    cgroups: hierarchy === undefined ? new Map() : usageOf(native, hierarchy, paths),
    isPartial: paths.length === MAX_CGROUPS,
    counters: node === undefined ? memoryCounters(attempt(() => readFileSync('/proc/meminfo', 'latin1')) ?? '') : new Map(),
    above,
  };
}

/** Level by level, so that the limit leaves out the deepest. */
function pathsOutside(
  hierarchy: CgroupHierarchy,
  root: string,
  above: ReadonlySet<string>,
  isWorkload: (cgroup: string) => boolean,
): readonly string[] {
  const found: string[] = [];
  const opened = [root];
  for (let at = 0; at < opened.length && at < MAX_CGROUPS; at += 1) {
    const parent = opened[at] ?? root;
    for (const name of childrenOf(hierarchy, parent)) {
      const path = childPath(parent, name);
      if (isWorkload(path)) continue;
      if (above.has(path) || name.endsWith('.slice')) opened.push(path);
      else found.push(path);
      if (found.length === MAX_CGROUPS) return found;
    }
  }
  return found;
}

function childrenOf(hierarchy: CgroupHierarchy, path: string): readonly string[] {
  return attempt(() => subdirectoriesIn(cgroupDirectory(hierarchy, path))) ?? []; // removed meanwhile
}

/** Usage without the page cache, which the kernel drops. */
function usageOf(native: Pick<Binding, 'CgroupTable'>, hierarchy: CgroupHierarchy, paths: readonly string[]): ReadonlyMap<string, bigint> {
  const all = hierarchy.version === 1 ? 'total_' : '';
  const files: readonly FileSpec[] = [
    { path: hierarchy.version === 1 ? 'memory.usage_in_bytes' : 'memory.current', format: 'number' },
    { path: 'memory.stat', format: 'keyed', keys: [`${all}inactive_file`, `${all}active_file`] },
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
        const [usage = NaN, inactive = NaN, active = NaN] = values.subarray(row * table.columns, (row + 1) * table.columns);
        const held = usage - inactive - active;
        return Number.isFinite(held) ? [[path, BigInt(Math.max(held, 0))] as const] : [];
      }),
    );
  } finally {
    table.close();
  }
}
