import { exitTimeoutsFor, type ExitTimeouts } from '../reclaim/exit-timeouts.js';
import type { DiskHolder } from '../disk/filesystem-holders.js';
import type { Observation } from '../signal/observation.js';
import { staysBytes, swapToFree, type EvictionCause } from '../rank/eviction-cause.js';
import type { RankedWorkload } from '../rank/rank.js';
import type { Hold } from '../systemd/unit-hold.js';
import type { Resource } from '../signal/signal.js';
import type { UnitStop } from '../systemd/unit-stop.js';
import type { UnreadableWorkload } from '../workload/workload.js';

/** An eviction that freed less than this part of the victim's usage is ineffective, unless the node's value judges it. */
const EFFECTIVE_SHARE = 10n;

/** Which workload is evicted, and all readings that led to it. */
export interface Decision {
  readonly serial: number; // from 1
  readonly resource: Resource;
  readonly cause: EvictionCause;
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
  /** The budget counts it and an earlier one of the same workload as one. Left out: it counts. */
  readonly repeats?: true;
  /** Names of the disruption budgets that it violates. Left out: none. */
  readonly violates?: readonly string[];
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
  /** The number of evictions in the last ten minutes, this one included. */
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
  /** The time since which usage, swap, the node and its processes have shown no progress. */
  readonly usageStillSinceNs: bigint;
  /** The last reading. Left out: not known. */
  readonly processes?: number;
  readonly swapBytes?: bigint;
  readonly processorTicks?: bigint;
  /** The most that the node has had available since SIGKILL. Left out: the node's value does not judge it, or is not known. */
  readonly nodeMost?: bigint;
  /** No process is left; its yield is not known yet. */
  readonly exitedSinceNs?: bigint;
  /** The highest value since, and when it was first read. Left out: it has not risen. */
  readonly risen?: { readonly available: bigint; readonly atNs: bigint };
}

/** A process that was started after all of the victim had got SIGKILL, such as ExecStopPost= of its unit. */
export interface LaterProcess {
  readonly pid: number;
  readonly name: string;
}

