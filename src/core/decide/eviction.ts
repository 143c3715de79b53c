import type { DiskHolder } from '../disk/filesystem-holders.js';
import type { Observation } from '../signal/observation.js';
import type { RankedWorkload } from '../rank/rank.js';
import type { Hold } from '../systemd/unit-hold.js';
import type { Resource } from '../signal/signal.js';
import type { StorageBreach } from '../disk/storage-limit.js';
import type { UnitStop } from '../systemd/unit-stop.js';
import type { UnreadableWorkload } from '../workload/workload.js';
import type { ThresholdCause } from '../threshold/threshold-cause.js';

/** A dying victim blocks further evictions for its resource at most this long, … */
export const DYING_AT_MOST_NS = 10_000_000_000n;
/** … or, while another eviction is due, until its usage has not changed for this long. */
export const DYING_STILL_NS = 1_000_000_000n;
/** How long a workload is passed over after it survived SIGKILL, … */
const SURVIVED_PAUSE_NS = 60_000_000_000n;
/** … and after it could not be signalled (out of descriptors, for example). */
const UNTOUCHED_PAUSE_NS = 1_000_000_000n;
/** An eviction that freed less than this part of the victim's usage is ineffective. */
const EFFECTIVE_SHARE = 10n;

/** The workload exceeds its own limit of local storage. */
export interface StorageLimitCause {
  readonly kind: 'storage-limit';
  readonly breach: StorageBreach;
}

/** Which workload is evicted, and all readings that led to it. */
export interface Decision {
  /** From 1. */
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
  /** What held most on the disk, the largest first. Left out: not measured. */
  readonly holders?: readonly DiskHolder[];
  /** Left out: not a systemd unit. */
  readonly unit?: UnitDecision;
  /** Left out: decided by a step, not in advance. */
  readonly standingOrder?: StandingOrderTimes;
}

/** The native layer carried out a decision that was prepared. Monotonic. */
export interface StandingOrderTimes {
  readonly preparedAtNs: bigint;
  readonly crossedAtNs: bigint;
  readonly signalledAtNs: bigint;
}

export interface UnitDecision {
  /** In the last ten minutes, this one included. */
  readonly evictions: number;
  /** How the system manager stops it; undefined: its processes get signals, as those of a user's units always do. */
  readonly stop: UnitStop | undefined;
  /** undefined: the unit is not kept stopped. */
  readonly hold: Hold | undefined;
  /**
   * How long systemd may stop other units first (After=) before evictd signals the processes. Left out: three quarters
   * of the grace period.
   */
  readonly queuesNs?: bigint;
}

/** `terminating`: SIGTERM was sent; `dying`: SIGKILL was sent. */
export interface EvictionInFlight {
  readonly decision: Decision;
  readonly phase: 'terminating' | 'dying';
  readonly phaseSinceNs: bigint;
  readonly peakUsageBytes: bigint;
  readonly usageBytes: bigint;
  readonly usageStillSinceNs: bigint;
  /** No process is left; the yield on a disk or of process ids is not known yet. */
  readonly exitedSinceNs?: bigint;
  /** The highest value since, and when it was first read. Left out: it has not risen. */
  readonly risen?: { readonly available: bigint; readonly atNs: bigint };
}

/** A victim as read for this step. */
export interface VictimReading {
  /** undefined: could not be counted. */
  readonly processes: number | undefined;
  /** undefined: could not be read. */
  readonly usageBytes: bigint | undefined;
  /** The cgroup was removed, so all its memory is free. */
  readonly removed: boolean;
  /** The workload ended before the first signal. */
  readonly vanished: boolean;
  /** Of the last attempt to open or signal it. */
  readonly error: string | undefined;
  /** The eviction continues despite the error: the call is repeated, or SIGKILL follows. */
  readonly passing?: true | undefined;
  /** When the last signal was sent; undefined: none was. */
  readonly signalledAtNs: bigint | undefined;
  /** systemd's answer to the stop; left out: none yet, or it was not asked. */
  readonly systemd?: SystemdAnswer | undefined;
  /** No process is left, but systemd is still stopping the unit (ExecStopPost=). Its memory is free. */
  readonly stopping?: true | undefined;
  /** systemd was asked to stop it, and stops other units first (After=). It has got no signal yet. */
  readonly queued?: true | undefined;
  /** Why an earlier evictd's or configuration's eviction does not continue. Left out: it does. */
  readonly abandoned?: string | undefined;
}

