import type { Joined } from './joined.js';
import type { Observation } from './observation.js';
import type { RankedWorkload } from './rank.js';
import type { Resource } from './signal.js';
import type { StorageBreach } from './storage-limit.js';
import type { ResourceThreshold } from './threshold.js';
import type { UnreadableWorkload } from './workload.js';

/** After the deadly signal a victim blocks others for its resource for at most this long. */
export const DYING_AT_MOST_NS = 10_000_000_000n;
/** … or until its usage has not moved for this long. */
export const DYING_STILL_NS = 1_000_000_000n;
/** A workload that survived its kill is passed over for this long. */
const SURVIVED_PAUSE_NS = 60_000_000_000n;
/** One that could not be taken hold of (out of descriptors, say) for this long. */
const UNTOUCHED_PAUSE_NS = 1_000_000_000n;
/** An eviction that gave back less than this part of what the victim used is ineffective. */
const EFFECTIVE_SHARE = 10n;

/** A threshold has been met for its grace period. */
export interface ThresholdCause extends Joined {
  readonly kind: 'threshold';
  readonly threshold: ResourceThreshold;
  readonly observation: Observation;
  /** The threshold in units of the signal, min reclaim included where it is owed. */
  readonly limit: bigint;
}

/** The workload uses more local storage than its own limits allow: whatever the node has left. */
export interface StorageLimitCause {
  readonly kind: 'storage-limit';
  readonly breach: StorageBreach;
}

/** Why this workload, now: everything that led to it, as it was read. */
export interface Decision {
  /** Counts the decisions of this run from 1. */
  readonly serial: number;
  readonly resource: Resource;
  readonly cause: ThresholdCause | StorageLimitCause;
  readonly victim: RankedWorkload;
  /** Between SIGTERM and SIGKILL; 0: SIGKILL at once. */
  readonly graceNs: bigint;
  readonly ranking: readonly RankedWorkload[];
  readonly unreadable: readonly UnreadableWorkload[];
  readonly decidedAtNs: bigint;
  readonly dryRun: boolean;
}

/** An eviction that was decided and is not over. `terminating`: SIGTERM went out; `dying`: SIGKILL did. */
export interface EvictionInFlight {
  readonly decision: Decision;
  readonly phase: 'terminating' | 'dying';
  readonly phaseSinceNs: bigint;
  readonly peakUsageBytes: bigint;
  readonly usageBytes: bigint;
  readonly usageStillSinceNs: bigint;
}

/** What became of a victim since the last step. */
export interface VictimReading {
  /** Processes left; undefined where that could not be told. */
  readonly processes: number | undefined;
  /** Its own usage; undefined where it could not be read. */
  readonly usageBytes: bigint | undefined;
  /** The cgroup itself is gone, and all that it had was given back. */
  readonly removed: boolean;
  /** The workload was gone before anything was sent. */
  readonly vanished: boolean;
  /** The error of the last call, to take hold of it or to signal it. */
  readonly error: string | undefined;
  /** The error does not end the eviction: the call is repeated, or SIGKILL is still to come. */
  readonly passing?: true | undefined;
  /** When the last signal was sent, which is later than it was decided; undefined: none was. */
  readonly signalledAtNs: bigint | undefined;
}

/**
 * killed: no process left. ineffective: the same, but it gave back little. failed: processes left after the time that a victim gets, or no signal can
 * reach them: not counted as an eviction. vanished: it was gone before it was signalled: nothing happened.
 */
export type OutcomeResult = 'killed' | 'ineffective' | 'failed' | 'vanished';

export interface Outcome {
  readonly result: OutcomeResult;
  readonly decision: Decision;
  /** Whether it counts as an eviction; the kubelet counts one that failed, too (departure failed-kill). */
  readonly counted: boolean;
  readonly atNs: bigint;
  /** The victim's working set when it was chosen. */
  readonly expectedBytes: bigint;
  /** What the victim's own cgroup gave back; where it was removed, all that it had. */
  readonly freedBytes: bigint;
  readonly removed: boolean;
  readonly processesLeft: number | undefined;
  readonly error: string | undefined;
  /** The node's value now, beside the one in the decision. */
  readonly nodeAfter: Observation | undefined;
}

