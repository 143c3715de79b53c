import type { Policy } from './state.js';
import { thresholdKind, type Threshold } from '../threshold/threshold.js';

/**
 * Whether a threshold may evict or reclaim. While the machine shuts down, workloads end in their own order with their
 * own grace periods, and only hard thresholds may interfere. Soft thresholds still alert and set conditions.
 */
export function mayActOn({ shuttingDown }: Pick<Policy, 'shuttingDown'>, threshold: Threshold): boolean {
  return shuttingDown !== true || thresholdKind(threshold) === 'hard';
}
