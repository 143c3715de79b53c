import type { Layout } from '../core/layout.js';
import type { MemoryReserve } from '../core/memory-reserve.js';
import type { Signal } from '../core/signal.js';

/** Why a workload would not be evicted. `vacant`: nobody is in it, so that it says nothing about the policy. */
export interface Hindrance {
  readonly kind: 'critical' | 'vacant' | 'other';
  /** For people: 'critical', 'outside the node'. */
  readonly text: string;
}

/** A workload that is there now. */
export interface PresentWorkload {
  readonly name: string;
  readonly path: string;
  /** Indexes of the rules that match it. */
  readonly matched: readonly number[];
  readonly hindrance: Hindrance | undefined;
}

/** What a machine has to say to a configuration. */
export interface MachineFacts {
  /** In units of the signal. */
  readonly capacities: ReadonlyMap<Signal, bigint>;
  /** Signals that could not be read, and why. */
  readonly unreadable: ReadonlyMap<Signal, string>;
  /** Signals that this node does not have at all, and why. */
  readonly absent: ReadonlyMap<Signal, string>;
  /** What pressure signals are about: a v1 cgroup has no pressure of its own. Left out: not known. */
  readonly pressureOf?: 'machine' | 'cgroup' | 'machine instead of a v1 cgroup';
  readonly reserve: MemoryReserve | undefined;
  /** Signals of memory on which neither a notifier nor the sampler would wake, and why. */
  readonly polled: ReadonlyMap<Signal, string>;
  /** Which filesystems it has, or which of them has not answered. Left out: not looked for. */
  readonly layout?: Layout | { readonly error: string };
  /** undefined: not looked for. */
  readonly workloads: PresentWorkloads | undefined;
}

export interface PresentWorkloads {
  readonly present: readonly PresentWorkload[];
  /** Sources that are not there. `root`: the cgroup that is missing, as sourceRoots has it. */
  readonly problems: readonly { readonly root?: string; readonly code: string; readonly message: string; readonly hint?: string }[];
}
