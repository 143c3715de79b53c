const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Makes a failed output and signals that would end the process an end in order. They stay caught until `dispose`: a second Ctrl-C does not stop the cleaning up. */
export class Interruption {
  readonly #controller = new AbortController();
  /** Aborted when it is to end. */
  readonly signal: AbortSignal;
  readonly #caught = (name: NodeJS.Signals): void => {
    this.by ??= name;
    this.#controller.abort();
  };
  /** The first signal; undefined: none came. */
  by: NodeJS.Signals | undefined;

  /** @param outputFailed  aborted when nobody can be shown anything any more: a demo that nobody sees ends, too */
  constructor(outputFailed?: AbortSignal) {
    this.signal = outputFailed ? AbortSignal.any([this.#controller.signal, outputFailed]) : this.#controller.signal;
    for (const name of SIGNALS) process.on(name, this.#caught);
  }

  dispose(): void {
    for (const name of SIGNALS) process.off(name, this.#caught);
  }
}