export type EscalationReason = 'grace period over' | 'hard threshold met';

export function inFlight(decision: Decision): EvictionInFlight {
  const usageBytes = decision.victim.stats?.usageBytes ?? 0n;
  return {
    decision,
    phase: decision.graceNs > 0n ? 'terminating' : 'dying',
    phaseSinceNs: decision.decidedAtNs,
    peakUsageBytes: usageBytes,
    usageBytes,
    usageStillSinceNs: decision.decidedAtNs,
  };
}

/** The next state of an eviction: still in flight, or over. */
export function advance(
  eviction: EvictionInFlight,
  reading: VictimReading,
  hardMet: boolean,
  nowNs: bigint,
): { eviction: EvictionInFlight; escalate?: EscalationReason } | { result: OutcomeResult; eviction: EvictionInFlight } {
  const seen = withUsage(sinceSignal(eviction, reading), reading, nowNs);
  if (reading.vanished) return { result: 'vanished', eviction: seen };
  if (reading.processes === 0) return { result: isEffective(seen, reading) ? 'killed' : 'ineffective', eviction: seen };
  if (reading.error !== undefined && reading.passing !== true) return { result: 'failed', eviction: seen };
  if (seen.phase === 'terminating') {
    const over = nowNs - seen.phaseSinceNs >= seen.decision.graceNs;
    if (!over && !hardMet) return { eviction: seen };
    const dying = { ...seen, phase: 'dying', phaseSinceNs: nowNs, usageStillSinceNs: nowNs } as const;
    return { eviction: dying, escalate: over ? 'grace period over' : 'hard threshold met' };
  }
  const givenUp = nowNs - seen.phaseSinceNs >= DYING_AT_MOST_NS || nowNs - seen.usageStillSinceNs >= DYING_STILL_NS;
  return givenUp ? { result: 'failed', eviction: seen } : { eviction: seen };
}

/** A phase begins with its signal: a victim has its whole grace. */
function sinceSignal(eviction: EvictionInFlight, { signalledAtNs }: VictimReading): EvictionInFlight {
  if (signalledAtNs === undefined || signalledAtNs <= eviction.phaseSinceNs) return eviction;
  const still = eviction.usageStillSinceNs;
  return { ...eviction, phaseSinceNs: signalledAtNs, usageStillSinceNs: still > signalledAtNs ? still : signalledAtNs };
}

function withUsage(eviction: EvictionInFlight, reading: VictimReading, nowNs: bigint): EvictionInFlight {
  const usageBytes = reading.removed ? 0n : (reading.usageBytes ?? eviction.usageBytes);
  if (usageBytes === eviction.usageBytes) return eviction;
  const peakUsageBytes = usageBytes > eviction.peakUsageBytes ? usageBytes : eviction.peakUsageBytes;
  return { ...eviction, usageBytes, peakUsageBytes, usageStillSinceNs: nowNs };
}

/** For how long a workload is passed over after a kill that failed. */
export function pauseNs({ processes }: VictimReading): bigint {
  return processes === undefined ? UNTOUCHED_PAUSE_NS : SURVIVED_PAUSE_NS;
}

/** The victim's working set when it was chosen. */
export function expectedBytes({ victim }: Decision): bigint {
  return victim.stats?.workingSetBytes ?? 0n;
}

export function freedBytes(eviction: EvictionInFlight): bigint {
  return eviction.peakUsageBytes - eviction.usageBytes;
}

function isEffective(eviction: EvictionInFlight, reading: VictimReading): boolean {
  return reading.removed || freedBytes(eviction) * EFFECTIVE_SHARE >= expectedBytes(eviction.decision);
}

/** When something will have to be decided about it without any other event. */
export function evictionDueNs(eviction: EvictionInFlight): bigint {
  if (eviction.phase === 'terminating') return eviction.phaseSinceNs + eviction.decision.graceNs;
  const still = eviction.usageStillSinceNs + DYING_STILL_NS;
  const most = eviction.phaseSinceNs + DYING_AT_MOST_NS;
  return still < most ? still : most;
}
