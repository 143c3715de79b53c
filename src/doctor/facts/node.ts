import type { Signal } from '../../core/signal.js';
import type { Threshold } from '../../core/threshold.js';

/** A notifier that was armed, or should have been. */
export interface NotifierFacts {
  readonly mechanism: string;
  readonly signal: Signal;
  readonly target: string;
  readonly live: boolean;
  readonly reason: string | undefined;
  readonly hint: string | undefined;
  /** Without it the signal is only polled. */
  readonly essential: boolean;
}

/** What evictd guards, and with what. */
export interface NodeFacts {
  /** 'machine' or the path of a cgroup. */
  readonly name: string;
  /** undefined: it is there, and was read. */
  readonly missing: { readonly message: string; readonly hint: string | undefined } | undefined;
  readonly isMachine: boolean;
  readonly thresholds: readonly Threshold[];
  readonly monitoringIntervalNs: bigint;
  /** In units of the signal. */
  readonly capacities: ReadonlyMap<Signal, bigint>;
  /** Signals that this node does not have, and why. */
  readonly absent: ReadonlyMap<Signal, string>;
  /** undefined: nothing could be armed, because the node or the addon is missing. */
  readonly notifiers: readonly NotifierFacts[] | undefined;
}
