import type { Observation } from './observation.js';
import { WHOLE_SHARE, type StallKind, type StallResource } from './signal.js';

/** One line of a pressure file. `seconds`: `total=`, since boot or since the cgroup was created. */
export interface Stall {
  readonly resource: StallResource;
  readonly kind: StallKind;
  readonly seconds: number;
  /** The kernel's moving averages of the share of the time, 0 to 1. */
  readonly averages: Readonly<Record<'avg10' | 'avg60' | 'avg300', number>>;
}

/** A share of the wall time, 0 to 1. */
export function ratioOf({ available }: Observation): number {
  return Number(available) / Number(WHOLE_SHARE);
}
