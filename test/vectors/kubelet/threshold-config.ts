import { combineThresholds, enforcesPods, PARSE_ENTRY, parseSignal } from '../../../src/config/resolve/thresholds.js';
import type { AmountSignal } from '../../../src/core/signal/signal.js';
import type { Threshold } from '../../../src/core/threshold/threshold.js';

/** The fields of a KubeletConfiguration that say what the thresholds are. */
export interface ThresholdConfig {
  readonly enforceNodeAllocatable: readonly string[];
  readonly evictionHard: Readonly<Record<string, string>>;
  readonly evictionSoft: Readonly<Record<string, string>>;
  readonly evictionSoftGracePeriod: Readonly<Record<string, string>>;
  readonly evictionMinimumReclaim: Readonly<Record<string, string>>;
}

/**
 * All thresholds of a configuration, or the first error: the maps are read in the order hard, soft, grace periods,
 * minimum reclaims, and last comes a missing grace period (kubelet: ParseThresholdConfig, eviction/helpers.go,
 * v1.36.2). The kubelet reads the entries of one map in no fixed order.
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
