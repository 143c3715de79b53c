import { whenOperands } from '../../src/config/resolve/listed-thresholds.js';
import type { Threshold, ThresholdKind } from '../../src/core/threshold/threshold.js';
import { SECOND } from './support.js';

/** An entry of the list `thresholds`. */
export function listed(when: string, kind: ThresholdKind, forSeconds = 0): Threshold {
  const [starved, ...also] = whenOperands(when);
  return { ...starved, gracePeriodNs: BigInt(forSeconds) * SECOND, minReclaim: undefined, kind, ...(also.length > 0 && { also }) };
}
