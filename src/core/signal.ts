/** The kubelet's eviction signals (pkg/kubelet/eviction/api/types.go, v1.36.2), in the order in which they are shown and, where nothing else decides, acted on. */
export const SIGNALS = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const;
export type Signal = (typeof SIGNALS)[number];

/** Those that this version reads on a machine. */
export const WATCHED_SIGNALS = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'pid.available',
] as const satisfies readonly Signal[];

/** What runs out, in the kubelet's words. Evictions of one resource exclude each other. */
export type Resource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

/** What evicting a machine workload (a cgroup) is known to give back: a removed cgroup frees none of its files. */
export const MACHINE_RESOURCES: ReadonlySet<Resource> = new Set<Resource>(['memory']);

export const CONDITION_TYPES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;
export type ConditionType = (typeof CONDITION_TYPES)[number];

export interface SignalFacts {
  readonly resource: Resource;
  readonly condition: ConditionType;
  readonly unit: 'bytes' | 'inodes' | 'processes';
}

const bytesOf = (resource: Resource, condition: ConditionType): SignalFacts => ({ resource, condition, unit: 'bytes' });
const inodes: SignalFacts = { resource: 'inodes', condition: 'DiskPressure', unit: 'inodes' };

export const SIGNAL_FACTS: Readonly<Record<Signal, SignalFacts>> = {
  'memory.available': bytesOf('memory', 'MemoryPressure'),
  'allocatableMemory.available': bytesOf('memory', 'MemoryPressure'),
  'nodefs.available': bytesOf('ephemeral-storage', 'DiskPressure'),
  'nodefs.inodesFree': inodes,
  'imagefs.available': bytesOf('ephemeral-storage', 'DiskPressure'),
  'imagefs.inodesFree': inodes,
  'containerfs.available': bytesOf('ephemeral-storage', 'DiskPressure'),
  'containerfs.inodesFree': inodes,
  'pid.available': { resource: 'pids', condition: 'PIDPressure', unit: 'processes' },
};

export function isSignal(text: string): text is Signal {
  return (SIGNALS as readonly string[]).includes(text);
}

export function isWatched(signal: Signal): boolean {
  return (WATCHED_SIGNALS as readonly Signal[]).includes(signal);
}