/** The units that have a stop job now, and systemd's refusals of others. */
export interface SystemdAnswer {
  readonly units: readonly string[];
  readonly errors: readonly string[];
  /** The connection was lost before every answer arrived. */
  readonly lost?: true;
}

/**
 * killed: no process left. ineffective: the same, but it freed little. failed: processes survived the time limit, or
 * cannot be signalled; not counted. vanished: it ended before the first signal. abandoned: evictd restarted and cannot
 * tell the outcome or does not continue, or a reload protected the workload; not counted.
 */
export type OutcomeResult = 'killed' | 'ineffective' | 'failed' | 'vanished' | 'abandoned';

export interface Outcome {
  readonly result: OutcomeResult;
  readonly decision: Decision;
  /** Counted as an eviction. The kubelet counts a failed one too (departure failed-kill). */
  readonly counted: boolean;
  readonly atNs: bigint;
  readonly expectedBytes: bigint;
  readonly freedBytes: bigint;
  readonly removed: boolean;
  readonly processesLeft: number | undefined;
  readonly error: string | undefined;
  readonly abandoned?: string | undefined;
  readonly nodeAfter: Observation | undefined;
  /** Left out: systemd was not asked, or has not answered yet. */
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

/** @param isShort  another eviction for the resource is due, or that is not known */
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
  // A process that has freed everything also stands still until it gets a CPU to exit on.
  const isStuck = isShort && nowNs - seen.usageStillSinceNs >= DYING_STILL_NS;
  return isStuck || nowNs - seen.phaseSinceNs >= DYING_AT_MOST_NS ? { result: 'failed', eviction: seen } : { eviction: seen };
}

/** A phase begins with its signal, so that a victim has its whole grace period. */
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

export function pauseNs({ processes }: VictimReading): bigint {
  return processes === undefined ? UNTOUCHED_PAUSE_NS : SURVIVED_PAUSE_NS;
}

/**
 * The victim's working set when it was selected, or what it held on the disk that would be freed. undefined: not known.
 */
export function knownBytes({ holding, stats }: RankedWorkload): bigint | undefined {
  return holding?.frees.bytes ?? stats?.workingSetBytes;
}

export function expectedBytes({ victim }: Decision): bigint {
  return knownBytes(victim) ?? 0n;
}

/** What the victim's cgroup freed. On a disk, for bytes: what became free on it since. */
export function freedBytes({ decision, peakUsageBytes, usageBytes }: EvictionInFlight, nodeAfter: Observation | undefined): bigint {
  const { cause, resource } = decision;
  if (cause.kind !== 'threshold' || decision.victim.holding === undefined) return peakUsageBytes - usageBytes;
  const freed = (nodeAfter?.available ?? 0n) - cause.observation.available;
  return resource === 'ephemeral-storage' && freed > 0n ? freed : 0n;
}

/** A disk's yield is judged by departure no-yield, because other workloads fill it meanwhile. */
function isEffective(eviction: EvictionInFlight, reading: VictimReading): boolean {
  if (eviction.decision.resource === 'pids') return true; // No process is left, so all its process ids are free.
  if (reading.removed || eviction.decision.victim.holding !== undefined) return true;
  return freedBytes(eviction, undefined) * EFFECTIVE_SHARE >= expectedBytes(eviction.decision);
}

/** When it needs a step without any event. */
export function evictionDueNs(eviction: EvictionInFlight, nowNs: bigint): bigint {
  if (eviction.phase === 'terminating') return eviction.phaseSinceNs + eviction.decision.graceNs;
  const still = eviction.usageStillSinceNs + DYING_STILL_NS;
  const most = eviction.phaseSinceNs + DYING_AT_MOST_NS;
  return nowNs < still && still < most ? still : most;
}
