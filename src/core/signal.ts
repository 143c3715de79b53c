/** The eviction signals that this version watches (kubelet: pkg/kubelet/eviction/api/types.go). */
export const SIGNALS = ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'pid.available'] as const;
export type Signal = (typeof SIGNALS)[number];

/** What runs out. Evictions of one resource exclude each other. */
export type Resource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

export const CONDITION_TYPES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;
export type ConditionType = (typeof CONDITION_TYPES)[number];

export interface SignalFacts {
  readonly resource: Resource;
  readonly condition: ConditionType;
  readonly unit: 'bytes' | 'inodes' | 'processes';
  /** Whether evicting a workload is known to give this resource back; if not, a threshold sets the condition and alerts. */
  readonly evictable: boolean;
}

export const SIGNAL_FACTS: Readonly<Record<Signal, SignalFacts>> = {
  'memory.available': { resource: 'memory', condition: 'MemoryPressure', unit: 'bytes', evictable: true },
  'nodefs.available': { resource: 'ephemeral-storage', condition: 'DiskPressure', unit: 'bytes', evictable: false },
  'nodefs.inodesFree': { resource: 'inodes', condition: 'DiskPressure', unit: 'inodes', evictable: false },
  'pid.available': { resource: 'pids', condition: 'PIDPressure', unit: 'processes', evictable: false },
};

export function isSignal(text: string): text is Signal {
  return (SIGNALS as readonly string[]).includes(text);
}
