import type { Observation, Observations } from './observation.js';
import type { Operand, Threshold } from './threshold.js';

/** What was read for an operand beside the starved one; `observation` undefined: nothing was. */
export interface JoinedReading {
  readonly operand: Operand;
  readonly observation: Observation | undefined;
}

/** The readings of the operands beside the starved one, where there are any. */
export interface Joined {
  readonly joined?: readonly JoinedReading[];
}

/** To be spread into what tells of a threshold: nothing where it has one operand. */
export function joined({ also }: Threshold, { observed }: Observations): Joined {
  return also === undefined ? {} : { joined: also.map((operand) => ({ operand, observation: observed.get(operand.signal) })) };
}
