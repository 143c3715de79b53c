import type { Observation } from './observation.js';
import { WHOLE_SHARE, type StallKind, type StallResource } from './signal.js';

/** The kernel's `total=` of one line of a pressure file: since boot, or since the cgroup was created. */
export interface Stall {
  readonly resource: StallResource;
  readonly kind: StallKind;
  readonly seconds: number;
}

/** A share of the wall time, 0 to 1. */
export function ratioOf({ available }: Observation): number {
  return Number(available) / Number(WHOLE_SHARE);
}
