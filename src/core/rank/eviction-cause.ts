import type { StorageBreach } from '../disk/storage-limit.js';
import type { PolicyCause } from '../policy/policy-reason.js';
import type { Observation } from '../signal/observation.js';
import { filesystemOf, type Signal } from '../signal/signal.js';
import { thresholdKind, type Threshold } from '../threshold/threshold.js';
import type { RankedWorkload } from './rank.js';
import type { ThresholdCause } from '../threshold/threshold-cause.js';

/** The workload exceeds its own limit of local storage. */
export interface StorageLimitCause {
  readonly kind: 'storage-limit';
  readonly breach: StorageBreach;
}

export type EvictionCause = ThresholdCause | StorageLimitCause | PolicyCause;

/** The reading of the node that an eviction is compared with. undefined: there is none. */
export function nodeBefore(cause: EvictionCause): { readonly signal: Signal; readonly observation: Observation } | undefined {
  switch (cause.kind) {
    case 'threshold':
      return { signal: cause.threshold.signal, observation: cause.observation };
    case 'storage-limit':
      return undefined;
    case 'policy':
      return cause.memory && { signal: 'memory.available', observation: cause.memory };
  }
}

/** The victim's swap, if the eviction is for swap. undefined: it is for something else, or the victim has no swap. */
export function swapToFree({ cause, victim: { process: only, stats } }: SwapHolder): bigint | undefined {
  if (cause.kind !== 'policy' || cause.judgedBy !== 'swap') return undefined;
  const bytes = only?.swapBytes ?? stats?.swapBytes ?? 0n;
  return bytes > 0n ? bytes : undefined;
}

interface SwapHolder {
  readonly cause: EvictionCause;
  readonly victim: Pick<RankedWorkload, 'process' | 'stats'>;
}

/** Whether what is short keeps falling until the signal is sent: memory or process ids below a hard threshold. */
export function isUrgent(cause: EvictionCause, graceNs: bigint): boolean {
  switch (cause.kind) {
    case 'threshold':
      return isUrgentThreshold(cause.threshold);
    case 'storage-limit':
      return false;
    case 'policy':
      return graceNs <= 0n;
  }
}

export function isUrgentThreshold(threshold: Threshold): boolean {
  return thresholdKind(threshold) === 'hard' && filesystemOf(threshold.signal) === undefined;
}
