import type { StorageBreach } from '../disk/storage-limit.js';
import type { PolicyCause } from '../policy/policy-reason.js';
import type { Observation } from '../signal/observation.js';
import type { Signal } from '../signal/signal.js';
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
