import type { StepListener, StepReport } from '../monitor/ports.js';

/** Finds the time for what is better not done in a step. */
export class Rest implements StepListener {
  readonly #atRest: () => void;
  #waiting: NodeJS.Immediate | undefined;

  constructor(atRest: () => void) {
    this.#atRest = atRest;
  }

  stepped({ wake, effects }: StepReport): void {
    if (wake.source !== 'tick' && effects.length === 0) return;
    this.#waiting ??= setImmediate(() => {
      this.#waiting = undefined;
      this.#atRest();
    });
  }

  close(): void {
    clearImmediate(this.#waiting);
  }
}
