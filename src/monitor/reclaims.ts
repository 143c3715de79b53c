import type { Reclaim, ReclaimReading } from '../core/reclaim/reclaim.js';
import type { Node, Reclaimer } from './ports/ports.js';

/** Node-level reclaim under way: runs the collections, reads the filesystems, and then calls for a step. */
export class Reclaims {
  #reading: ReclaimReading | undefined;
  #isComplete = false;
  /** A tick has seen the result: the filesystems have not answered since. */
  #isOld = false;

  constructor(
    private readonly reclaimer: Reclaimer,
    private readonly node: Node,
  ) {}

  /** Runs the collections. Calls back when their result can be used. */
  begin({ collections, threshold }: Reclaim, onComplete: () => void): void {
    const failed = (error: unknown): ReclaimReading => ({ errors: [String(error)] });
    void this.reclaimer
      .run(collections, threshold.signal)
      .catch(failed)
      .then((reading) => {
        this.#reading = reading;
        this.#isComplete = this.#isOld = false;
        this.node.requestFilesystems((outstanding) => {
          if (this.#reading !== reading || outstanding > 0) return;
          this.#isComplete = true;
          onComplete();
        });
      });
  }

  /**
   * A filesystem that does not answer must not hold up reclaim: the last known readings are used at the second tick after the
   * collections. At the first one the answer may only be on its way, and the readings are those from before.
   */
  useLastReadings(): void {
    this.#isComplete ||= this.#isOld && this.#reading !== undefined;
    this.#isOld = this.#reading !== undefined;
  }

  /** The result of the collections, once; undefined: they are still running. */
  take(): ReclaimReading | undefined {
    const reading = this.#isComplete ? this.#reading : undefined;
    if (reading) {
      this.#reading = undefined;
      this.#isComplete = false;
    }
    return reading;
  }
}
