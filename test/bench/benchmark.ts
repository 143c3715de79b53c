import type { Distribution } from './distribution.js';

/** One row of the table: a distribution or a single value. */
export interface Figure {
  readonly what: string;
  readonly unit: string;
  /** A single value (a ratio, a size). */
  readonly measured: Distribution | number;
  readonly target?: Target;
}

/** The target, compared with the median or the value. */
export interface Target {
  readonly bound: 'at most' | 'at least';
  readonly limit: number;
}

export interface Result {
  readonly figures: readonly Figure[];
  /** Notes for readers. */
  readonly notes?: readonly string[];
}

/** Parameters of a benchmark. */
export interface Bench {
  readonly idleSeconds: number;
  /** Called in reverse order after the benchmark, however it ends. */
  cleanup(undo: () => unknown): void;
}

export interface Benchmark {
  readonly name: string;
  readonly what: string;
  /** Throws if it cannot run here. */
  run(bench: Bench): Promise<Result> | Result;
}

export function atMost(limit: number): { readonly target: Target } {
  return { target: { bound: 'at most', limit } };
}

export function atLeast(limit: number): { readonly target: Target } {
  return { target: { bound: 'at least', limit } };
}

export function valueOf({ measured }: Figure): number {
  return typeof measured === 'number' ? measured : measured.median;
}

export function isMet(figure: Figure): boolean | undefined {
  if (figure.target === undefined) return undefined;
  const { bound, limit } = figure.target;
  return bound === 'at most' ? valueOf(figure) <= limit : valueOf(figure) >= limit;
}

/** Milliseconds between two times of the monotonic clock. */
export function ms(fromNs: bigint, toNs: bigint): number {
  return Number(toNs - fromNs) / 1e6;
}
