import type { NamedBudgetStatus } from '../../core/disruption/disruption-budget.js';
import type { DrainStatus } from '../../core/drain/drain-status.js';
import type { Stall } from '../../core/signal/pressure-share.js';
import type { ThresholdKind } from '../../core/threshold/threshold.js';
import type { CandidateOrder } from './candidate-order.js';
import type { ConditionType, Resource, Signal, StallKind, StallResource } from '../../core/signal/signal.js';

/** An integer; above 2^53 as decimal text. */
export type Amount = number | string;

/** GET /api/v1/status (docs/api.md, docs/openapi.yaml). null: not known, or there is none. Times are RFC 3339 in UTC. */
export interface StatusDocument {
  readonly apiVersion: 'v1';
  readonly time: string;
  /** null: no evictd runs, and the command has read the node itself. */
  readonly evictd: EvictdStatus | null;
  readonly node: { readonly name: string; readonly cgroup: string | null; readonly cgroupVersion: 1 | 2 | null };
  readonly signals: readonly SignalStatus[];
  /** How long ago each value in `signals[].history` was read, the oldest first. */
  readonly historyAgesSeconds: readonly number[];
  readonly thresholds: readonly ThresholdStatus[];
  readonly conditions: readonly ConditionStatus[];
  readonly taints: readonly TaintStatus[];
  /** The drain of a cordoned node; `left` has the first workloads only. null: the node is not cordoned. */
  readonly drain: DrainStatus | null;
  /** null: this system has no PSI. */
  readonly pressure: NodePressure | null;
  readonly candidates: CandidatesStatus;
  readonly evictions: readonly EvictionStatus[];
  /** Records of the journal, the newest first. */
  readonly decisions: readonly RecordStatus[];
  /** null: evictions are not limited. */
  readonly budget: BudgetStatus | null;
  readonly disruptionBudgets: readonly NamedBudgetStatus[];
  readonly pauses: readonly PauseStatus[];
  readonly policies: readonly PolicyStatus[];
  /** Units that evictd keeps stopped. */
  readonly heldUnits: readonly { readonly unit: string; readonly decision: number; readonly startsInSeconds: number | null }[];
  /** null: no API server is configured, or no evictd runs. */
  readonly kubernetes: ApiServerStatus | null;
  readonly notifiers: readonly NotifierStatus[];
  readonly problems: readonly { readonly code: string; readonly message: string; readonly hint?: string }[];
}

/** GET /api/v1/ranking: the candidates alone. */
export interface RankingDocument {
  readonly apiVersion: 'v1';
  readonly time: string;
  readonly candidates: CandidatesStatus;
}

/** A record as the journal has it (docs/journal.md). */
export type JournalRecord = Readonly<Record<string, unknown>>;

/** GET /api/v1/decisions: the last records that an operator looks for, the newest first. */
export interface DecisionsDocument {
  readonly apiVersion: 'v1';
  readonly time: string;
  readonly records: readonly JournalRecord[];
}

/** A line that the kernel does not have is null. */
export type NodePressure = Readonly<Record<StallResource, Readonly<Record<StallKind, Stall['averages'] | null>>>>;

export interface EvictdStatus {
  readonly version: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly dryRun: boolean;
  /** Why evictd evicts nothing. */
  readonly safeMode: string | null;
  readonly shuttingDown: boolean;
  readonly configuration: {
    readonly files: readonly string[];
    readonly inForceSince: string;
    /** A later configuration has errors and was refused. */
    readonly refused: boolean;
  };
}

export interface SignalStatus {
  readonly signal: Signal;
  /** `ratio`: share of the wall time, 0 to 1. */
  readonly unit: 'bytes' | 'inodes' | 'processes' | 'ratio';
  /** A threshold is met on this side of its limit. */
  readonly operator: '<' | '>';
  readonly value: Amount | null;
  readonly capacity: Amount | null;
  readonly ageSeconds: number | null;
  /** Why there is no value. */
  readonly reason?: string;
  /** evictd does not follow pressure at rest: this average of the kernel is shown. */
  readonly standIn?: 'avg10';
  /** The values at each of historyAgesSeconds. */
  readonly history: readonly (number | null)[];
}

export interface ThresholdStatus {
  /** 'memory.available<100Mi', joined: 'memory.available<10% & memory.pressure.full>40%'. */
  readonly when: string;
  readonly kind: ThresholdKind;
  readonly met: boolean | null;
  /** The first is the starved one. All must be met. */
  readonly operands: readonly OperandStatus[];
  readonly graceSeconds: number;
  /** The time since which it is met, or owes min reclaim. */
  readonly since: string | null;
  /** The time until evictd acts on it; 0: it does. null: it is not met. */
  readonly actsInSeconds: number | null;
}

