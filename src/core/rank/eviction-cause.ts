import type { StorageBreach } from '../disk/storage-limit.js';
import type { DisruptionCause } from '../disruption/disruption-cause.js';
import type { PolicyCause, PolicyReason } from '../policy/policy-reason.js';
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

export type EvictionCause = ThresholdCause | StorageLimitCause | PolicyCause | DisruptionCause;

/** The reading of the node that an eviction is compared with. undefined: there is none. */
export function nodeBefore(cause: EvictionCause): { readonly signal: Signal; readonly observation: Observation } | undefined {
  switch (cause.kind) {
    case 'threshold':
      return { signal: cause.threshold.signal, observation: cause.observation };
    case 'storage-limit':
    case 'disruption':
      return undefined;
    case 'policy':
      return cause.memory && { signal: 'memory.available', observation: cause.memory };
  }
}

/**
 * The victim's swap, if the eviction is judged by swap. undefined: it is judged by something else, the victim has no swap,
 * or its cgroup does not count swap.
 */
export function swapToFree({ cause, victim: { process: only, stats } }: JudgedVictim): bigint | undefined {
  if (cause.kind !== 'policy' || cause.judgedBy !== 'swap' || stats?.swapBytes === undefined) return undefined;
  const bytes = only?.swapBytes ?? stats.swapBytes;
  return bytes > 0n ? bytes : undefined;
}

/**
 * What outlives the victim, where its cgroup judges: charged to the cgroup above after its removal. As for the node, a
 * victim that leaves more behind than it frees does not cure the shortage.
 */
export function staysBytes({ cause, victim }: JudgedVictim): bigint {
  return cause.kind === 'policy' && cause.judgedBy === 'cgroup' ? (victim.stays ?? 0n) : 0n;
}

/**
 * The signal that judges a policy's eviction: swap if only swap is short; if memory may be short, too, the one that the
 * victim holds more of. The swap of a victim that holds little says nothing about memory that does not come back.
 *
 * @param reason  of the policy that evicts
 */
export function judgedBy({ scope, values }: PolicyReason, { process: only, stats }: JudgedVictim['victim']): Pick<PolicyCause, 'judgedBy'> {
  const metrics = Object.keys(values).filter((metric) => !metric.startsWith('pswp'));
  const ofSwap = metrics.filter((metric) => /^(swap\.|memory\.swap)/.test(metric)).length;
  const inSwap = only?.swapBytes ?? stats?.swapBytes ?? 0n;
  const inMemory = only?.residentBytes ?? stats?.workingSetBytes ?? 0n;
  if (ofSwap > 0 && (ofSwap === metrics.length || inSwap >= inMemory)) return { judgedBy: 'swap' };
  return scope === '' ? {} : { judgedBy: 'cgroup' };
}

interface JudgedVictim {
  readonly cause: EvictionCause;
  readonly victim: Pick<RankedWorkload, 'process' | 'stats' | 'stays'>;
}

/** Whether what is short keeps falling until the signal is sent: memory or process ids below a hard threshold. */
export function isUrgent(cause: EvictionCause, graceNs: bigint): boolean {
  switch (cause.kind) {
    case 'threshold':
      return isUrgentThreshold(cause.threshold);
    case 'storage-limit':
    case 'disruption':
      return false;
    case 'policy':
      return graceNs <= 0n;
  }
}

export function isUrgentThreshold(threshold: Threshold): boolean {
  return thresholdKind(threshold) === 'hard' && filesystemOf(threshold.signal) === undefined;
}
