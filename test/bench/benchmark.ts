import type { Distribution } from './distribution.js';

/** One line of the table: something that was measured many times, or a single value. */
export interface Figure {
  readonly what: string;
  readonly unit: string;
  /** Of a single value (a ratio, a size): the value. */
  readonly measured: Distribution | number;
  readonly target?: Target;
}

/** What is promised. It is compared with the median, where there is one. */
export interface Target {
  readonly bound: 'at most' | 'at least';
  readonly limit: number;
}

export interface Result {
  readonly figures: readonly Figure[];
  /** What to know when reading them. */
  readonly notes?: readonly string[];
}

/** What a benchmark gets. */
export interface Bench {
  readonly idleSeconds: number;
  /** Done when the benchmark is over, however it ends, the last first. */
  cleanup(undo: () => unknown): void;
}

export interface Benchmark {
  readonly name: string;
  readonly what: string;
  /** Throws where it cannot be run here. */
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
