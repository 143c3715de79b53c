import type { DiskSignal } from '../signal/signal.js';

interface AnyStep {
  /** Unique: the kind, or a command's name. */
  readonly name: string;
  /** It is ended after this time. */
  readonly timeoutNs: bigint;
  /** memory.max of all its processes together. */
  readonly memoryMaxBytes: bigint;
}

/** A way to free disk space that the operator has allowed (key `reclaim`). */
export type ReclaimStep = AnyStep &
  (
    | { readonly kind: 'journald'; readonly keepBytes: bigint }
    | { readonly kind: 'package-cache' }
    | { readonly kind: AgedStep; readonly olderThanNs: bigint }
    /** `signals`: the resources it may free. */
    | { readonly kind: 'command'; readonly command: readonly string[]; readonly signals: readonly DiskSignal[] }
  );

/** Steps that remove old files. */
export type AgedStep = (typeof AGED_STEPS)[number];
export const AGED_STEPS = ['rotated-logs', 'core-dumps', 'temporary-files'] as const;

/** Steps in the configured order. Commands may be slow, so they run for soft thresholds only. */
export function stepsFor(steps: readonly ReclaimStep[], signal: DiskSignal, kind: 'hard' | 'soft'): readonly string[] {
  return steps.filter((step) => step.kind !== 'command' || (kind === 'soft' && step.signals.includes(signal))).map(({ name }) => name);
}
