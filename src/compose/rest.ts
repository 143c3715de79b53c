import type { StepListener, StepReport } from '../monitor/ports.js';

/** Finds the time for what is better not done in a step: right after one that a tick has brought, or that has acted. */
export class Rest implements StepListener {
  readonly #atRest: () => void;
  #waiting = false;

  constructor(atRest: () => void) {
    this.#atRest = atRest;
  }

  stepped({ wake, effects }: StepReport): void {
    if (this.#waiting || (wake.source !== 'tick' && effects.length === 0)) return;
    this.#waiting = true;
    queueMicrotask(() => {
      this.#waiting = false;
      this.#atRest();
    });
  }

  close(): void {
    // nothing is held
  }
}
