/** Random numbers of one action: the same for the same seed and index, whatever happened before. */
export class Chance {
  #state: number;

  constructor(seed: number, index: number) {
    this.#state = Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b);
    this.#next();
  }

  /** A whole number of `from` … `to`. */
  between(from: number, to: number): number {
    return from + Math.floor(this.#next() * (to - from + 1));
  }

  one<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new RangeError('none to choose from');
    return item;
  }

  weighted<T extends { readonly weight: number }>(items: readonly T[]): T {
    let left = this.#next() * items.reduce((sum, { weight }) => sum + weight, 0);
    return items.find(({ weight }) => (left -= weight) < 0) ?? this.one(items);
  }

  /** 0 … 1: mulberry32. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
