import type { Departures } from '../decide/departures.js';
import type { Collection, FilesystemRole, Layout } from './layout.js';
import type { ConditionType, Resource } from './resource.js';
import type { Workload, WorkloadStats } from '../workload/workload.js';

/** `share`: billionths of the wall time. */
export type SignalUnit = 'bytes' | 'inodes' | 'processes' | 'share';

/** What tasks can stall on (PSI, Documentation/accounting/psi.rst). */
export const STALL_RESOURCES = ['memory', 'io', 'cpu'] as const;
export type StallResource = (typeof STALL_RESOURCES)[number];
/** `some`: at least one task stalled; `full`: all tasks that were not idle stalled. */
export const STALL_KINDS = ['some', 'full'] as const;
export type StallKind = (typeof STALL_KINDS)[number];
/** '': the share of the last `pressureWindow`; else the kernel's moving average. */
export const STALL_AVERAGES = ['', '.avg10', '.avg60', '.avg300'] as const;
export type StallAverage = (typeof STALL_AVERAGES)[number];

/** Which number of which PSI file a pressure signal is. */
export interface PressureParts {
  readonly resource: StallResource;
  readonly kind: StallKind;
  readonly average: StallAverage;
  /** The time span that a reading covers; undefined: `pressureWindow`. */
  readonly spanNs: bigint | undefined;
}

/** What the ranking compares of a workload. */
export interface Measure {
  /** The use of a workload in the unit of the signal; undefined: not known. */
  readonly usage: (workload: Workload, stats: WorkloadStats) => bigint | undefined;
  /** × 10⁹. A usage above it exceeds the request. */
  readonly requestNano: (workload: Workload) => bigint;
  /** × 10⁹, subtracted from the usage. It is the request, except in the kubelet's ranking by inodes. */
  readonly subtractedNano: (workload: Workload) => bigint;
}

interface AnySignal {
  readonly name: string;
  /** `<`: met when too little is left. `>`: met when too much time is lost. */
  readonly operator: '<' | '>';
  /** The unit of its value. */
  readonly unit: SignalUnit;
  /** The kubelet has it (pkg/kubelet/eviction/api/types.go, v1.36.2). */
  readonly kubelet: boolean;
  /** Why Windows does not have it. Left out: Windows has it. */
  readonly absentOnWindows?: string;
  /** Left out: it is not about a filesystem. */
  readonly filesystem?: FilesystemRole;
  /** Left out: it does not come from PSI. */
  readonly pressure?: PressureParts;
}

/** It names the resource that runs out, so a workload can be evicted for it. */
export interface ResourceDefinition extends AnySignal {
  readonly resource: Resource;
  readonly condition: ConditionType;
  /** @param countsSwap  a workload's swap is usage: the threshold is about swap or pressure, too */
  readonly measure: (layout: Layout, departures: Departures, countsSwap: boolean) => Measure;
  /** The ranking compares the priority before usage above the request. Left out: after it. */
  readonly priorityFirst?: true;
  /**
   * Node-level reclaim that may free its resource, in order (kubelet: buildSignalToNodeReclaimFuncs). Left out: none.
   */
  readonly collections?: (layout: Layout) => readonly Collection[];
  /** It covers only the cgroup of `allocatable`. Left out: the node. */
  readonly scope?: 'allocatable';
}

/** It does not name what runs out: it alerts, and no workload is evicted for it. */
export interface AlertDefinition extends AnySignal {
  readonly resource?: undefined;
  readonly condition?: undefined;
}

/** All that depends on the signal alone. The rest of evictd derives from it. */
export type SignalDefinition = ResourceDefinition | AlertDefinition;
