import type { Joined } from './joined-readings.js';
import type { Observation } from '../signal/observation.js';
import type { ResourceThreshold } from './threshold.js';

/** A threshold has been met for its grace period. */
export interface ThresholdCause extends Joined {
  readonly kind: 'threshold';
  readonly threshold: ResourceThreshold;
  readonly observation: Observation;
  /** The limit in the unit of the signal, with the min reclaim if it is owed. */
  readonly limit: bigint;
  /** For pressure: the reading of memory.available. Left out: another signal, or not known. */
  readonly memory?: Observation;
}
