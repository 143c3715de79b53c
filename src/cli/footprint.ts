import { constants, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Keeps the service's memory small, as far as V8 lets that be said after its start: the young generation stays at its first size, and what is
 * rarely run is not optimised (the optimising compiler's own pages are several MiB). Measured in docs/benchmarks.md. Call it first.
 */
export function keepSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--no-opt');
  setFlagsFromString('--no-flush-bytecode'); // what was rehearsed stays compiled, however long ago that was
}

/** Gives back what only the start needed: one collection, which V8 offers under a flag. */
export function shedStart(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  setFlagsFromString('--no-expose-gc');
}

/**
 * Ahead of what fills the memory, which mostly keeps every core busy, too. Threads inherit it: call it before there are any that matter. Without
 * the right to it (CAP_SYS_NICE) everything stays as it is.
 */
export function goFirst(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST);
  } catch {
    // not allowed
  }
}
