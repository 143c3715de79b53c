import type { Layout } from '../../core/signal/layout.js';
import type { MemoryReserve } from '../../core/signal/memory-reserve.js';
import type { ScopeKind } from '../../core/policy/condition.js';
import type { RawValue } from '../../core/policy/raw-value.js';
import type { Signal } from '../../core/signal/signal.js';
import type { NotifierState } from '../../core/threshold/notifier-state.js';

/** Why evictd would not evict a workload. `vacant`: it has no processes, whatever the policy. */
export interface UnevictableReason {
  readonly kind: 'critical' | 'vacant' | 'other';
  /** 'critical', 'outside the node' */
  readonly text: string;
}

/** A workload that exists now. */
export interface PresentWorkload {
  readonly name: string;
  readonly path: string;
  /** Indexes of the rules that match it. */
  readonly matched: readonly number[];
  /** Names of the disruption budgets that match it. Left out: none. */
  readonly budgets?: readonly string[];
  readonly unevictable: UnevictableReason | undefined;
  /** The only memory nodes (NUMA) that a cpuset permits. Left out: all. */
  readonly memoryNodes?: readonly number[] | 'unknown';
  /** The cgroups above that a cpuset binds, too. */
  readonly boundAbove?: readonly string[];
}

export interface MachineFacts {
  /** Capacities in the unit of the signal. */
  readonly capacities: ReadonlyMap<Signal, bigint>;
  /** Signals that could not be read, with the reason. */
  readonly unreadable: ReadonlyMap<Signal, string>;
  /** Signals that do not exist on this node, with the reason. */
  readonly absent: ReadonlyMap<Signal, string>;
  /** What pressure signals measure: a v1 cgroup has no pressure of its own. Absent: unknown. */
  readonly pressureOf?: 'machine' | 'cgroup' | 'machine instead of a v1 cgroup';
  readonly reserve: MemoryReserve | undefined;
  /**
   * memory.available is the kernel's estimate, which counts neither the reserve nor the kernel's memory. Left out: no.
   */
  readonly estimated?: boolean;
  /** Memory signals without a notifier or sampler, with the reason. */
  readonly polled: ReadonlyMap<Signal, string>;
  /** Left out: nothing is armed. */
  readonly notifiers?: readonly NotifierState[];
  /** Its filesystems, or which of them did not answer. Absent: not read. */
  readonly layout?: Layout | { readonly error: string };
  /** Programs of hooks and of policies that evictd will not run, with the reason. Left out: not read. */
  readonly programs?: ReadonlyMap<string, string>;
  /** What is wrong with the file of `metrics.tokenFile`. Left out: nothing, or not read. */
  readonly tokenFile?: FileProblem;
  /** The problem of `notifications.webhook.secretFile`. */
  readonly secretFile?: FileProblem;
  /** What is wrong with the group of `controlSocket.group`. Left out: nothing, or not read. */
  readonly controlGroup?: { readonly message: string; readonly hint: string };
  /** undefined: not read. */
  readonly workloads: PresentWorkloads | undefined;
  /** Left out: there are no policies, or not read. */
  readonly policies?: PolicyFacts;
}

/** Why a file cannot be used. */
export interface FileProblem {
  readonly message: string;
  readonly hint: string;
}

/** A value that stays what it is on this machine, and why. */
export interface FixedValue {
  readonly is: 'missing' | 'zero';
  readonly why: string;
}

/** What policies find on this machine. */
export interface PolicyFacts {
  /** Values that cannot change on this machine, by kind of scope. Other values may change. */
  readonly fixed: Readonly<Record<ScopeKind, ReadonlyMap<RawValue, FixedValue>>>;
  /** The fixed values of the cgroups that conditions name, by path. */
  readonly fixedIn: ReadonlyMap<string, ReadonlyMap<RawValue, FixedValue>>;
  /** The number of cgroups that match now, by pattern or path of a named cgroup. */
  readonly matches: ReadonlyMap<string, number>;
  /** The memory and swap of the machine in bytes. Left out: not known. */
  readonly total?: Readonly<Partial<Record<'memory' | 'swap', bigint>>>;
  /** The version of the memory controller; undefined: it is not mounted. */
  readonly cgroupVersion: 1 | 2 | undefined;
}

export interface PresentWorkloads {
  readonly present: readonly PresentWorkload[];
  /** The sources in the order of `workloads`. */
  readonly sources: readonly PresentSource[];
}

/** What one entry of `workloads` yields. */
export interface PresentSource {
  /** '/workload.slice' */
  readonly text: string;
  readonly workloads: number;
  /** Workloads that exist but cannot be read. */
  readonly unreadable: number;
  /** Why the source has fewer workloads than expected: its cgroup does not exist, the name of a container is unknown, … */
  readonly problems: readonly { readonly code: string; readonly message: string; readonly hint?: string }[];
}
