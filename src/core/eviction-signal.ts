import type { Decision } from './eviction.js';
import type { Signal } from './signal.js';
import type { StorageBreach } from './storage-limit.js';

/** What stands for a signal where a workload went because of its own limit (kubelet: eviction_manager.go, signalEmptyDirFsLimit and the like, v1.36.2). */
export const STORAGE_LIMIT_SIGNALS = ['emptydirfs.limit', 'ephemeralpodfs.limit', 'ephemeralcontainerfs.limit'] as const;
export type StorageLimitSignal = (typeof STORAGE_LIMIT_SIGNALS)[number];

/** What evictions are counted by. */
export type EvictionSignal = Signal | StorageLimitSignal;

const BY_BREACH: Readonly<Record<StorageBreach['kind'], StorageLimitSignal>> = {
  emptyDir: 'emptydirfs.limit',
  pod: 'ephemeralpodfs.limit',
  container: 'ephemeralcontainerfs.limit',
};

export function evictionSignal({ cause }: Pick<Decision, 'cause'>): EvictionSignal {
  return cause.kind === 'threshold' ? cause.threshold.signal : BY_BREACH[cause.breach.kind];
}
