interface Entry {
  readonly atNs: bigint;
  readonly order: number;
  readonly run: () => void;
}

/** What happens later, by time; at the same time in the order in which it was added. A binary heap. */
export class EventQueue {
  readonly #heap: Entry[] = [];
  #count = 0;

  /** undefined: nothing more happens. */
  get nextNs(): bigint | undefined {
    return this.#heap[0]?.atNs;
  }

  add(atNs: bigint, run: () => void): void {
    const entry = { atNs, order: (this.#count += 1), run };
    let at = this.#heap.push(entry) - 1;
    for (let parent = (at - 1) >> 1; at > 0 && this.#isBefore(at, parent); parent = (at - 1) >> 1) {
      this.#swap(at, parent);
      at = parent;
    }
  }

  /** The next one is taken out and run. */
  runNext(): void {
    const [first] = this.#heap;
    const last = this.#heap.pop();
    if (first === undefined || last === undefined) return;
    if (this.#heap.length > 0) this.#heap[0] = last;
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const least = this.#isBefore(right, left) ? right : left;
      if (!this.#isBefore(least, at)) break;
      this.#swap(at, least);
      at = least;
    }
    first.run();
  }

  #isBefore(one: number, other: number): boolean {
    const [first, second] = [this.#heap[one], this.#heap[other]];
    if (first === undefined) return false;
    if (second === undefined) return true;
    return first.atNs === second.atNs ? first.order < second.order : first.atNs < second.atNs;
  }

  #swap(one: number, other: number): void {
    const [first, second] = [this.#heap[one], this.#heap[other]];
    if (first === undefined || second === undefined) return;
    this.#heap[one] = second;
    this.#heap[other] = first;
  }
}