export interface VictimReading {
  /** undefined: could not be counted. */
  readonly processes: number | undefined;
  /** undefined: could not be read. */
  readonly usageBytes: bigint | undefined;
  readonly swapBytes?: bigint | undefined;
  /** Processor time that its processes have used. Left out: not read, which is not needed when they end at once. */
  readonly processorTicks?: bigint | undefined;
  /** Processes in the cgroup that were all started after SIGKILL was sent to all processes before. Left out: none, or not known. */
  readonly later?: LaterProcess | undefined;
  /** A process that is being ended runs, or waits for a processor. */
  readonly runs?: true | undefined;
  readonly removed: boolean;
  /** The workload ended before the first signal. */
  readonly vanished: boolean;
  /** The error of the last attempt to open or signal the victim. */
  readonly error: string | undefined;
  /** The error: a budget or webhook of the cluster does not permit it now. With `unanswered`: none has been asked. */
  readonly refused?: true | undefined;
  /** The eviction continues despite the error: the call is repeated, or SIGKILL follows. */
  readonly passing?: 'unsent' | 'in part' | undefined;
  /** When the last signal was sent; undefined: none was. */
  readonly signalledAtNs: bigint | undefined;
  /** systemd's answer to the stop; left out: none yet, or it was not asked. */
  readonly systemd?: SystemdAnswer | undefined;
  /** No process is left, but systemd is still stopping the unit (ExecStopPost=). Its memory is free. */
  readonly stopping?: true | undefined;
  /** systemd was asked to stop it, and stops other units first (After=). It has got no signal yet. */
  readonly queued?: true | undefined;
  /** The API server was asked to end it, and has not answered yet: its grace period has not begun. */
  readonly unanswered?: true | undefined;
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
 * killed: no process left. ineffective: the same, but the node got little back. failed: processes survived the time limit, or
 * cannot be signalled; not counted. vanished: it ended before the first signal. abandoned: evictd restarted and cannot
 * tell the outcome or does not continue, or a reload protected the workload; not counted.
 */
export type OutcomeResult = 'killed' | 'ineffective' | 'failed' | 'vanished' | 'abandoned';

/**
 * Why the node did not get back what was expected. `stays`: memory outlives the processes (a tmpfs, shared memory), charged
 * to the cgroup or, after its removal, to the one above. `taken`: others have used it since.
 */
export type NotFreed = 'stays' | 'taken';

export interface Outcome {
  readonly result: OutcomeResult;
  readonly decision: Decision;
  /** Counted as an eviction. The kubelet counts a failed one too (departure failed-kill). */
  readonly counted: boolean;
  readonly atNs: bigint;
  /** When no process was left. Left out: processes are left, or it ended by itself. */
  readonly exitedAtNs?: bigint;
  readonly expectedBytes: bigint;
  readonly freedBytes: bigint;
  /** What the node got back. Left out: its value does not judge the eviction, or is not known. */
  readonly nodeFreedBytes?: bigint;
  /** Left out: the result is not ineffective, or the reason is not known. */
  readonly notFreed?: NotFreed;
  readonly removed: boolean;
  readonly processesLeft: number | undefined;
  /** As in VictimReading. */
  readonly later?: LaterProcess;
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

/** What a step knows besides the reading of a victim. */
export interface DyingContext {
  /** A hard threshold of its resource is met. */
  readonly hardMet: boolean;
  /** Another eviction for the resource is due, or that is not known. */
  readonly isShort: boolean;
  /** Departure node-yield. */
  readonly byNode: boolean;
  /** The node's value judges its eviction. */
  readonly isJudged: boolean;
  /** The node's value. undefined: it does not judge the eviction, or is not known. */
  readonly nodeAvailable: bigint | undefined;
  readonly nowNs: bigint;
}

export function advance(
  eviction: EvictionInFlight,
  reading: VictimReading,
  context: DyingContext,
): { eviction: EvictionInFlight; escalate?: EscalationReason } | { result: OutcomeResult; eviction: EvictionInFlight } {
  const { hardMet, isShort, byNode, nowNs } = context;
  const seen = withMovement(sinceSignal(eviction, reading, nowNs), reading, context);
  if (reading.abandoned !== undefined) return { result: 'abandoned', eviction: seen };
  if (reading.vanished) return { result: 'vanished', eviction: seen };
  if (reading.processes === 0) return { result: isEffective(seen, reading) ? 'killed' : 'ineffective', eviction: seen };
  if (reading.error !== undefined && reading.passing === undefined) return { result: 'failed', eviction: seen };
  if (seen.phase === 'terminating') {
    const over = nowNs - seen.phaseSinceNs >= seen.decision.graceNs;
    if (!over && !hardMet) return { eviction: seen };
    const dying = { ...seen, phase: 'dying', phaseSinceNs: nowNs, usageStillSinceNs: nowNs } as const;
    return { eviction: dying, escalate: over ? 'grace period over' : 'hard threshold met' };
  }
  const { noProgressNs, totalNs } = exitTimeoutsOf(seen, byNode);
  const isStuck = isShort && nowNs - seen.usageStillSinceNs >= noProgressNs;
  return isStuck || nowNs - seen.phaseSinceNs >= totalNs ? { result: 'failed', eviction: seen } : { eviction: seen };
}

/** A phase begins with its signal, so that a victim has its whole grace period. */
function sinceSignal(eviction: EvictionInFlight, { signalledAtNs: sentNs, unanswered }: VictimReading, nowNs: bigint): EvictionInFlight {
  const signalledAtNs = unanswered && eviction.phase === 'terminating' ? nowNs : sentNs;
  if (signalledAtNs === undefined || signalledAtNs <= eviction.phaseSinceNs) return eviction;
  const still = eviction.usageStillSinceNs;
  return { ...eviction, phaseSinceNs: signalledAtNs, usageStillSinceNs: still > signalledAtNs ? still : signalledAtNs };
}

/**
 * Records progress since the last reading. A process that frees much swap, or huge or pinned pages, hardly changes its cgroup's
 * usage for seconds. Then swap, the node's value, or the work of the processes shows progress. Where the node's value judges, a
 * removed cgroup does not count as freed: some of its memory may now be charged to the cgroup above.
 */
function withMovement(
  eviction: EvictionInFlight,
  reading: VictimReading,
  { byNode, isJudged, nodeAvailable, nowNs }: DyingContext,
): EvictionInFlight {
  const before = eviction.usageBytes;
  const isGone = reading.removed && !isJudged;
  const usageBytes = isGone ? staysBytes(eviction.decision) : (reading.usageBytes ?? before);
  const { processes = eviction.processes, processorTicks = eviction.processorTicks, runs } = reading;
  const swapBytes = isGone && swapToFree(eviction.decision) !== undefined ? 0n : (reading.swapBytes ?? eviction.swapBytes);
  const isRising = nodeAvailable !== undefined && nodeAvailable > (eviction.nodeMost ?? nodeAvailable);
  // Beside a process that ends alone, the rest of its workload goes on, and moves the usage of the cgroup.
  const isOwn = eviction.decision.victim.process === undefined;
  const isSwapping = swapBytes !== eviction.swapBytes;
  const isWorking = runs === true || (isOwn && isSwapping) || processorTicks !== eviction.processorTicks;
  const nodeMost = isRising ? nodeAvailable : (eviction.nodeMost ?? nodeAvailable);
  const isStill = usageBytes === before && !isSwapping && !isWorking;
  if (isStill && nodeMost === eviction.nodeMost && processes === eviction.processes) return eviction;
  return {
    ...eviction,
    usageBytes,
    peakUsageBytes: usageBytes > eviction.peakUsageBytes ? usageBytes : eviction.peakUsageBytes,
    ...(processes !== undefined && { processes }),
    ...(swapBytes !== undefined && { swapBytes }),
    ...(processorTicks !== undefined && { processorTicks }),
    ...(nodeMost !== undefined && { nodeMost }),
    usageStillSinceNs: (isOwn && usageBytes !== before) || isRising || (isWorking && byNode) ? nowNs : eviction.usageStillSinceNs,
  };
}

/** What of its working set ends with the victim's processes, or of the disk, as it was at its selection. undefined: not known. */
export function knownBytes({ process: only, holding, stats, stays = 0n }: RankedWorkload): bigint | undefined {
  if (only !== undefined) return (only.group ?? only).anonBytes;
  return holding?.frees.bytes ?? (stats?.workingSetBytes === undefined ? undefined : stats.workingSetBytes - stays);
}

export function expectedBytes(decision: Decision): bigint {
  return swapToFree(decision) ?? knownBytes(decision.victim) ?? 0n;
}

/** What the victim's cgroup freed: swap, if the eviction is for swap. On a disk, for bytes: what became free on it since. */
export function freedBytes(eviction: EvictionInFlight, nodeAfter: Observation | undefined): bigint {
  const { decision, peakUsageBytes, usageBytes } = eviction;
  const { cause, resource } = decision;
  if (swapToFree(decision) !== undefined) {
    const { swapBytes: before = 0n } = decision.victim.stats ?? {};
    const { swapBytes: now = before } = eviction;
    return now < before ? before - now : 0n;
  }
  if (cause.kind !== 'threshold' || decision.victim.holding === undefined) return peakUsageBytes - usageBytes;
  const freed = (nodeAfter?.available ?? 0n) - cause.observation.available;
  return resource === 'ephemeral-storage' && freed > 0n ? freed : 0n;
}

/** A disk's yield is judged by departure no-yield, because other workloads fill it meanwhile. */
function isEffective(eviction: EvictionInFlight, reading: VictimReading): boolean {
  const { resource, cause, victim } = eviction.decision;
  if (resource === 'pids' || cause.kind === 'disruption') return true; // No process is left, and that is all it is for.
  const stays = staysBytes(eviction.decision);
  if ((reading.removed && stays === 0n) || victim.holding !== undefined) return true;
  const freed = freedBytes(eviction, undefined);
  return freed * EFFECTIVE_SHARE >= expectedBytes(eviction.decision) && freed >= stays;
}

export function exitTimeoutsOf({ decision, peakUsageBytes }: EvictionInFlight, byNode: boolean): ExitTimeouts {
  const { process: only, stats } = decision.victim;
  const bytes = only === undefined ? peakUsageBytes + (stats?.swapBytes ?? 0n) : (only.group ?? only).anonBytes + only.swapBytes;
  return exitTimeoutsFor(byNode ? bytes : 0n);
}
