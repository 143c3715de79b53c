import { asError } from '../errors.js';

const RETRY_FIRST_MS = 1_000;
const RETRY_MOST_MS = 60_000;

export interface AppendQueueOptions<T> {
  /** What may wait, in the unit of `weigh`. Beyond it the oldest items are dropped. */
  readonly limit: number;
  /** What still waits after a drop; less than `limit`, so that not every push drops. Left out: `limit`. */
  readonly keep?: number;
  readonly weigh: (item: T) => number;
  /** For how long items are gathered before they are written. 0: until the next turn of the event loop. */
  readonly gatherMs: number;
  /**
   * Takes items off the queue and writes them. After a rejection it is called again: after a second, doubling up to
   * once a minute.
   */
  readonly write: () => Promise<void>;
  readonly hasMore?: () => boolean;
  readonly dropped: (items: readonly T[]) => void;
  /** @param isFirst  of several failures in a row */
  readonly failed: (error: Error, isFirst: boolean) => void;
}

/**
 * Items that wait for a disk. At most one write is under way, on libuv's pool: a full, read-only or hung disk keeps one
 * thread busy and delays no caller. What waits is bounded.
 */
export class AppendQueue<T> {
  #items: T[] = [];
  #weight = 0;
  #working: Promise<void> | undefined;
  #workingSinceMs = 0;
  #immediate: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** 0: the last write succeeded. */
  #retryMs = 0;

  constructor(private readonly options: AppendQueueOptions<T>) {}

  /** Never writes before it returns: a push is on the path of an eviction. */
  push(item: T): void {
    const { weigh, limit, keep = limit, dropped, gatherMs } = this.options;
    this.#items.push(item);
    this.#weight += weigh(item);
    if (this.#weight > limit) {
      const lost = this.take(this.#weight - keep, this.#items.length - 1);
      if (lost.length > 0) dropped(lost);
    }
    this.#later(gatherMs);
  }

  /** Removes the oldest items that together weigh at least `weight`, at most `count` of them. */
  take(weight: number, count = this.#items.length): readonly T[] {
    let taken = 0;
    const last = this.#items.findIndex((item) => (taken += this.options.weigh(item)) >= weight);
    const items = this.#items.splice(0, Math.min(last === -1 ? this.#items.length : last + 1, count));
    this.#weight -= this.#weightOf(items);
    return items;
  }

  putBack(items: readonly T[]): void {
    this.#items.unshift(...items);
    this.#weight += this.#weightOf(items);
  }

  /** Drops items that are not to be written. They are not reported. */
  retain(isWanted: (item: T) => boolean): void {
    this.#items = this.#items.filter(isWanted);
    this.#weight = this.#weightOf(this.#items);
  }

  list(): readonly T[] {
    return this.#items;
  }

  /** How long the write under way takes already, in milliseconds; 0: none is under way. */
  get waitingMs(): number {
    return this.#working === undefined ? 0 : performance.now() - this.#workingSinceMs;
  }

  /**
   * Writes until nothing waits, a write fails, or `timeoutMs` has passed. Returns whether everything is written; false
   * also while a write hangs.
   */
  async flush(timeoutMs: number): Promise<boolean> {
    this.#stopTimers();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, 'late');
    });
    this.#work();
    let isLate = false;
    while (this.#working !== undefined && !isLate) {
      isLate = (await Promise.race([this.#working, timeout])) === 'late';
      if (this.#retryMs === 0) this.#work();
    }
    clearTimeout(timer);
    this.#stopTimers();
    return this.#working === undefined && !this.#hasWork();
  }

  #hasWork(): boolean {
    return this.#items.length > 0 || this.#retryMs > 0 || this.options.hasMore?.() === true;
  }

  #later(ms: number): void {
    if (this.#working !== undefined || this.#timer !== undefined || this.#immediate !== undefined) return;
    const work = (): void => {
      this.#stopTimers();
      this.#work();
    };
    if (ms === 0) this.#immediate = setImmediate(work);
    else this.#timer = setTimeout(work, ms).unref();
  }

  #stopTimers(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#timer = this.#immediate = undefined;
  }

  #work(): void {
    if (this.#working !== undefined || !this.#hasWork()) return;
    this.#workingSinceMs = performance.now();
    this.#working = this.options.write().then(
      () => {
        this.#working = undefined;
        this.#retryMs = 0;
        if (this.#hasWork()) this.#later(this.options.gatherMs);
      },
      (error: unknown) => {
        this.#working = undefined;
        this.options.failed(asError(error), this.#retryMs === 0);
        this.#retryMs = Math.min(2 * this.#retryMs || RETRY_FIRST_MS, RETRY_MOST_MS);
        this.#later(this.#retryMs);
      },
    );
  }

  #weightOf(items: readonly T[]): number {
    return items.reduce((sum, item) => sum + this.options.weigh(item), 0);
  }
}
