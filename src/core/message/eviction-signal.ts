import type { Decision } from '../decide/eviction.js';
import type { Signal } from '../signal/signal.js';
import type { StorageBreach } from '../disk/storage-limit.js';

/**
 * The name for an eviction because of a workload's own limit (kubelet: eviction_manager.go, signalEmptyDirFsLimit and
 * the others, v1.36.2).
 */
export const STORAGE_LIMIT_SIGNALS = ['emptydirfs.limit', 'ephemeralpodfs.limit', 'ephemeralcontainerfs.limit'] as const;
export type StorageLimitSignal = (typeof STORAGE_LIMIT_SIGNALS)[number];

/** The signal of an eviction that a policy decided. */
export const POLICY_SIGNAL = 'policy';

/** The signal of an eviction that is not for a resource: for a taint, or by an operator. */
export const DISRUPTION_SIGNAL = 'disruption';

export type EvictionSignal = Signal | StorageLimitSignal | typeof POLICY_SIGNAL | typeof DISRUPTION_SIGNAL;

const BY_BREACH: Readonly<Record<StorageBreach['kind'], StorageLimitSignal>> = {
  emptyDir: 'emptydirfs.limit',
  pod: 'ephemeralpodfs.limit',
  container: 'ephemeralcontainerfs.limit',
};

export function evictionSignal({ cause }: Pick<Decision, 'cause'>): EvictionSignal {
  switch (cause.kind) {
    case 'threshold':
      return cause.threshold.signal;
    case 'storage-limit':
      return BY_BREACH[cause.breach.kind];
    case 'policy':
      return POLICY_SIGNAL;
    case 'disruption':
      return DISRUPTION_SIGNAL;
  }
}
