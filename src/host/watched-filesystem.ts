/** A filesystem that the addon asks on a thread of its own. */
interface AskedFilesystem {
  /** false: an answer is pending, and `onDone` is dropped. */
  request(onDone?: () => void): boolean;
  close(): void;
}

/** A path whose filesystem is asked repeatedly, and may not answer. */
export class WatchedFilesystem<Stats extends AskedFilesystem> {
  readonly path: string;
  readonly stats: Stats;
  readonly #onAnswer: () => void;
  /** The pending request. Only the latest `onDone` is kept, so that a filesystem that hangs collects no callbacks. */
  #request: { onDone: (() => void) | undefined } | undefined;

  /**
   * @param stats of `path`; closed with this
   * @param onAnswer called at every answer, before the request's callback
   */
  constructor(path: string, stats: Stats, onAnswer: () => void) {
    this.path = path;
    this.stats = stats;
    this.#onAnswer = onAnswer;
  }

  /** An answer is pending. */
  get isAsked(): boolean {
    return this.#request !== undefined;
  }

  request(onDone?: () => void): void {
    const request = { onDone };
    const isNew = this.stats.request(() => {
      // A late answer does not count for the next request.
      if (this.#request === request) this.#request = undefined;
      this.#onAnswer();
      request.onDone?.();
    });
    // While an answer is pending the addon drops this callback; the pending one calls it.
    if (isNew) this.#request = request;
    else if (this.#request) this.#request.onDone = onDone ?? this.#request.onDone;
  }

  close(): void {
    this.stats.close();
  }
}

/** @param onAnswer  called at each answer, with the number still pending */
export function requestAll(
  watched: () => readonly Pick<WatchedFilesystem<AskedFilesystem>, 'request' | 'isAsked'>[],
  onAnswer?: (outstanding: number) => void,
): void {
  const onDone =
    onAnswer &&
    ((): void => {
      onAnswer(watched().filter(({ isAsked }) => isAsked).length);
    });
  for (const one of watched()) one.request(onDone);
}