export interface OperandStatus {
  readonly signal: Signal;
  readonly limit: Amount | null;
  /** The distance to the limit in the unit of the signal; below 0: beyond it. */
  readonly distance: Amount | null;
}

export interface ConditionStatus {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  /** The time until it clears, if no threshold of it is met. null: it is not true, or a threshold holds it. */
  readonly clearsInSeconds: number | null;
}

export interface TaintStatus {
  /** 'maintenance=yes:NoExecute'. */
  readonly taint: string;
  readonly from: 'configuration' | 'operator' | 'condition';
  /** Workloads that tolerate it for a time. `endsAt`: when evictd evicts one. */
  readonly evictions: readonly { readonly name: string; readonly path: string; readonly endsAt: string }[];
}

export interface CandidatesStatus {
  /** What the order is for: that of a met threshold, else memory.available, or as asked for. */
  readonly signal: Signal;
  /** What the workloads are sorted by; null: the order of eviction. */
  readonly order: CandidateOrder | null;
  /** The number of all workloads. */
  readonly total: number;
  /** The first 50 of it. */
  readonly workloads: readonly CandidateStatus[];
  readonly unreadable: readonly { readonly name: string; readonly reason: string }[];
}

export interface CandidateStatus {
  /** The place in the order, from 1; null: it is protected. */
  readonly place: number | null;
  readonly name: string;
  readonly path: string;
  readonly priority: number;
  /** The usage in the unit of the signal, bytes for pressure. */
  readonly usage: Amount | null;
  readonly request: Amount;
  readonly exceedsRequest: boolean;
  /** Per second, since an earlier request of the last minute. */
  readonly growth: number | null;
  /** Why evictd does not evict it now. */
  readonly protection: string | null;
}

export interface EvictionStatus {
  readonly decision: number;
  readonly name: string;
  readonly path: string;
  /** `terminating`: SIGTERM was sent. `dying`: SIGKILL was sent. `exited`: no process is left, its effect is measured. */
  readonly phase: 'terminating' | 'dying' | 'exited';
  readonly phaseSeconds: number;
  /** The time until SIGKILL. null: it was sent. */
  readonly killsInSeconds: number | null;
  readonly usageBytes: Amount;
  readonly processes: number | null;
  readonly message: string;
}

export interface RecordStatus {
  readonly time: string;
  readonly type: string;
  readonly decision: number | null;
  readonly message: string;
}

export interface BudgetStatus {
  readonly max: number;
  readonly windowSeconds: number;
  readonly resources: readonly {
    readonly resource: Resource;
    readonly remaining: number;
    /** The time until one more eviction may be made. null: one may be made now, or none ever. */
    readonly freeInSeconds: number | null;
  }[];
}

/** Why evictd evicts nothing, or not for a resource. */
export interface PauseStatus {
  readonly kind: 'operator' | 'safe-mode' | 'shutdown' | 'no-workload-source' | 'budget' | 'no-yield' | 'leak';
  readonly message: string;
}

export interface PolicyStatus {
  readonly name: string;
  readonly when: string;
  readonly steps: readonly string[];
  /** The scopes in which something is happening. */
  readonly active: readonly {
    /** Path of the cgroup; '': the node. */
    readonly scope: string;
    /** `holding`: the condition holds, and its time is not over. `relief`: the ladder is over, the condition still holds. */
    readonly state: 'holding' | 'acting' | 'cooldown' | 'relief';
    /** The index in steps of the step that is `acting`. */
    readonly step: number | null;
    readonly secondsLeft: number | null;
  }[];
}

export interface NotifierStatus {
  readonly mechanism: string;
  readonly signal: Signal;
  readonly target: string;
  readonly live: boolean;
  readonly essential: boolean;
  readonly reason?: string;
  readonly hint?: string;
}

/** The API server of the cluster, and the pods of this node that it has reported. */
export interface ApiServerStatus {
  readonly node: string;
  readonly server: string | null;
  readonly answers: boolean;
  /** Why it does not answer, or which pod cannot be read. null: nothing is wrong. */
  readonly problem: string | null;
  readonly pods: number;
  /** Time since the server has confirmed them. null: never. */
  readonly podsAgeSeconds: number | null;
}
