/** Measured values in ascending order. */
export class Distribution {
  readonly #sorted: readonly number[];

  /** Throws without values. */
  constructor(values: readonly number[]) {
    if (values.length === 0) throw new Error('nothing was measured');
    this.#sorted = [...values].sort((a, b) => a - b);
  }

  get size(): number {
    return this.#sorted.length;
  }

  get median(): number {
    return this.quantile(0.5);
  }

  get max(): number {
    return this.quantile(1);
  }

  /** Linear between neighbours, as in R (type 7) and NumPy. `share`: 0..1. */
  quantile(share: number): number {
    const at = share * (this.#sorted.length - 1);
    const below = this.#sorted[Math.floor(at)] ?? NaN;
    const above = this.#sorted[Math.ceil(at)] ?? NaN;
    return below + (above - below) * (at - Math.floor(at));
  }
}

/** `of` divided by the baseline: by medians, and as the median ratio of neighbours in time, which is more robust. */
export function ratios(of: readonly number[], baseline: readonly number[]): { readonly ofMedians: number; readonly medianOfPairs: number } {
  const pairs = of.map((value, index) => value / (baseline[index] ?? NaN));
  return { ofMedians: new Distribution(of).median / new Distribution(baseline).median, medianOfPairs: new Distribution(pairs).median };
}
