import type { Workload } from '../../core/workload/workload.js';

/** The native layer reads this value and compares it. `value`: its SampledValue, which only it understands. */
export interface OrderCondition {
  readonly value: object;
  readonly atLeast: number;
}

export interface OrderCandidate {
  readonly workload: Workload;
  /** Added to its working set, in bytes, for the comparison with the other candidates. */
  readonly offset: number;
  /** Written before the signal. */
  readonly record: Buffer;
}

export interface OrderPlan {
  /**
   * The first is the node's value, and must hold. If there are others, one of them must hold, or the candidates'
   * anonymous memory has grown by `missing`.
   */
  readonly conditions: readonly OrderCondition[];
  /** Bytes that were left to the threshold. */
  readonly missing: number;
  /** From the wake, until the conditions after the first do not count any more. */
  readonly settlesNs: bigint;
  /** The largest is killed, of equals the first. */
  readonly candidates: readonly OrderCandidate[];
  /** From the wake until the order is carried out. */
  readonly afterNs: bigint;
  /** The time if the node has grown by more than the candidates have and `slack` bytes, by an unknown consumer. */
  readonly unexplainedNs: bigint;
  readonly slack: number;
  /** Monotonic, as all times here. */
  readonly expiresNs: bigint;
}

export interface OrderResult {
  /** Its index; undefined: a candidate was removed, or the largest has no process. */
  readonly candidate: number | undefined;
  /** The values that were compared. */
  readonly node: number;
  readonly value: number;
  readonly crossedAtNs: bigint;
  /** The time of the last signal, or of the refusal. */
  readonly atNs: bigint;
  /** Why no process got a signal; undefined: at least one did. */
  readonly error: string | undefined;
  /** Why the record could not be written; undefined: it was. */
  readonly unrecorded: string | undefined;
}

/** The standing order of the native layer: at most one stands. No method waits or throws. */
export interface StandingOrder {
  /** An order was carried out, and its result waits. */
  onCarriedOut: (atNs: bigint) => void;
  /**
   * Replaces the order. 'ended': a candidate has just ended, and no order stands. `impossible`: why none can stand.
   * 'carried out': the former one was, and its result waits.
   *
   * @param seenNs  when the pass began that the order is from: an earlier crossing does not count
   */
  place(plan: OrderPlan, seenNs: bigint): 'placed' | 'ended' | 'carried out' | { readonly impossible: string };
  /** false: it was carried out, and its result waits. */
  withdraw(): boolean;
  /** A pass that began at `seenNs` decided nothing: an earlier crossing does not count. */
  seen(seenNs: bigint): void;
  /** The loop looks later on purpose: nothing is carried out before. */
  postpone(untilNs: bigint): void;
  take(): OrderResult | undefined;
  close(): void;
}
