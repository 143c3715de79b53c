/**
 * How long systemd's answer how a unit ends is awaited at shutdown, and the largest part of the group's time for it. It
 * answers within milliseconds, or seconds when it is busy. A unit with Restart= that is signalled without that answer
 * would be started again.
 */
export const AWAIT_ANSWER_NS = 5_000_000_000n;
const PART_OF_GROUP = 4n;
/** What the loop waits for, on the monotonic clock. */
export interface Timetable {
  readonly tickAtNs: bigint;
  /** The time that the last step asked for. */
  readonly dueAtNs: bigint | undefined;
  /** Left out: there are no policies. */
  readonly policiesAtNs?: bigint | undefined;
  readonly wakeAtNs: bigint | undefined;
  readonly victimAtNs: bigint | undefined;
  /** No decision before; ticks continue, as signs of life. */
  readonly notBeforeNs: bigint | undefined;
  /** The node needs a reading between two passes. No decision, so `notBeforeNs` does not delay it. */
  readonly lookAtNs: bigint | undefined;
  /** The watchdog needs a pass, whether or not a decision is allowed. */
  readonly heartbeatAtNs: bigint | undefined;
  /** A standing order has to be renewed. Left out: none stands. */
  readonly orderAtNs?: bigint | undefined;
}

export function nextLookNs({
  tickAtNs,
  dueAtNs,
  policiesAtNs,
  wakeAtNs,
  victimAtNs,
  notBeforeNs,
  lookAtNs,
  heartbeatAtNs,
  orderAtNs,
}: Timetable): bigint {
  const allowed = [dueAtNs, policiesAtNs, wakeAtNs, victimAtNs].map((time) =>
    time !== undefined && notBeforeNs !== undefined && time < notBeforeNs ? notBeforeNs : time,
  );
  return [...allowed, lookAtNs, heartbeatAtNs, orderAtNs].reduce<bigint>(
    (next, time) => (time !== undefined && time < next ? time : next),
    tickAtNs,
  );
}

/**
 * When to look again for an answer that is awaited: often at first, then less, because each look reads all workloads.
 */
export function awaitedLookNs(nowNs: bigint, sinceNs: bigint): bigint {
  const tenthNs = (nowNs - sinceNs) / 10n;
  return nowNs + (tenthNs < 5_000_000n ? 5_000_000n : tenthNs < 100_000_000n ? tenthNs : 100_000_000n);
}

const FIRST_LOOK_NS = 1_000_000n;
const RARE_LOOK_NS = 50_000_000n;
/** Looks take at most a fifth of the time: the victim needs a processor to exit on. */
const REST_PER_LOOK = 4n;

/**
 * When to look again at ending victims: often at first, then less. A watch reports the end of most. A look only finds
 * what the watch cannot see, e.g. processes that have started since.
 *
 * @param tookNs  how long the last look took
 */
export function victimLookNs(nowNs: bigint, lastSignalNs: bigint, tookNs: bigint): bigint {
  const wanted = [FIRST_LOOK_NS, (nowNs - lastSignalNs) / 8n, tookNs * REST_PER_LOOK].reduce((most, ns) => (ns > most ? ns : most));
  return nowNs + (wanted < RARE_LOOK_NS ? wanted : RARE_LOOK_NS);
}

/** The longest time that a workload of a group may wait for systemd's answer at shutdown. */
export function awaitAnswerNs(gracePeriodNs: bigint): bigint {
  const partNs = gracePeriodNs / PART_OF_GROUP;
  return partNs < AWAIT_ANSWER_NS ? partNs : AWAIT_ANSWER_NS;
}
