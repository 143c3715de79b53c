import type { VictimReading } from '../../core/decide/eviction.js';
import type { Workload } from '../../core/workload/workload.js';
import { maxBigInt, minBigInt } from '../../core/quantity/integer.js';

/** How long evictd waits for killed workloads when no other is left. */
const LINGERS_NS = 1_000_000_000n;
const MIN_GRACE_NS = 1_000_000_000n;

/** A workload that got the request to end. Times are monotonic. */
export interface EndingWorkload {
  readonly serial: number;
  readonly workload: Workload;
  /** Index of its group. */
  readonly group: number;
  readonly requestedAtNs: bigint;
  /** The smaller of its own and its group's; at least {@link minGraceNs} if the group has that. */
  readonly gracePeriodNs: bigint;
  /** When SIGKILL is due. */
  readonly killsAtNs: bigint;
  /** undefined: not killed. */
  readonly killedAtNs: bigint | undefined;
}

/**
 * ended: after SIGTERM or a stop. killed: its time was over. already-ended: it ended before the request. evicted: an eviction
 * chose it. signalled: its group has no time, so evictd does not wait for it. survived: processes are left, or cannot be
 * signalled.
 */
export type ShutdownResult = 'ended' | 'killed' | 'already-ended' | 'evicted' | 'signalled' | 'survived';

export interface EndedWorkload extends EndingWorkload {
  readonly result: ShutdownResult;
  /** The time since the request. */
  readonly afterNs: bigint;
  /** The number of processes that have `survived`; undefined: not known. */
  readonly processesLeft?: number | undefined;
  readonly error?: string | undefined;
}

export interface GroupNow {
  readonly index: number;
  readonly isLast: boolean;
  readonly endsAtNs: bigint;
}

export interface ShutdownProgress {
  readonly ending: readonly EndingWorkload[];
  readonly ended: readonly EndedWorkload[];
  /** Their time is over: send SIGKILL. */
  readonly kill: readonly EndingWorkload[];
  /** Every workload of the group has ended, or its time is over; for the last group: evictd waits for no workload. */
  readonly isOver: boolean;
  /** When a step is due without any event. */
  readonly dueAtNs: bigint;
}

/**
 * Advances the workloads that got the request to end (kubelet: nodeshutdown_manager.go, killPods, v1.36.2). A group is over
 * when its last workload has ended, or with its time. Killed workloads are watched while the next group ends.
 *
 * @param isEvicted  by workload id: an eviction has chosen it
 */
export function advanceShutdown(
  before: readonly EndingWorkload[],
  readings: ReadonlyMap<number, VictimReading>,
  group: GroupNow,
  isEvicted: (id: string) => boolean,
  nowNs: bigint,
): ShutdownProgress {
  const isDue = (one: EndingWorkload): boolean => one.killedAtNs === undefined && nowNs >= one.killsAtNs;
  const seen = before
    .map((ending) => inQueue(ending, readings.get(ending.serial), group, nowNs))
    .map((one) => ({ one, end: endOf(one, readings.get(one.serial), isEvicted(one.workload.id), nowNs) }));
  const still = seen.filter(({ end }) => end === undefined).map(({ one }) => one);
  const kill = still.filter(isDue);
  const ending = still.map((one) => (isDue(one) ? { ...one, killedAtNs: nowNs } : one));
  const untilNs = ending.map((one) => awaitedUntilNs(one, group)).reduce(maxBigInt, 0n);
  return {
    ending,
    ended: seen.flatMap(({ end }) => end ?? []),
    kill,
    isOver: nowNs >= untilNs,
    dueAtNs: ending.flatMap(({ killedAtNs, killsAtNs }) => (killedAtNs === undefined ? killsAtNs : [])).reduce(minBigInt, untilNs),
  };
}

/**
 * When a workload that gets the request now will be killed.
 *
 * @param gracePeriodNs  the smaller of its own and its group's
 * @param group  `gracePeriodNs`: the whole time of the group
 */
export function killTimeNs(
  requestedAtNs: bigint,
  gracePeriodNs: bigint,
  group: { readonly gracePeriodNs: bigint; readonly endsAtNs: bigint },
): bigint {
  const ownNs = requestedAtNs + minGraceNs(gracePeriodNs);
  return group.gracePeriodNs > 0n ? minBigInt(ownNs, group.endsAtNs) : ownNs;
}

/** How long systemd may stop other units first. The unit needs the rest to end. */
export function queueTimeNs(requestedAtNs: bigint, killsAtNs: bigint, groupEndsAtNs: bigint): bigint {
  return ((maxBigInt(killsAtNs, groupEndsAtNs) - requestedAtNs) * 3n) / 4n;
}

/**
 * The grace period, at least a second, even in a group without time (kubelet: pod_workers.go, calculateEffectiveGracePeriod, v1.36.2).
 */
export function minGraceNs(gracePeriodNs: bigint): bigint {
  return maxBigInt(gracePeriodNs, MIN_GRACE_NS);
}

/** A unit that systemd stops after other units keeps its full time, within the time of its group. */
function inQueue(one: EndingWorkload, reading: VictimReading | undefined, { index, endsAtNs }: GroupNow, nowNs: bigint): EndingWorkload {
  if (reading?.queued === undefined || one.group !== index) return one;
  return { ...one, killsAtNs: maxBigInt(one.killsAtNs, minBigInt(nowNs + minGraceNs(one.gracePeriodNs), endsAtNs)) };
}

/** 0n: evictd does not wait for it. After the last group it waits a moment for every killed workload. */
function awaitedUntilNs({ group, killedAtNs }: EndingWorkload, { index, isLast, endsAtNs }: GroupNow): bigint {
  const groupNs = group === index ? endsAtNs : 0n;
  return isLast && killedAtNs !== undefined ? maxBigInt(groupNs, killedAtNs + LINGERS_NS) : groupNs;
}

/** evictd stops waiting for it. */
export function notAwaited(one: EndingWorkload, reading: VictimReading | undefined, nowNs: bigint): EndedWorkload {
  const result = one.killedAtNs === undefined && reading?.error === undefined ? 'signalled' : 'survived';
  return { ...one, result, afterNs: nowNs - one.requestedAtNs, processesLeft: reading?.processes, error: reading?.error };
}

/** It ended before its time was over, or had none. */
export function isInTime({ result }: Pick<EndedWorkload, 'result'>): boolean {
  return result !== 'killed' && result !== 'survived';
}

export function hasEnded({ result }: Pick<EndedWorkload, 'result'>): boolean {
  return result !== 'signalled' && result !== 'survived';
}

/** undefined: it has not ended, and evictd can still act. */
function endOf(one: EndingWorkload, reading: VictimReading | undefined, isEvicted: boolean, nowNs: bigint): EndedWorkload | undefined {
  if (reading === undefined) return undefined;
  const { processes, vanished, error, passing, stopping } = reading;
  const end = (result: ShutdownResult): EndedWorkload => ({ ...one, result, afterNs: nowNs - one.requestedAtNs });
  if (vanished) return end('already-ended');
  // Its ExecStopPost= may need workloads of later groups.
  if (processes === 0 && stopping && one.killedAtNs === undefined && nowNs < one.killsAtNs) return undefined;
  if (processes === 0) return end(one.killedAtNs !== undefined ? 'killed' : isEvicted ? 'evicted' : 'ended');
  const isFinal = error !== undefined && passing === undefined && (processes === undefined || one.killedAtNs !== undefined);
  return isFinal ? notAwaited(one, reading, nowNs) : undefined;
}
