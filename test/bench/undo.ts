/** Undoes everything in reverse order, also on Ctrl-C and SIGTERM, after which the process ends. */
export class Undo {
  #steps: (() => unknown)[] = [];

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => void this.all().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143)));
    }
  }

  readonly add = (step: () => unknown): void => {
    this.#steps.push(step);
  };

  async all(): Promise<void> {
    const steps = this.#steps.reverse();
    this.#steps = [];
    for (const each of steps) await each();
  }
}
