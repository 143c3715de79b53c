import type { Observation, Observations } from '../signal/observation.js';
import type { Operand, Threshold } from './threshold.js';

/** The reading of a joined operand; `observation` undefined: not read. */
export interface JoinedReading {
  readonly operand: Operand;
  readonly observation: Observation | undefined;
}

/** Left out: the threshold has one operand. */
export interface Joined {
  readonly joined?: readonly JoinedReading[];
}

/** The readings of the joined operands, to be spread into an effect. */
export function joined({ also }: Threshold, { observed }: Observations): Joined {
  return also === undefined ? {} : { joined: also.map((operand) => ({ operand, observation: observed.get(operand.signal) })) };
}
