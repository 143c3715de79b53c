import { cgroupDirectory, withAncestors, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import type { OwnAmountSignal } from '../../../core/signal/signal.js';
import type { FileSpec } from '../../../native/binding.js';
import { firstError, type KernelSource, type Missing } from '../sampling/kernel-source.js';
import { level, narrowestOf, type Level, type LevelReading } from '../sampling/level.js';
import { impossibleEstimate, readEstimateFiles } from './estimate.js';

/** An amount of memory or swap that is left, in bytes. */
export type AmountSource = KernelSource<LevelReading | Missing>;

/** A cgroup as the node; undefined: the machine. */
type NodeCgroup = { readonly hierarchy: CgroupHierarchy; readonly path: string } | undefined;

/** The reader of each amount that the kubelet does not have. A missing one does not compile. */
const AMOUNTS: Readonly<Record<OwnAmountSignal, (cgroup: NodeCgroup) => AmountSource>> = {
  'memory.kernelAvailable': (cgroup) => kernelAvailable(cgroup !== undefined),
  'swap.available': (cgroup) =>
    cgroup?.hierarchy.version === 2 ? cgroupSwap(cgroup.hierarchy, cgroup.path) : machineSwap(cgroup !== undefined),
};

export function amountSources(cgroup: NodeCgroup): Readonly<Record<OwnAmountSignal, AmountSource>> {
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

/** swap.available of the machine. Without swap there is no such signal. */
export function machineSwap(isCgroup: boolean): AmountSource {
  const source = `SwapFree of /proc/meminfo${isCgroup ? " (the machine's: a v1 cgroup's swap is not counted apart)" : ''}`;
  return {
    files: [swapFile],
    read: (values, errors) => {
      const [total = NaN, free = NaN] = values;
      return (
        firstError([swapFile], errors) ?? impossibleSwap(total, free) ?? swapOf(level(total, total - free, machine(swapFile, source)), [])
      );
    },
  };
}

/**
 * swap.available of a v2 cgroup: memory.swap.max − memory.swap.current of it and each ancestor, and the machine's; the
 * level with the least left counts.
 */
export function cgroupSwap(hierarchy: CgroupHierarchy, path: string): AmountSource {
  const cgroups = withAncestors(path).map((cgroup) => {
    const directory = cgroupDirectory(hierarchy, cgroup);
    const current: FileSpec = { path: `${directory}/memory.swap.current`, format: 'number' };
    const limit: FileSpec = { path: `${directory}/memory.swap.max`, format: 'number' };
    return { cgroup, current, limit };
  });
  const files = [swapFile, ...cgroups.flatMap(({ current, limit }) => [current, limit])];
  const required = files.slice(0, 2);
  return {
    files,
    read: (values, errors) => {
      const [total = NaN, free = NaN, ...amounts] = values;
      const missing = firstError(required, errors.subarray(0, required.length)) ?? impossibleSwap(total, free);
      if (missing) return missing;
      const none = cgroups.find((_, index) => amounts[2 * index + 1] === 0);
      if (none && total > 0) return { missing: `${none.cgroup} may not use swap`, absent: true };
      const levels = cgroups.flatMap(({ cgroup, current }, index) => {
        const [used = NaN, limit = NaN] = amounts.slice(2 * index, 2 * index + 2);
        // v2's root has neither file. A limit of at least the machine's total adds nothing.
        if (Number.isNaN(used) || !(limit < total)) return [];
        const source = `memory.swap.max − memory.swap.current of ${cgroup}`;
        return [level(limit, used, { source, used: { files: [current], weights: [1] } })];
      });
      return swapOf(level(total, total - free, machine(swapFile, 'SwapFree of /proc/meminfo')), levels);
    },
  };
}

function machine(file: FileSpec, source: string): Pick<Level, 'source' | 'used'> {
  return { source, used: { files: [file], weights: [1, -1] } };
}

function swapOf(ofMachine: Level, levels: readonly Level[]): LevelReading | Missing {
  if (ofMachine.capacity === 0n) return { missing: 'this machine has no swap', absent: true };
  return narrowestOf(ofMachine, levels);
}
