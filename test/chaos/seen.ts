/** A moment: of CLOCK_MONOTONIC, and what the wall clock said; both in milliseconds. */
export interface Moment {
  readonly at: number;
  readonly wall: number;
}

/**
 * What the driver did and saw. `workload`: the inode of its cgroup, which neither a new name nor a cgroup of the same
 * name changes.
 */
export type Event =
  | { readonly kind: 'action'; readonly what: string }
  | { readonly kind: 'workload'; readonly workload: string; readonly name: string; readonly protected: boolean }
  | { readonly kind: 'renamed'; readonly workload: string; readonly name: string }
  /** Seen before its start. */
  | { readonly kind: 'process'; readonly workload: string; readonly pid: number }
  /** `sent`: the driver sent it a signal. */
  | { readonly kind: 'ended'; readonly workload: string; readonly pid: number; readonly signal: string | null; readonly sent: boolean }
  /** The kernel's OOM killer has killed `count` processes of it since `since` (monotonic). `limit`: the one that was reached. */
  | {
      readonly kind: 'kernel-kills';
      readonly workload: string;
      readonly count: number;
      readonly since: number;
      readonly limit: 'own' | 'node';
    }
  /** `freeBytes`: the node's limit minus its usage. `anonBytes` by workload. `alive`: pids of its processes. */
  | {
      readonly kind: 'looked';
      readonly freeBytes: number;
      readonly anonBytes: Readonly<Record<string, number>>;
      readonly alive: readonly number[];
    }
  /** `lost`: it ended, and the driver had not ended it. */
  | { readonly kind: 'evictd'; readonly state: 'guards' | 'stopped' | 'dead' | 'lost' };

export type Seen = Moment & Event;
/** `moment`: now if left out. */
export type See = (event: Event, moment?: Moment) => void;

export function moment(): Moment {
  return { at: Number(process.hrtime.bigint()) / 1e6, wall: Date.now() };
}

/** In place of a workload: some unit of the node. */
export const A_UNIT = 'a unit';

/** What the checker has to know of a run. */
export interface Promised {
  readonly seed: number;
  readonly budget: { readonly max: number; readonly windowMs: number };
  /** The workload that evictd has to evict at the end. */
  readonly last: string;
  /** evictd has looked at the node at least once in any time as long as this, unless it was stopped. */
  readonly looksWithinMs: number;
}

/** Wall clock readings are whole milliseconds: two times that follow from them are so much nearer than they seem. */
export const ROUNDING_MS = 2;

/**
 * The monotonic time of a wall clock reading, by the event whose wall clock is nearest. Jumps of the clock are so far
 * apart that no two times of a run have the same reading.
 */
export function monotonicOf(wall: number, moments: readonly Moment[]): number {
  let nearest = moments[0];
  for (const moment of moments) if (nearest === undefined || Math.abs(moment.wall - wall) < Math.abs(nearest.wall - wall)) nearest = moment;
  return nearest === undefined ? wall : wall - (nearest.wall - nearest.at);
}
