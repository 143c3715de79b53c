import type { RecordedStep, RecordingHeader } from './recording-format.js';

interface Known {
  readonly wallMs: number;
  readonly atNs: bigint;
}

/** The wall time of the monotonic times of a run, over every change of the clock and every sleep that its steps note. */
export class RecordedClock {
  readonly #first: Known;
  readonly #later: Known[] = [];

  constructor({ startedAt, startedAtNs }: RecordingHeader) {
    this.#first = { wallMs: Date.parse(startedAt), atNs: startedAtNs };
  }

  follow({ wallMs, input: { nowNs } }: RecordedStep): void {
    if (wallMs !== undefined) this.#later.push({ wallMs, atNs: nowNs });
  }

  /** Milliseconds since 1970. */
  at(atNs: bigint): number {
    const known = this.#later.findLast((later) => later.atNs <= atNs) ?? this.#first;
    return known.wallMs + Number(atNs - known.atNs) / 1e6;
  }
}
