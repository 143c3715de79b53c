import type { VictimReading } from './eviction.js';
import type { Layout } from './layout.js';
import type { Observations } from './observation.js';
import type { ReclaimReading } from './reclaim.js';
import type { HoldNews } from './restart-storm.js';
import type { Candidates } from './workload.js';

/** Everything that a step is told. A recording of it (monitor/recording/format.ts) replays the run. */
export interface StepInput {
  /** Monotonic; not before the observations were made. */
  readonly nowNs: bigint;
  /** The filesystem layout, or why it could not be found out. */
  readonly layout: Layout | { readonly error: string };
  /**
   * Reads the node; victims are read before, so that what they gave back is in it. undefined: it could not be read at all. Not called where there
   * is nothing to decide.
   */
  readonly observe: () => Observations | undefined;
  /** One for every eviction in flight, by serial. */
  readonly victims: ReadonlyMap<number, VictimReading>;
  /** What the collections of `state.reclaiming` did; undefined: none is under way, or it is not over. */
  readonly reclaimed: ReclaimReading | undefined;
  /** systemd cannot be asked for anything now: who is kept stopped stays so. */
  readonly unitsOutOfReach?: boolean;
  /** By unit, of those that are kept stopped. */
  readonly holdNews?: ReadonlyMap<string, HoldNews>;
  /**
   * Reads the node once more, after the candidates: by then somebody may have ended, by the kernel's hand or his own, and the shortage with him. undefined: it
   * could not be read. Left out: it is not to be had.
   */
  readonly lastLook?: () => Observations | undefined;
  /** All candidates, read now. Called only when somebody has to go, or where limits of local storage are enforced. */
  readonly candidates: () => Candidates;
}
