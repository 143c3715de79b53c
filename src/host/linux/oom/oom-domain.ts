import { readFileSync, statSync } from 'node:fs';
import { attempt } from '../../../errors.js';
import { childPath, cgroupDirectory, isBelow, withAncestors, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { OomDomain } from '../../../core/oom/oom-reading.js';
import { fsPath, namesText, subdirectoriesIn } from '../../../byte-paths.js';

/** The kernel's files; tests have other directories. */
export interface OomRoots {
  readonly proc: string;
  readonly hierarchy: CgroupHierarchy | undefined;
}

/** Larger limits mean none: the kernel writes the largest multiple of its page size (v1) or 'max'. */
const NO_LIMIT = 2n ** 62n;

/** RAM and swap: the kernel's totalram_pages and total_swap_pages. */
export function machineMemory({ proc }: OomRoots): { readonly totalBytes: bigint; readonly swapBytes: bigint } {
  const meminfo = readFileSync(`${proc}/meminfo`, 'utf8');
  const [ram = 0n, swapBytes = 0n] = ['MemTotal', 'SwapTotal'].map((key) => {
    const [, kib] = new RegExp(`^${key}:\\s*(\\d+) kB$`, 'm').exec(meminfo) ?? [];
    return BigInt(kib ?? 0) * 1024n;
  });
  return { totalBytes: ram + swapBytes, swapBytes };
}

/**
 * The memcg that an OOM in `path` belongs to: the nearest one with a limit, itself included, else the machine. Its size
 * is its limit plus the swap that it may use (mm/memcontrol.c, mem_cgroup_get_max), whatever the limits above it.
 */
export function domainOf(path: string, roots: OomRoots): OomDomain {
  const machine = machineMemory(roots);
  const { hierarchy } = roots;
  for (const cgroup of hierarchy ? withAncestors(path) : []) {
    if (!hierarchy) break;
    const directory = cgroupDirectory(hierarchy, cgroup);
    const limit = limitIn(`${directory}/${hierarchy.version === 1 ? 'memory.limit_in_bytes' : 'memory.max'}`);
    if (limit === undefined || limit >= NO_LIMIT) continue;
    return { cgroup, totalBytes: limit + usableSwap(directory, limit, machine.swapBytes, roots) };
  }
  return { cgroup: undefined, totalBytes: machine.totalBytes };
}

/** v1 has a swappiness per memcg, and one limit for memory and swap together. */
function usableSwap(directory: string, limit: bigint, machineSwap: bigint, { proc, hierarchy }: OomRoots): bigint {
  const v1 = hierarchy?.version === 1;
  if (limitIn(v1 ? `${directory}/memory.swappiness` : `${proc}/sys/vm/swappiness`) === 0n) return 0n;
  const allowed = v1
    ? (limitIn(`${directory}/memory.memsw.limit_in_bytes`) ?? limit) - limit
    : (limitIn(`${directory}/memory.swap.max`) ?? 0n);
  return allowed < machineSwap ? allowed : machineSwap;
}

/** undefined: not readable. 'max' is not a limit. */
export function limitIn(file: string): bigint | undefined {
  const text = textOf(file)?.trim();
  if (text === 'max') return 2n ** 63n;
  return text !== undefined && /^\d+$/.test(text) ? BigInt(text) : undefined;
}

/** The memcg and its descendants in the kernel's order: a parent before its children, the older child first. */
export function walk(hierarchy: CgroupHierarchy, path: string): string[] {
  try {
    const directory = cgroupDirectory(hierarchy, path);
    const children = subdirectoriesIn(directory)
      .map((name) => ({ name, id: statSync(fsPath(`${directory}/${name}`), { bigint: true }).ino }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    return [path, ...children.flatMap(({ name }) => walk(hierarchy, childPath(path, name)))];
  } catch {
    return [path]; // removed meanwhile: it has no processes
  }
}

/**
 * The cgroup that is killed with a process: the highest one with memory.oom.group up to the domain
 * (mem_cgroup_get_oom_group). v1 has none.
 */
export function groupFinder(domain: string | undefined, { hierarchy }: OomRoots): (cgroup: string) => string | undefined {
  const set = new Map<string, boolean>();
  const isSet = (cgroup: string, v2: CgroupHierarchy): boolean => {
    const known = set.get(cgroup) ?? limitIn(`${cgroupDirectory(v2, cgroup)}/memory.oom.group`) === 1n;
    set.set(cgroup, known);
    return known;
  };
  if (hierarchy?.version !== 2) return () => undefined;
  return (cgroup) =>
    withAncestors(cgroup)
      .filter((above) => domain === undefined || above === domain || isBelow(above, domain))
      .findLast((above) => isSet(above, hierarchy));
}

export function textOf(file: string): string | undefined {
  return attempt(() => namesText(file));
}

/** A field of /proc/PID/status; undefined: it has none of that name. */
export function fieldOf(status: string, key: string): string | undefined {
  // Not ^ and $: a name may hold U+2028, which is a line's end to them.
  const [, value] = new RegExp(`(?:^|\\n)${key}:[ \\t]*([^\\n]*)`).exec(status) ?? [];
  return value;
}
