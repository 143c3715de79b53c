import type { Observation } from './observation.js';
import { isPressure, pressureParts, WHOLE_SHARE, type Signal, type StallKind, type StallResource } from './signal.js';

/** A share of the wall time, 0 to 1. */
export function ratioOf({ available }: Observation): number {
  return Number(available) / Number(WHOLE_SHARE);
}

/**
 * The kernel's `total=` of one line of a pressure file, if a threshold uses that line: at most one sample, without
 * labels.
 */
export function stalledSeconds(
  resource: StallResource,
  kind: StallKind,
  observed: ReadonlyMap<Signal, Observation>,
): readonly (readonly [value: number])[] {
  for (const [signal, { stalledUs }] of observed) {
    if (stalledUs === undefined || !isPressure(signal)) continue;
    const parts = pressureParts(signal);
    if (parts.resource === resource && parts.kind === kind) return [[Number(stalledUs) / 1e6]];
  }
  return [];
}
