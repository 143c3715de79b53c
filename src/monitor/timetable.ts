/**
 * What decides how a unit ends is asked for when its turn comes, and known within milliseconds, or within seconds where systemd is busy: so long it is waited for, and no longer than this part of
 * the time of its group. One with Restart= that is signalled because nothing is known of it would come back.
 */
export const AWAITS_AT_MOST_NS = 5_000_000_000n;
const PART_OF_GROUP = 4n;
/** What the loop waits for, on the monotonic clock. */
export interface Timetable {
  readonly tickAtNs: bigint;
  /** What the last step asked for. */
  readonly dueAtNs: bigint | undefined;
  /** A wake that waits for its turn. */
  readonly wakeAtNs: bigint | undefined;
  /** Somebody is dying. */
  readonly victimAtNs: bigint | undefined;
  /** Nothing is decided before; ticks go on, because they say that evictd lives. */
  readonly notBeforeNs: bigint | undefined;
  /** The node wants a reading between two passes, which decides nothing, so that nothing holds it up. */
  readonly lookAtNs: bigint | undefined;
  /** The watchdog wants to hear of a pass, whether or not anything may be decided. */
  readonly heartbeatAtNs: bigint | undefined;
}

/** When to look next. */
export function nextLookNs({ tickAtNs, dueAtNs, wakeAtNs, victimAtNs, notBeforeNs, lookAtNs, heartbeatAtNs }: Timetable): bigint {
  const allowed = [dueAtNs, wakeAtNs, victimAtNs].map((time) =>
    time !== undefined && notBeforeNs !== undefined && time < notBeforeNs ? notBeforeNs : time,
  );
  return [...allowed, lookAtNs, heartbeatAtNs].reduce<bigint>((next, time) => (time !== undefined && time < next ? time : next), tickAtNs);
}

/** What is about to be known is looked for often at first, then less: each look is a pass over all workloads. */
export function awaitedLookNs(nowNs: bigint, sinceNs: bigint): bigint {
  const tenthNs = (nowNs - sinceNs) / 10n;
  return nowNs + (tenthNs < 5_000_000n ? 5_000_000n : tenthNs < 100_000_000n ? tenthNs : 100_000_000n);
}

/** Dying victims are looked at often at first, then less: most are gone within milliseconds. */
export function victimLookNs(nowNs: bigint, lastSignalNs: bigint): bigint {
  const sinceMs = Number(nowNs - lastSignalNs) / 1e6;
  return nowNs + BigInt(sinceMs < 50 ? 1_000_000 : sinceMs < 1_000 ? 10_000_000 : 50_000_000);
}

/** How long who is to be told to end at a shutdown may be waited for, of the time that there is for them. */
export function patienceNs(gracePeriodNs: bigint): bigint {
  const partNs = gracePeriodNs / PART_OF_GROUP;
  return partNs < AWAITS_AT_MOST_NS ? partNs : AWAITS_AT_MOST_NS;
}
