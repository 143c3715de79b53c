import type { Reclaim, ReclaimReading } from '../core/reclaim.js';
import type { Node, Reclaimer } from './ports.js';

/** Node-level reclaim under way: its collections run, then the filesystems are read anew, then a step is told. */
export class Reclaims {
  readonly #reclaimer: Reclaimer;
  readonly #node: Node;
  #reading: ReclaimReading | undefined;
  /** The filesystems were read since the collections ran. */
  #ripe = false;

  constructor(reclaimer: Reclaimer, node: Node) {
    this.#reclaimer = reclaimer;
    this.#node = node;
  }

  /** Calls back when a step can be told. */
  begin({ collections, threshold }: Reclaim, onRipe: () => void): void {
    const failed = (error: unknown): ReclaimReading => ({ errors: [String(error)] });
    void this.#reclaimer
      .run(collections, threshold.signal)
      .catch(failed)
      .then((reading) => {
        this.#reading = reading;
        this.#ripe = false;
        this.#node.requestFilesystems((outstanding) => {
          if (this.#reading !== reading || outstanding > 0) return;
          this.#ripe = true;
          onRipe();
        });
      });
  }

  /** A filesystem that does not answer must not hold up a reclaim for ever: at a tick what is known has to do. */
  ripen(): void {
    this.#ripe = this.#reading !== undefined;
  }

  /** What the collections did, once; undefined: none are over. */
  take(): ReclaimReading | undefined {
    const reading = this.#ripe ? this.#reading : undefined;
    if (reading) {
      this.#reading = undefined;
      this.#ripe = false;
    }
    return reading;
  }
}
