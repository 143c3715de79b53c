import type { VictimReading } from './eviction.js';
import type { Workload } from './workload.js';

/** So long is waited for those who were killed when nobody else is left: beyond that they are left to whoever takes the machine down. */
const LINGERS_NS = 1_000_000_000n;

/** A workload that was told to end. Times are on the monotonic clock. */
export interface EndingWorkload {
  readonly serial: number;
  readonly workload: Workload;
  /** Place of its group in the order of the shutdown. */
  readonly group: number;
  readonly toldAtNs: bigint;
  /** Its own grace, or its group's, whichever is smaller. */
  readonly gracePeriodNs: bigint;
  /** SIGKILL is sent from here on. */
  readonly killsAtNs: bigint;
  /** undefined: it was not killed. */
  readonly killedAtNs: bigint | undefined;
}

/**
 * ended: by being told. killed: its time was over. gone: before it was told. evicted: memory, or whatever else was short, did not wait. left: processes
 * are left, or nobody can be signalled.
 */
export type ShutdownResult = 'ended' | 'killed' | 'gone' | 'evicted' | 'left';

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
  const seen = before.map((one) => ({ one, end: endOf(one, readings.get(one.serial), isEvicted(one.workload.id), nowNs) }));
  const still = seen.filter(({ end }) => end === undefined).map(({ one }) => one);
  const kill = still.filter(isDue);
  const ending = still.map((one) => (isDue(one) ? { ...one, killedAtNs: nowNs } : one));
  const isAwaited = group.isLast ? ending.length > 0 : ending.some((one) => one.group === group.index);
  const untilNs = group.isLast ? lingersUntilNs(ending, group) : group.endsAtNs;
  return {
    ending,
    ended: seen.flatMap(({ end }) => end ?? []),
    kill,
    isOver: !isAwaited || nowNs >= untilNs,
    dueAtNs: ending.flatMap(({ killedAtNs, killsAtNs }) => (killedAtNs === undefined ? killsAtNs : [])).reduce(earlier, untilNs),
  };
}

/** A last group of nobody takes no time either, whoever of those before was killed and is still there. */
function lingersUntilNs(ending: readonly EndingWorkload[], { index, endsAtNs }: GroupNow): bigint {
  const isTurn = ending.some((one) => one.group === index);
  return (isTurn ? endsAtNs : ending.reduce((last, { killedAtNs = 0n }) => (killedAtNs > last ? killedAtNs : last), 0n)) + LINGERS_NS;
}

/** Nobody waits for it any more. */
export function leftOver(one: EndingWorkload, reading: VictimReading | undefined, nowNs: bigint): EndedWorkload {
  return { ...one, result: 'left', afterNs: nowNs - one.toldAtNs, processesLeft: reading?.processes, error: reading?.error };
}

/** Whether it has ended before its time was over. */
export function isInTime({ result }: Pick<EndedWorkload, 'result'>): boolean {
  return result === 'ended' || result === 'gone' || result === 'evicted';
}

/** undefined: it has not ended, and something can still be done about it. */
function endOf(one: EndingWorkload, reading: VictimReading | undefined, isEvicted: boolean, nowNs: bigint): EndedWorkload | undefined {
  if (reading === undefined) return undefined;
  const { processes, vanished, error, passing } = reading;
  const end = (result: ShutdownResult): EndedWorkload => ({ ...one, result, afterNs: nowNs - one.toldAtNs });
  if (vanished) return end('gone');
  if (processes === 0) return end(isEvicted ? 'evicted' : one.killedAtNs === undefined ? 'ended' : 'killed');
  const isFinal = error !== undefined && passing === undefined && (processes === undefined || one.killedAtNs !== undefined);
  return isFinal ? leftOver(one, reading, nowNs) : undefined;
}

function earlier(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
