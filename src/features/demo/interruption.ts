const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Catches signals until `dispose`, so that the demo cleans up; a second Ctrl-C does not stop that. */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #caught = (name: NodeJS.Signals): void => {
    this.by ??= name;
    this.#controller.abort();
  };
  /** The first signal; undefined: none came. */
  by: NodeJS.Signals | undefined;

  constructor() {
    for (const name of SIGNALS) process.on(name, this.#caught);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  dispose(): void {
    for (const name of SIGNALS) process.off(name, this.#caught);
  }
}
