import type { DiskHolder } from './disk-holder.js';
import type { Joined } from './joined.js';
import type { Observation } from './observation.js';
import type { RankedWorkload } from './rank.js';
import type { Hold } from './restart-storm.js';
import type { Resource } from './signal.js';
import type { StorageBreach } from './storage-limit.js';
import type { ResourceThreshold } from './threshold.js';
import type { UnitStop } from './unit-stop.js';
import type { UnreadableWorkload } from './workload.js';

/** After the deadly signal a victim blocks others for its resource for at most this long. */
export const DYING_AT_MOST_NS = 10_000_000_000n;
/** … or, while another one is due for its resource, until its usage has not moved for this long. */
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
  /** Of a disk: what held most there, the largest first. Left out: nobody has looked. */
  readonly holders?: readonly DiskHolder[];
  /** Of a systemd unit; left out: it is none. */
  readonly unit?: UnitDecision;
}

/** What is decided of a systemd unit beyond what is decided of every victim. */
export interface UnitDecision {
  /** Its evictions in the last ten minutes, this one included. */
  readonly evictions: number;
  /** How its system manager stops it; undefined: its processes are signalled, as a user's units always are. */
  readonly stop: UnitStop | undefined;
  /** It is kept stopped; undefined: it is left to itself. */
  readonly hold: Hold | undefined;
  /** So long systemd may let it wait for others that it stops first (After=), before its processes are signalled; left out: three quarters of the grace. */
  readonly queuesNs?: bigint;
}

/** An eviction that was decided and is not over. `terminating`: SIGTERM went out; `dying`: SIGKILL did. */
export interface EvictionInFlight {
  readonly decision: Decision;
  readonly phase: 'terminating' | 'dying';
  readonly phaseSinceNs: bigint;
  readonly peakUsageBytes: bigint;
  readonly usageBytes: bigint;
  readonly usageStillSinceNs: bigint;
  /** Nobody is left, and what that has given back, of a disk or of process ids, is not known yet. */
  readonly goneSinceNs?: bigint;
  /** The most that was available since, and when that was seen first. Left out: no more than before. */
  readonly risen?: { readonly available: bigint; readonly atNs: bigint };
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
  /** What systemd has said to being asked to stop it; left out: nothing yet, or it was not asked. */
  readonly systemd?: SystemdAnswer | undefined;
  /**
   * Nobody is left just now, and systemd, which was asked to stop it, is not through with it (ExecStopPost=). Its memory is free: only who waits for its end has to know.
   */
  readonly stopping?: true | undefined;
  /** systemd, which was asked to stop it, stops others first (After=): nobody has told it to end. */
  readonly queued?: true | undefined;
  /** An evictd before this one, or a configuration before this one, decided it, and it does not go on: why. Left out: it does. */
  readonly abandoned?: string | undefined;
}

/** Of jobs that systemd was asked for: the units that have one now, all that go with a unit included, and what it said against the others. */
export interface SystemdAnswer {
  readonly units: readonly string[];
  readonly errors: readonly string[];
  /** The connection was lost before all was answered: whether systemd does it is not known. */
  readonly lost?: true;
}

/**
 * killed: no process left. ineffective: the same, but it gave back little. failed: processes left after the time that a victim gets, or no signal can
 * reach them: not counted as an eviction. vanished: it was gone before it was signalled: nothing happened. abandoned: evictd ended before it was over, and the next
 * one cannot tell what became of it, or does not go on with it; or a reload has protected it: not counted.
 */
export type OutcomeResult = 'killed' | 'ineffective' | 'failed' | 'vanished' | 'abandoned';

