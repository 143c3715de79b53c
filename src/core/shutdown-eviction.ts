import type { Policy } from './state.js';
import { thresholdKind, type Threshold } from './threshold.js';

/**
 * Whether anybody may go for a threshold, or anything be reclaimed for it: while the machine goes down the workloads end in an order and with a grace of their own,
 * and only what cannot wait comes before that. Soft thresholds are watched and told, and decide over conditions, as ever.
 */
export function mayActOn({ shuttingDown }: Pick<Policy, 'shuttingDown'>, threshold: Threshold): boolean {
  return shuttingDown !== true || thresholdKind(threshold) === 'hard';
}
