import { bucketText, type Exemplar, type Line } from './exposition.js';

/** Counts values by size. */
export class Histogram {
  readonly #limits: readonly number[];
  /** Of each bucket alone; the last one has no limit. */
  readonly #buckets: { count: number; exemplar: Exemplar | undefined }[];
  #sum = 0;

  /** @param limits  in ascending order, each the highest value of its bucket */
  constructor(limits: readonly number[]) {
    this.#limits = limits;
    this.#buckets = [...limits, Infinity].map(() => ({ count: 0, exemplar: undefined }));
  }

  observe(value: number, exemplar: Exemplar | undefined): void {
    const at = this.#limits.findIndex((limit) => value <= limit);
    const bucket = this.#buckets.at(at);
    if (bucket === undefined) return;
    bucket.count += 1;
    bucket.exemplar = exemplar ?? bucket.exemplar;
    this.#sum += value;
  }

  lines(): Line[] {
    let total = 0;
    const buckets = this.#buckets.map(({ count, exemplar }, at): Line => {
      const limit = this.#limits[at];
      total += count;
      return { suffix: '_bucket', labels: [['le', limit === undefined ? '+Inf' : bucketText(limit)]], value: total, exemplar };
    });
    return [...buckets, { suffix: '_sum', labels: [], value: this.#sum }, { suffix: '_count', labels: [], value: total }];
  }
}
