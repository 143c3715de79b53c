import type { Reclaim, ReclaimReading } from '../core/reclaim/reclaim.js';
import type { Node, Reclaimer } from './ports/ports.js';

/** Node-level reclaim under way: runs the collections, reads the filesystems, and then calls for a step. */
export class Reclaims {
  #reading: ReclaimReading | undefined;
  #isComplete = false;

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
        this.#isComplete = false;
        this.node.requestFilesystems((outstanding) => {
          if (this.#reading !== reading || outstanding > 0) return;
          this.#isComplete = true;
          onComplete();
        });
      });
  }

  /** A filesystem that does not answer must not hold up reclaim: at a tick the last known readings are used. */
  useLastReadings(): void {
    this.#isComplete = this.#reading !== undefined;
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
