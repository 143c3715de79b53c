import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Keeps the service's memory small, as far as V8 lets that be said after its start: the young generation stays at its first size, and what is
 * rarely run is not optimised (the optimising compiler's own pages are several MiB). Measured in docs/benchmarks.md. Call it first.
 */
export function keepSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--no-opt');
}

/** Gives back what only the start needed: one collection, which V8 offers under a flag. */
export function shedStart(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  setFlagsFromString('--no-expose-gc');
}
