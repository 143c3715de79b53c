import { type ConditionType } from '../signal/signal.js';

/** A unit that systemd stopped for evictd and that would have come back. evictd starts it again later. */
export interface Hold {
  readonly unit: string;
  /** The last decision that stopped it. */
  readonly decision: number;
  /**
   * What to start, in order: its sockets, paths and timers, the unit if it restarts by itself, and the units stopped
   * with it.
   */
  readonly start: readonly string[];
  /** The part that an earlier decision stopped and that was never started, because something else started the unit. */
  readonly unstarted: readonly string[];
  readonly condition: ConditionType;
  /**
   * Earliest start, and only without a met threshold of the condition; undefined: when the condition has cleared. The
   * hold of a policy always has a time.
   */
  readonly untilNs: bigint | undefined;
  /** systemd was asked to start it, and has not answered yet. */
  readonly startRequested?: true;
}
