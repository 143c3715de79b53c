import { amountOfBytes } from '../../../core/quantity/amount.js';
import { isListed, resolve, thresholdKind, valueText, type Threshold } from '../../../core/threshold/threshold.js';
import type { NodeFacts } from '../facts/node-facts.js';

/** The hard threshold of evictd. */
export interface MemoryLimit {
  readonly bytes: bigint;
  /** 'memory.available<5% (400MiB)' */
  readonly text: string;
}

/** The highest hard threshold of memory.available alone; undefined: none, or unknown capacity. */
export function hardMemoryLimit({ thresholds, capacities }: Pick<NodeFacts, 'thresholds' | 'capacities'>): MemoryLimit | undefined {
  const capacity = capacities.get('memory.available');
  if (capacity === undefined) return undefined;
  const limits = thresholds.filter(isHardMemory).map(({ value }): MemoryLimit => {
    const bytes = resolve(value, capacity);
    const amount = value.kind === 'percentage' ? ` (${amountOfBytes(bytes)})` : '';
    return { bytes, text: `memory.available<${valueText(value)}${amount}` };
  });
  return limits.sort((a, b) => (a.bytes < b.bytes ? 1 : -1))[0];
}

/** A hard threshold of memory.available that is not joined with other signals. */
export function isHardMemory(threshold: Threshold): boolean {
  return threshold.signal === 'memory.available' && !isListed(threshold) && thresholdKind(threshold) === 'hard';
}
