/** What the addon asks on a thread of its own. */
export interface AskedFilesystem {
  /** false: an answer is awaited, and `onDone` is dropped. */
  request(onDone?: () => void): boolean;
  close(): void;
}

/** A path whose filesystem is asked again and again, and may not answer. */
export class WatchedFilesystem<Stats extends AskedFilesystem> {
  readonly path: string;
  readonly stats: Stats;
  readonly #onAnswer: () => void;
  /** The request that is under way. `onDone`: of the latest who asked, so that a filesystem that hangs gathers nobody. */
  #request: { onDone: (() => void) | undefined } | undefined;

  /**
   * @param stats  of `path`; closed with this
   * @param onAnswer  called at every answer, before whoever has asked
   */
  constructor(path: string, stats: Stats, onAnswer: () => void) {
    this.path = path;
    this.stats = stats;
    this.#onAnswer = onAnswer;
  }

  /** An answer is awaited. */
  get isAsked(): boolean {
    return this.#request !== undefined;
  }

  request(onDone?: () => void): void {
    const request = { onDone };
    const isNew = this.stats.request(() => {
      // An answer is told to who asked for it: one that comes late is not taken for that of the request after it.
      if (this.#request === request) this.#request = undefined;
      this.#onAnswer();
      request.onDone?.();
    });
    // Nothing is asked twice: while an answer is under way the addon forgets this callback, and the one before passes it on.
    if (isNew) this.#request = request;
    else if (this.#request) this.#request.onDone = onDone ?? this.#request.onDone;
  }

  close(): void {
    this.stats.close();
  }
}

/**
 * Asks all of these.
 *
 * @param onAnswer  called at each answer, with the number of answers that are still awaited
 */
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
