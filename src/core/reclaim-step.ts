import type { DiskSignal } from './signal.js';

/** What every step has. */
interface AnyStep {
  /** Unique in a configuration: its kind, or a command's name. */
  readonly name: string;
  /** After so long it is ended. */
  readonly timeoutNs: bigint;
  /** What its processes may have together. */
  readonly memoryMaxBytes: bigint;
}

/** A way to free room on a disk that the operator has allowed (configuration key `reclaim`). */
export type ReclaimStep = AnyStep &
  (
    | { readonly kind: 'journald'; readonly keepBytes: bigint }
    | { readonly kind: 'package-cache' }
    | { readonly kind: AgedStep; readonly olderThanNs: bigint }
    /** `signals`: of what it may free. */
    | { readonly kind: 'command'; readonly command: readonly string[]; readonly signals: readonly DiskSignal[] }
  );

/** Steps that remove files which are older than something. */
export type AgedStep = (typeof AGED_STEPS)[number];
export const AGED_STEPS = ['rotated-logs', 'core-dumps', 'temporary-files'] as const;

/** In the order written. A command may take as long as it likes, so that nobody who has to go at once waits for one. */
export function stepsFor(steps: readonly ReclaimStep[], signal: DiskSignal, kind: 'hard' | 'soft'): readonly string[] {
  return steps.filter((step) => step.kind !== 'command' || (kind === 'soft' && step.signals.includes(signal))).map(({ name }) => name);
}
