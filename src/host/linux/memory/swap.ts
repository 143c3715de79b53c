import { cgroupDirectory, withAncestors, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { OwnAmountSignal } from '../../../core/signal/signal.js';
import type { FileSpec } from '../../../native/binding.js';
import { firstError, type KernelSource, type Missing } from '../sampling/kernel-source.js';
import { level, narrowestOf, type Level, type LevelReading } from '../sampling/level.js';
import { impossibleEstimate, readEstimateFiles } from './estimate.js';

/** An amount of memory or swap that is left, in bytes. */
export type AmountSource = KernelSource<LevelReading | Missing>;

/** A cgroup whose limits apply: the node, or what a container sees as the root. undefined: the machine. */
type LimitingCgroup = { readonly hierarchy: CgroupHierarchy; readonly path: string } | undefined;

/** The reader of each amount that the kubelet does not have. A missing one does not compile. */
const AMOUNTS: Readonly<Record<OwnAmountSignal, (cgroup: LimitingCgroup) => AmountSource>> = {
  'memory.kernelAvailable': (cgroup) => kernelAvailable(cgroup !== undefined),
  'swap.available': (cgroup) => swapAvailable(cgroup),
};

export function amountSources(cgroup: LimitingCgroup): Readonly<Record<OwnAmountSignal, AmountSource>> {
  const sources = Object.entries(AMOUNTS).map(([signal, open]) => [signal, open(cgroup)] as const);
  return Object.fromEntries(sources) as Record<OwnAmountSignal, AmountSource>;
}

const meminfo = (...keys: string[]): FileSpec => ({ path: '/proc/meminfo', format: 'keyed', keys });

/**
 * memory.kernelAvailable: MemAvailable, the kernel's estimate without swapping (Documentation/filesystems/proc.rst).
 */
export function kernelAvailable(isCgroup: boolean): AmountSource {
  const file = meminfo('MemTotal', 'MemAvailable', 'MemFree');
  const source = `MemAvailable of /proc/meminfo${isCgroup ? " (the machine's)" : ''}`;
  return {
    files: [file],
    read: (values, errors) => {
      const [total = NaN, available = NaN] = values;
      const missing = firstError([file], errors) ?? impossibleEstimate(values, readEstimateFiles);
      return missing ?? narrowestOf(level(total, total - available, { source, used: { files: [file], weights: [1, -1, 0] } }), []);
    },
  };
}

const swapFile = meminfo('SwapTotal', 'SwapFree');

function impossibleSwap(total: number, free: number): Missing | undefined {
  return free > total ? { missing: '/proc/meminfo mixes two machines (lxcfs?): SwapFree is more than SwapTotal' } : undefined;
}

/** How much swap a cgroup may use, and uses. */
interface SwapFiles {
  readonly files: readonly FileSpec[];
  /** NaN: not counted here. Infinity, or more than there is: no limit. */
  readonly limitOf: (amounts: readonly number[]) => number;
  readonly source: string;
}

/** The kernel does not count swap of the root. The fields begin with what is used. */
function swapFiles(version: 1 | 2, directory: string): SwapFiles {
  if (version === 2) {
    const files = ['memory.swap.current', 'memory.swap.max'].map((name): FileSpec => ({ path: `${directory}/${name}`, format: 'number' }));
    return { files, limitOf: ([, limit = NaN]) => limit, source: 'memory.swap.max − memory.swap.current' };
  }
  // v1 has a limit of memory and swap together (without swap accounting none), and names those that apply, as for memory.
  const keys = ['total_swap', 'hierarchical_memory_limit', 'hierarchical_memsw_limit'];
  return {
    files: [{ path: `${directory}/memory.stat`, format: 'keyed', keys }],
    limitOf: ([, memory = NaN, together = NaN]) => (together < V1_NO_LIMIT ? together - memory : Infinity),
    source: 'memory.memsw.limit_in_bytes − memory.limit_in_bytes − swap',
  };
}

/** No limit is the largest number of whole pages in 63 bits. */
const V1_NO_LIMIT = 2 ** 62;

/**
 * swap.available: the machine's, or what the cgroup or one above it may still use, where that is less. Without swap there
 * is no such signal.
 */
export function swapAvailable(cgroup: LimitingCgroup): AmountSource {
  const levels = (cgroup === undefined ? [] : withAncestors(cgroup.path)).map((path) => {
    const { version } = cgroup?.hierarchy ?? { version: 2 };
    return { path, ...swapFiles(version, cgroup === undefined ? '' : cgroupDirectory(cgroup.hierarchy, path)) };
  });
  const files = [swapFile, ...levels.flatMap(({ files: own }) => own)];
  // The root that a container sees is there. Without its files, swap is not counted.
  const required = files.slice(0, cgroup?.hierarchy.version === 2 && cgroup.path !== '/' ? 2 : 1);
  return {
    files,
    read: (values, errors) => {
      const [total = NaN, free = NaN, ...amounts] = values;
      const missing = firstError(required, errors.subarray(0, required.length)) ?? impossibleSwap(total, free);
      if (missing) return missing;
      const source = { source: 'SwapFree of /proc/meminfo', used: { files: [swapFile], weights: [1, -1] } };
      const machine = level(total, total - free, source);
      if (machine.capacity === 0n) return { missing: 'this machine has no swap', absent: true };
      const width = amounts.length / levels.length;
      const limits = levels.map((one, index) => ({ ...one, amounts: amounts.slice(width * index, width * (index + 1)) }));
      const none = limits.find(({ amounts: own, limitOf }) => limitOf(own) === 0);
      if (none) return { missing: `${none.path} may not use swap`, absent: true };
      const smaller = limits.flatMap(({ path, amounts: own, limitOf, files: [file], source: text }): Level[] => {
        const [used = NaN, limit] = [own[0], limitOf(own)];
        // A limit of at least the machine's total adds nothing.
        if (Number.isNaN(used) || !(limit < total) || file === undefined) return [];
        const weights = file.format === 'keyed' ? file.keys.map((_, field) => (field === 0 ? 1 : 0)) : [1];
        return [level(limit, used, { source: `${text} of ${path}`, used: { files: [file], weights } })];
      });
      return narrowestOf(machine, smaller);
    },
  };
}