export interface Outcome {
  readonly result: OutcomeResult;
  readonly decision: Decision;
  /** Whether it counts as an eviction; the kubelet counts one that failed, too (departure failed-kill). */
  readonly counted: boolean;
  readonly atNs: bigint;
  /** The victim's working set when it was chosen; of a disk what it held there that would come back. */
  readonly expectedBytes: bigint;
  /** What the victim's own cgroup gave back; where it was removed, all that it had. Of a disk, of which bytes are short: what came free on it meanwhile. */
  readonly freedBytes: bigint;
  readonly removed: boolean;
  readonly processesLeft: number | undefined;
  readonly error: string | undefined;
  /** Why it was abandoned. */
  readonly abandoned?: string | undefined;
  /** The node's value now, beside the one in the decision. */
  readonly nodeAfter: Observation | undefined;
  /** Left out: systemd was not asked to stop it, or has not answered yet. */
  readonly systemd?: SystemdAnswer | undefined;
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

/**
 * The next state of an eviction: still in flight, or over.
 *
 * @param isShort  its resource is short for long enough that somebody is due, or that is not known: others may wait for this one to be over
 */
export function advance(
  eviction: EvictionInFlight,
  reading: VictimReading,
  hardMet: boolean,
  isShort: boolean,
  nowNs: bigint,
): { eviction: EvictionInFlight; escalate?: EscalationReason } | { result: OutcomeResult; eviction: EvictionInFlight } {
  const seen = withUsage(sinceSignal(eviction, reading), reading, nowNs);
  if (reading.abandoned !== undefined) return { result: 'abandoned', eviction: seen };
  if (reading.vanished) return { result: 'vanished', eviction: seen };
  if (reading.processes === 0) return { result: isEffective(seen, reading) ? 'killed' : 'ineffective', eviction: seen };
  if (reading.error !== undefined && reading.passing !== true) return { result: 'failed', eviction: seen };
  if (seen.phase === 'terminating') {
    const over = nowNs - seen.phaseSinceNs >= seen.decision.graceNs;
    if (!over && !hardMet) return { eviction: seen };
    const dying = { ...seen, phase: 'dying', phaseSinceNs: nowNs, usageStillSinceNs: nowNs } as const;
    return { eviction: dying, escalate: over ? 'grace period over' : 'hard threshold met' };
  }
  // What gave everything back stands still, too, until it gets the processor to exit.
  const isStuck = isShort && nowNs - seen.usageStillSinceNs >= DYING_STILL_NS;
  return isStuck || nowNs - seen.phaseSinceNs >= DYING_AT_MOST_NS ? { result: 'failed', eviction: seen } : { eviction: seen };
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

/** The victim's working set when it was chosen; of a disk what it held there that would come back. undefined: not known. */
export function knownBytes({ holding, stats }: RankedWorkload): bigint | undefined {
  return holding?.frees.bytes ?? stats?.workingSetBytes;
}

export function expectedBytes({ victim }: Decision): bigint {
  return knownBytes(victim) ?? 0n;
}

/** What the victim's own cgroup gave back; of a disk, of which bytes are short, what came free on it meanwhile. */
export function freedBytes({ decision, peakUsageBytes, usageBytes }: EvictionInFlight, nodeAfter: Observation | undefined): bigint {
  const { cause, resource } = decision;
  if (cause.kind !== 'threshold' || decision.victim.holding === undefined) return peakUsageBytes - usageBytes;
  const freed = (nodeAfter?.available ?? 0n) - cause.observation.available;
  return resource === 'ephemeral-storage' && freed > 0n ? freed : 0n;
}

/** Whether a disk has got anything back is judged by no-yield: others fill it meanwhile. */
function isEffective(eviction: EvictionInFlight, reading: VictimReading): boolean {
  if (eviction.decision.resource === 'pids') return true; // nobody is left, and that is what it had
  if (reading.removed || eviction.decision.victim.holding !== undefined) return true;
  return freedBytes(eviction, undefined) * EFFECTIVE_SHARE >= expectedBytes(eviction.decision);
}

/** When something will have to be decided about it without any other event. */
export function evictionDueNs(eviction: EvictionInFlight, nowNs: bigint): bigint {
  if (eviction.phase === 'terminating') return eviction.phaseSinceNs + eviction.decision.graceNs;
  const still = eviction.usageStillSinceNs + DYING_STILL_NS;
  const most = eviction.phaseSinceNs + DYING_AT_MOST_NS;
  return nowNs < still && still < most ? still : most;
}
