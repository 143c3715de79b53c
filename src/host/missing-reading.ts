import type { Observation, Observations } from '../core/signal/observation.js';
import type { Signal } from '../core/signal/signal.js';
import { availableParallelism } from 'node:os';

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

/**
 * What one core can fill in a second, until the machine has shown more. A process that touches 4 KiB pages fills 1.5 to
 * 2.5 GB; a file takes some µs, a task some tens of µs. Huge pages and fallocate are several times faster: the sampler
 * looks after a quarter of the time to the limit at this rate, and learns.
 */
const PER_CORE = { bytes: 2.5e9, inodes: 200_000, processes: 30_000 } as const;

/**
 * The shortest period for a disk that does not fill. A full disk kills no process, and what fills it faster than this
 * cannot be prevented.
 */
export const DISK_REST_MS = 1_000;

/** In units per second, before the sampler has seen more. */
export function assumedFillRate(unit: keyof typeof PER_CORE): number {
  return PER_CORE[unit] * availableParallelism();
}
