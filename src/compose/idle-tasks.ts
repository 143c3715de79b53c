import type { StepListener, StepReport } from '../monitor/ports/ports.js';

/** Runs tasks that a step should not wait for, in order: right after a step that a tick caused or that had effects. */
export class IdleTasks implements StepListener {
  readonly #tasks: readonly (() => void)[];
  #waiting = false;

  constructor(tasks: readonly (() => void)[]) {
    this.#tasks = tasks;
  }

  stepped({ wake, effects }: StepReport): void {
    if (this.#waiting || (wake.source !== 'tick' && effects.length === 0)) return;
    this.#waiting = true;
    queueMicrotask(() => {
      this.#waiting = false;
      for (const task of this.#tasks) task();
    });
  }

  close(): void {
    // holds nothing
  }
}
