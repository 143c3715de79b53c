import type { AmountSignal } from '../core/signal.js';
import type { Threshold, ThresholdValue } from '../core/threshold.js';
import { combineThresholds, parseGracePeriod, parseMinimumReclaim, parseSignal, parseThresholdValue } from './thresholds.js';

/** The fields of a KubeletConfiguration that say what the thresholds are. */
export interface ThresholdConfig {
  readonly enforceNodeAllocatable: readonly string[];
  readonly evictionHard: Readonly<Record<string, string>>;
  readonly evictionSoft: Readonly<Record<string, string>>;
  readonly evictionSoftGracePeriod: Readonly<Record<string, string>>;
  readonly evictionMinimumReclaim: Readonly<Record<string, string>>;
}

/** How an entry of each map is read: a value, undefined where the threshold is switched off, or the kubelet's error. */
export const PARSE_ENTRY = {
  evictionHard: parseThresholdValue,
  evictionSoft: parseThresholdValue,
  evictionSoftGracePeriod: (_signal: string, text: string): bigint => parseGracePeriod(text),
  evictionMinimumReclaim: parseMinimumReclaim,
} as const satisfies Record<string, (signal: string, text: string) => ThresholdValue | bigint | undefined>;
export type ThresholdMapKey = keyof typeof PARSE_ENTRY;

/**
 * All thresholds of a configuration, or the first error: the maps are read in the order hard, soft, grace periods, minimum reclaims, and last
 * comes a missing grace period (kubelet: ParseThresholdConfig, eviction/helpers.go, v1.36.2). The kubelet reads the entries of one map in no fixed order.
 *
 * @throws ThresholdError, QuantityError, FloatError, DurationError
 */
export function parseThresholdConfig(config: ThresholdConfig): Threshold[] {
  const maps = {
    hard: parseMap(config.evictionHard, PARSE_ENTRY.evictionHard),
    soft: parseMap(config.evictionSoft, PARSE_ENTRY.evictionSoft),
    gracePeriodNs: parseMap(config.evictionSoftGracePeriod, PARSE_ENTRY.evictionSoftGracePeriod),
    minReclaim: parseMap(config.evictionMinimumReclaim, PARSE_ENTRY.evictionMinimumReclaim),
  };
  return combineThresholds(maps, enforcesPods(config.enforceNodeAllocatable), (_signal, error) => {
    throw error;
  });
}

/** Whether pods are held to what the node can give them, so that hard memory thresholds hold for that, too. */
export function enforcesPods(enforceNodeAllocatable: readonly string[]): boolean {
  return enforceNodeAllocatable.includes('pods');
}

function parseMap<T>(
  texts: Readonly<Record<string, string>>,
  parse: (signal: AmountSignal, text: string) => T | undefined,
): Map<AmountSignal, T> {
  const values = new Map<AmountSignal, T>();
  for (const [name, text] of Object.entries(texts)) {
    const signal = parseSignal(name);
    const value = parse(signal, text);
    if (value !== undefined) values.set(signal, value);
  }
  return values;
}
