/** How something developed: the median of each quarter of the time, and what became of it. */
export interface Growth {
  readonly quarters: readonly [number, number, number, number];
  readonly highest: number;
  /** Median of the last quarter minus that of the first. */
  readonly growth: number;
  readonly leaks: boolean;
}

/** Allowed growth. */
export interface Allowance {
  readonly upTo: number;
  /** Growth beyond this is a leak of any shape; undefined: only `upTo` and the shape decide. */
  readonly cap?: number;
  /**
   * `any`: more than `upTo` is a leak (descriptors, threads). `steady`: only if it rises until the end. A heap reaches
   * its size in steps; a leak rises in every quarter, so each quarter has at least a sixth of the growth, half its even
   * share.
   */
  readonly leak: 'any' | 'steady';
}

/**
 * Uses medians: a single sample may be during a collection or a kill. Needs at least four samples at equal intervals.
 */
export function growthOf(samples: readonly number[], allowance: Allowance): Growth {
  const quarter = (index: number): number => median(samples.slice((samples.length * index) / 4, (samples.length * (index + 1)) / 4));
  const quarters = [quarter(0), quarter(1), quarter(2), quarter(3)] as const;
  const growth = quarters[3] - quarters[0];
  const steps = [quarters[1] - quarters[0], quarters[2] - quarters[1], quarters[3] - quarters[2]];
  const steady = steps.every((step) => step >= growth / 6);
  const beyond = Math.max(...quarters) - quarters[0] > (allowance.cap ?? Infinity);
  const leaks = beyond || (growth > allowance.upTo && (allowance.leak === 'any' || steady));
  return { quarters, highest: Math.max(...samples), growth, leaks };
}

function median(samples: readonly number[]): number {
  const ordered = [...samples].sort((a, b) => a - b);
  return ordered[ordered.length >> 1] ?? NaN;
}
