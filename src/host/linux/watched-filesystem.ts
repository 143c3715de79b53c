import type { Binding, FilesystemStats } from '../../native/binding.js';

/** A path whose filesystem is asked again and again, and may not answer. */
export class WatchedFilesystem {
  readonly path: string;
  readonly stats: FilesystemStats;
  readonly #onAnswer: () => void;
  /** The request that is under way. `onDone`: of the latest who asked, so that a filesystem that hangs gathers nobody. */
  #request: { onDone: (() => void) | undefined } | undefined;

  /** @param onAnswer  called at every answer, before whoever has asked */
  constructor(native: Binding, path: string, onAnswer: () => void) {
    this.path = path;
    this.stats = new native.FilesystemStats(path);
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
