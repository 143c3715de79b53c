import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Sets V8 flags that keep the service's memory small: the young generation does not grow, and the optimising compiler,
 * whose pages are several MiB, is off. Measured in docs/benchmarks.md. Call it first.
 */
export function limitHeap(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--no-opt');
  setFlagsFromString('--no-maglev'); // the other optimising compiler, from Node 22 on
  // A scavenge takes less than 1 ms on one thread. With helper threads, which busy processors delay, it took 3 ms
  // during a decision.
  setFlagsFromString('--no-parallel-scavenge');
  setFlagsFromString('--no-flush-bytecode'); // keeps rehearsed code compiled
}

/** A quarter of the young generation. */
const FILLED_BYTES = 256 * 1024;

/** V8's heap on demand. */
export interface Heap {
  /** Frees what only the start needed. */
  readonly collectAll: () => void;
  /**
   * Collects the young generation where it has filled up since the last time, so that it does not interrupt the next
   * decision. Under 1 ms.
   */
  readonly whenIdle: () => void;
  /**
   * Lets V8 optimise after all: with thousands of workloads it makes a decision three times as fast. With a hundred it
   * gains nothing, because then the time goes into reading memory that is in no cache.
   */
  readonly whenMany: () => void;
}

export function openHeap(): Heap {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
  setFlagsFromString('--no-expose-gc');
  let usedBytes = 0;
  return {
    collectAll: gc,
    whenIdle: () => {
      if (getHeapStatistics().used_heap_size - usedBytes < FILLED_BYTES) return;
      gc({ type: 'minor' });
      usedBytes = getHeapStatistics().used_heap_size;
    },
    whenMany: () => {
      setFlagsFromString('--opt');
    },
  };
}
