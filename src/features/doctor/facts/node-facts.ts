import type { Signal } from '../../../core/signal/signal.js';
import type { Threshold } from '../../../core/threshold/threshold.js';

export interface NotifierFacts {
  readonly mechanism: string;
  readonly signal: Signal;
  readonly target: string;
  readonly live: boolean;
  readonly reason: string | undefined;
  readonly hint: string | undefined;
  /** Without it evictd only polls the signal. */
  readonly essential: boolean;
}

/** The node that evictd guards, and its notifiers. */
export interface NodeFacts {
  /** 'machine' or the path of a cgroup. */
  readonly name: string;
  /** undefined: it exists and is readable. */
  readonly missing: { readonly message: string; readonly hint: string | undefined } | undefined;
  readonly isMachine: boolean;
  readonly thresholds: readonly Threshold[];
  readonly monitoringIntervalNs: bigint;
  /** In units of the signal. */
  readonly capacities: ReadonlyMap<Signal, bigint>;
  /** Signals that do not exist on this node, with the reason. */
  readonly absent: ReadonlyMap<Signal, string>;
  /** undefined: the node or the addon is missing. */
  readonly notifiers: readonly NotifierFacts[] | undefined;
}
