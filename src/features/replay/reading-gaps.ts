import type { Decision } from '../../core/decide/eviction.js';
import type { Policy, State } from '../../core/decide/state.js';
import type { Signal } from '../../core/signal/signal.js';
import type { RecordedStep } from '../../recording/recording-format.js';
import { operandsOf, thresholdId } from '../../core/threshold/threshold.js';

/** How far apart a recording has readings of a signal. */
export interface SignalReadings {
  readonly signal: Signal;
  readonly readings: number;
  readonly largestGapNs: bigint;
}

interface Readings {
  readonly count: number;
  readonly lastNs: bigint;
  readonly largestGapNs: bigint;
}

/**
 * What a recording does not show. It has a reading where the recorded evictd made a step, so that the crossing of a
 * threshold that was not in force lies anywhere between two of them.
 */
export class ReadingGaps {
  readonly #readings = new Map<Signal, Readings>();
  /** The time when the threshold was last read as not met, by threshold id. */
  readonly #unmetAtNs = new Map<string, bigint>();
  #beganAtNs: bigint | undefined;

  /** @param state  after the step */
  stepped(
    { observations, input: { nowNs } }: Pick<RecordedStep, 'observations' | 'input'>,
    { thresholds }: Pick<Policy, 'thresholds'>,
    { episodes }: Pick<State, 'episodes'>,
  ): void {
    this.#beganAtNs ??= nowNs;
    const timeOf = (signal: Signal): bigint | undefined => {
      const observation = observations?.observed.get(signal);
      return observation && (observation.timeNs ?? nowNs);
    };
    for (const signal of new Set(thresholds.flatMap(operandsOf).map((operand) => operand.signal))) this.#read(signal, timeOf(signal));
    for (const threshold of thresholds) {
      const [id, timeNs] = [thresholdId(threshold), timeOf(threshold.signal)];
      if (timeNs !== undefined && !episodes.has(id)) this.#unmetAtNs.set(id, timeNs);
    }
  }

  /**
   * The earliest time at which an evictd with this threshold would have decided. undefined: the recorded evictd had the
   * threshold, and was woken by its crossing, or another cause than a threshold decided.
   */
  earliest({ cause }: Decision, recorded: Pick<Policy, 'thresholds'>): bigint | undefined {
    if (cause.kind !== 'threshold') return undefined;
    const id = thresholdId(cause.threshold);
    if (recorded.thresholds.some((threshold) => thresholdId(threshold) === id)) return undefined;
    return (this.#unmetAtNs.get(id) ?? this.#beganAtNs ?? 0n) + cause.threshold.gracePeriodNs;
  }

  report(): readonly SignalReadings[] {
    return [...this.#readings].map(([signal, { count, largestGapNs }]) => ({ signal, readings: count, largestGapNs }));
  }

  #read(signal: Signal, timeNs: bigint | undefined): void {
    if (timeNs === undefined) return;
    const { count, lastNs, largestGapNs } = this.#readings.get(signal) ?? { count: 0, lastNs: timeNs, largestGapNs: 0n };
    if (count > 0 && timeNs === lastNs) return;
    const gapNs = timeNs - lastNs;
    this.#readings.set(signal, { count: count + 1, lastNs: timeNs, largestGapNs: gapNs > largestGapNs ? gapNs : largestGapNs });
  }
}
