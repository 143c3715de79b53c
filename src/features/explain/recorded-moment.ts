import { amountOf } from '../../core/quantity/amount.js';
import type { Observations } from '../../core/signal/observation.js';
import { EvictdError } from '../../errors.js';
import { RecordedClock } from '../../recording/recorded-clock.js';
import { RecordingStream } from '../../recording/recording-stream.js';

/** A reading of the node in a recording. */
export interface RecordedMoment {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly observations: Observations;
}

/** The greatest age of a reading. By default ticks are at most this far apart; an older reading means that steps are missing. */
const COVERED_MS = 60_000;

/**
 * The last recorded reading before a time; or why there is none.
 *
 * @param path  as for `--record`: what is older is in `PATH.1`
 */
export async function recordedMoment(path: string, atMs: number): Promise<RecordedMoment | string> {
  let found: RecordedMoment | undefined;
  let problem: string | undefined;
  for (const file of [`${path}.1`, path]) {
    try {
      for await (const moment of momentsOf(file)) {
        if (moment.atMs <= atMs && atMs - moment.atMs <= COVERED_MS) found = moment; // in order: the clock may have been set back
      }
    } catch (error) {
      if (!(error instanceof EvictdError)) throw error;
      if (file === path) problem = error.message;
    }
  }
  return found ?? problem ?? `the recording ${path} does not cover that time`;
}

async function* momentsOf(file: string): AsyncGenerator<RecordedMoment> {
  const stream = await RecordingStream.open(file);
  let clock = new RecordedClock(stream.header);
  for await (const { entry } of stream.entries()) {
    if (entry.kind === 'run') clock = new RecordedClock(entry.header);
    if (entry.kind !== 'step') continue;
    clock.follow(entry);
    if (entry.observations) yield { atMs: clock.at(entry.input.nowNs), observations: entry.observations };
  }
}

/** 'memory.available 224MiB of 1GiB, …' */
export function observedText({ observed }: Observations): string {
  return [...observed]
    .map(([signal, { available, capacity }]) => `${signal} ${amountOf(signal, available)} of ${amountOf(signal, capacity)}`)
    .join(', ');
}
