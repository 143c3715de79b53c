/** How something developed: the median of each quarter of the time, and what became of it. */
export interface Growth {
  readonly quarters: readonly [number, number, number, number];
  readonly highest: number;
  /** The last quarter's median over the first one's. */
  readonly growth: number;
  readonly leaks: boolean;
}

/** What growth may be, and what it means where it is more. */
export interface Allowance {
  readonly upTo: number;
  /** Whatever its shape: a single step of this size is no heap that comes to its size. Where it is not given, `upTo` and the shape decide alone. */
  readonly cap?: number;
  /**
   * `any`: more is a leak, because nothing that is counted has a reason to rise (descriptors, threads). `steady`: only where it goes on to the end. A heap comes to
   * its size in steps, and stays there; a leak rises in every quarter alike. So each quarter has to bring a sixth of the growth at least, half of its even share.
   */
  readonly leak: 'any' | 'steady';
}

/** Medians, because a single sample catches a collection or a kill under way. At least four samples, at even distances. */
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
