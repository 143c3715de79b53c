import type { VictimReading } from './eviction.js';
import type { Workload } from './workload.js';

/** So long is waited for those who were killed when nobody else is left: beyond that they are left to whoever takes the machine down. */
const LINGERS_NS = 1_000_000_000n;
const LEAST_GRACE_NS = 1_000_000_000n;

/** A workload that was told to end. Times are on the monotonic clock. */
export interface EndingWorkload {
  readonly serial: number;
  readonly workload: Workload;
  /** Place of its group in the order of the shutdown. */
  readonly group: number;
  readonly toldAtNs: bigint;
  /** Its own grace, or its group's, whichever is smaller; at least what {@link leastGraceNs} says, as far as the group has it. */
  readonly gracePeriodNs: bigint;
  /** SIGKILL is sent from here on. */
  readonly killsAtNs: bigint;
  /** undefined: it was not killed. */
  readonly killedAtNs: bigint | undefined;
}

/**
 * ended: by being told. killed: its time was over. gone: before it was told. evicted: memory, or whatever else was short, did not wait. told: its group has
 * no time, and nobody waits for it. left: processes are left, or nobody can be signalled.
 */
export type ShutdownResult = 'ended' | 'killed' | 'gone' | 'evicted' | 'told' | 'left';

export interface EndedWorkload extends EndingWorkload {
  readonly result: ShutdownResult;
  /** Since it was told, when that was seen. */
  readonly afterNs: bigint;
  /** Of `left`: undefined: not known. */
  readonly processesLeft?: number | undefined;
  readonly error?: string | undefined;
}

/** The group whose turn it is. */
export interface GroupNow {
  readonly index: number;
  /** Nobody is told after it. */
  readonly isLast: boolean;
  readonly endsAtNs: bigint;
}

export interface ShutdownProgress {
  readonly ending: readonly EndingWorkload[];
  readonly ended: readonly EndedWorkload[];
  /** Those whose time is over now. */
  readonly kill: readonly EndingWorkload[];
  /** All of the group have ended, or its time is over; of the last group: nobody is waited for any more. */
  readonly isOver: boolean;
  /** When something is due though nobody ends. */
  readonly dueAtNs: bigint;
}

/**
 * What has become of those that were told to end (kubelet: nodeshutdown_manager.go, killPods, v1.36.2): a group is over when the last of it has ended, or with its time. Who is killed
 * then is looked after on the side while the next group ends.
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
    .map((told) => inQueue(told, readings.get(told.serial), group, nowNs))
    .map((one) => ({ one, end: endOf(one, readings.get(one.serial), isEvicted(one.workload.id), nowNs) }));
  const still = seen.filter(({ end }) => end === undefined).map(({ one }) => one);
  const kill = still.filter(isDue);
  const ending = still.map((one) => (isDue(one) ? { ...one, killedAtNs: nowNs } : one));
  const untilNs = ending.map((one) => awaitedUntilNs(one, group)).reduce(later, 0n);
  return {
    ending,
    ended: seen.flatMap(({ end }) => end ?? []),
    kill,
    isOver: nowNs >= untilNs,
    dueAtNs: ending.flatMap(({ killedAtNs, killsAtNs }) => (killedAtNs === undefined ? killsAtNs : [])).reduce(earlier, untilNs),
  };
}

/**
 * When somebody who is told now is killed.
 *
 * @param gracePeriodNs  its own, or its group's, whichever is smaller
 * @param group  `gracePeriodNs`: how long it has altogether
 */
export function killTimeNs(
  toldAtNs: bigint,
  gracePeriodNs: bigint,
  group: { readonly gracePeriodNs: bigint; readonly endsAtNs: bigint },
): bigint {
  const ownNs = toldAtNs + leastGraceNs(gracePeriodNs);
  return group.gracePeriodNs > 0n ? earlier(ownNs, group.endsAtNs) : ownNs;
}

/** How long a unit that systemd lets wait for others may do so before it is told: it, too, has to have time to end. */
export function queueTimeNs(toldAtNs: bigint, killsAtNs: bigint, groupEndsAtNs: bigint): bigint {
  return ((later(killsAtNs, groupEndsAtNs) - toldAtNs) * 3n) / 4n;
}

/** Nobody is killed within a second, also in a group without time, which is not waited for (kubelet: pod_workers.go, calculateEffectiveGracePeriod, v1.36.2). */
export function leastGraceNs(gracePeriodNs: bigint): bigint {
  return later(gracePeriodNs, LEAST_GRACE_NS);
}

/** Whom systemd lets wait for others has its own time when its turn has come, as long as that of its group is not over. */
function inQueue(one: EndingWorkload, reading: VictimReading | undefined, { index, endsAtNs }: GroupNow, nowNs: bigint): EndingWorkload {
  if (reading?.queued === undefined || one.group !== index) return one;
  return { ...one, killsAtNs: later(one.killsAtNs, earlier(nowNs + leastGraceNs(one.gracePeriodNs), endsAtNs)) };
}

/** 0n: nobody waits for it. After the last group whoever was killed is waited for a moment, too, whichever group it was in. */
function awaitedUntilNs({ group, killedAtNs }: EndingWorkload, { index, isLast, endsAtNs }: GroupNow): bigint {
  const groupNs = group === index ? endsAtNs : 0n;
  return isLast && killedAtNs !== undefined ? later(groupNs, killedAtNs + LINGERS_NS) : groupNs;
}

/** Nobody waits for it any more. */
export function leftOver(one: EndingWorkload, reading: VictimReading | undefined, nowNs: bigint): EndedWorkload {
  const result = one.killedAtNs === undefined && reading?.error === undefined ? 'told' : 'left';
  return { ...one, result, afterNs: nowNs - one.toldAtNs, processesLeft: reading?.processes, error: reading?.error };
}

/** Whether it has ended before its time was over, or had none. */
export function isInTime({ result }: Pick<EndedWorkload, 'result'>): boolean {
  return result !== 'killed' && result !== 'left';
}

/** Whether it is gone. */
export function hasEnded({ result }: Pick<EndedWorkload, 'result'>): boolean {
  return result !== 'told' && result !== 'left';
}

/** undefined: it has not ended, and something can still be done about it. */
function endOf(one: EndingWorkload, reading: VictimReading | undefined, isEvicted: boolean, nowNs: bigint): EndedWorkload | undefined {
  if (reading === undefined) return undefined;
  const { processes, vanished, error, passing, stopping } = reading;
  const end = (result: ShutdownResult): EndedWorkload => ({ ...one, result, afterNs: nowNs - one.toldAtNs });
  if (vanished) return end('gone');
  // Whoever is told after it may be what its ExecStopPost= needs.
  if (processes === 0 && stopping && one.killedAtNs === undefined && nowNs < one.killsAtNs) return undefined;
  if (processes === 0) return end(one.killedAtNs !== undefined ? 'killed' : isEvicted ? 'evicted' : 'ended');
  const isFinal = error !== undefined && passing === undefined && (processes === undefined || one.killedAtNs !== undefined);
  return isFinal ? leftOver(one, reading, nowNs) : undefined;
}

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

export function earlier(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
