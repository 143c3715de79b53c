import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Keeps the service's memory small, as far as V8 lets that be said after its start: the young generation stays at its first size, and what is
 * rarely run is not optimised (the optimising compiler's own pages are several MiB). Measured in docs/benchmarks.md. Call it first.
 */
export function keepSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--no-opt');
  // A scavenge of so small a generation takes less than a millisecond alone; for a helper that does not get its turn, because what fills the memory keeps the
  // processors busy, it was seen to wait for 3 ms in the middle of a decision.
  setFlagsFromString('--no-parallel-scavenge');
  setFlagsFromString('--no-flush-bytecode'); // what was rehearsed stays compiled, however long ago that was
}

/** V8's garbage collection, to be had at a time of one's own. */
export interface Garbage {
  /** Everything: gives back what only the start needed. */
  readonly collectAll: () => void;
  /** What was made last, under a millisecond: one that would come in the middle of the next decision comes now. */
  readonly collectYoung: () => void;
}

/** V8 offers it under a flag. */
export function garbage(): Garbage {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
  setFlagsFromString('--no-expose-gc');
  return {
    collectAll: gc,
    collectYoung: () => {
      gc({ type: 'minor' });
    },
  };
}
