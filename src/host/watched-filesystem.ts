import type { Missing } from './missing-reading.js';

/**
 * The time without an answer after which a filesystem's last answer no longer counts. A local disk answers in microseconds,
 * a busy network filesystem within seconds; the kubelet's figures are at most 10 s old.
 */
const NO_ANSWER_NS = 10_000_000_000n;

/** The reason why no answer counts; undefined: one does. */
export function missingAnswer(
  path: string,
  { pending, pendingSinceNs, atNs }: { readonly pending: boolean; readonly pendingSinceNs: bigint; readonly atNs: bigint },
  nowNs: bigint,
): Missing | undefined {
  const silentNs = pending ? nowNs - pendingSinceNs : 0n;
  if (silentNs >= NO_ANSWER_NS) return { missing: `no answer from the filesystem of ${path} for ${String(silentNs / 1_000_000_000n)} s` };
  return atNs === 0n ? { missing: `${path}: not read yet` } : undefined;
}

/** A filesystem that the addon asks on a thread of its own. */
interface RequestedFilesystem {
  /** false: an answer is pending, and `onDone` is dropped. */
  request(onDone?: () => void): boolean;
  close(): void;
}

/** A path whose filesystem is asked repeatedly, and may not answer. */
export class WatchedFilesystem<Stats extends RequestedFilesystem> {
  /** The pending request. Only the latest `onDone` is kept, so that a filesystem that hangs collects no callbacks. */
  #request: { onDone: (() => void) | undefined } | undefined;

  /**
   * @param stats of `path`; closed with this
   * @param onAnswer called at every answer, before the request's callback
   */
  constructor(
    readonly path: string,
    readonly stats: Stats,
    private readonly onAnswer: () => void,
  ) {}

  /** An answer is pending. */
  get isRequested(): boolean {
    return this.#request !== undefined;
  }

  request(onDone?: () => void): void {
    const request = { onDone };
    const isNew = this.stats.request(() => {
      // A late answer does not count for the next request.
      if (this.#request === request) this.#request = undefined;
      this.onAnswer();
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
  watched: () => readonly Pick<WatchedFilesystem<RequestedFilesystem>, 'request' | 'isRequested'>[],
  onAnswer?: (outstanding: number) => void,
): void {
  const onDone =
    onAnswer &&
    ((): void => {
      onAnswer(watched().filter(({ isRequested }) => isRequested).length);
    });
  for (const one of watched()) one.request(onDone);
}
