import type { Observation, Observations } from '../core/signal/observation.js';
import type { Signal } from '../core/signal/signal.js';

/** Why there is no reading. */
export interface Missing {
  readonly missing: string;
  /** Such a reading cannot exist here. */
  readonly absent?: true;
  /** A reading follows in a moment. */
  readonly pending?: true;
}

/** Sorts the results of a pass by kind. */
export function collect(signals: readonly (readonly [Signal, Observation | Missing])[]): Observations {
  const observed = new Map<Signal, Observation>();
  const missing = new Map<Signal, string>();
  const absent = new Map<Signal, string>();
  const pending = new Map<Signal, string>();
  for (const [signal, result] of signals) {
    if (!('missing' in result)) observed.set(signal, result);
    else if (result.absent) absent.set(signal, result.missing);
    else if (result.pending) pending.set(signal, result.missing);
    else missing.set(signal, result.missing);
  }
  return { observed, missing, absent, ...(pending.size > 0 && { pending }) };
}
