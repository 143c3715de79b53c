export interface DrainedWorkload {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  /** Its eviction. Left out: it is not decided yet. */
  readonly decision?: number;
  /** Why it is not decided yet. Left out: it is, or facts about it are outstanding. */
  readonly waits?: string;
}

/** The node is cordoned, and perhaps drained. Times are monotonic. */
export interface Drain {
  readonly beganNs: bigint;
  /** Left out: there is no limit. */
  readonly endsNs?: bigint;
  /** As in DisruptionCause. */
  readonly graceNs?: bigint;
  readonly by?: string | undefined;
  /** Endpoints of container runtimes that have not answered since it began: the answer adds their workloads. Left out: none. */
  readonly awaited?: readonly string[];
  /** Workloads that have not ended, the least important first, and then those that were added. */
  readonly pending: readonly DrainedWorkload[];
  /** Workloads without names, as briefDrain saves them: ids, and decisions. Left out: all have names. */
  readonly unnamed?: readonly (readonly [id: string, decision?: number])[];
  readonly total: number;
  readonly lookedNs: bigint;
  /** When a workload ended last, or was decided. Left out: when it began. */
  readonly changedNs?: bigint;
  /** Left out: the drain is under way. `cordoned`: it is only cordoned. */
  readonly over?: 'drained' | 'timeout' | 'cordoned';
}

export interface DrainRequest {
  readonly kind: 'drain';
  /** As in DisruptionCause. */
  readonly by?: string | undefined;
  /** The workloads of drainPlan, the least important first. */
  readonly ends: readonly DrainedWorkload[];
  /** As in Drain. */
  readonly awaited: readonly string[];
  readonly timeoutNs?: bigint;
  readonly graceNs?: bigint;
}

export interface CordonRequest {
  readonly kind: 'cordon' | 'uncordon';
  readonly by?: string | undefined;
}

export type DrainEffect = { readonly kind: 'drain' } & (
  | { readonly event: 'cordon' | 'begin' | 'uncordon' }
  | { readonly event: 'end'; readonly because: 'drained' | 'timeout' }
) & { readonly by?: string | undefined; /** Not ended yet. */ readonly left: readonly string[]; readonly total: number };

/** The time until a drain looks again whether a budget permits an eviction: an eighth of the time without a change, in these limits. */
const LOOK_NS = 1_000_000_000n;
const LONGEST_LOOK_NS = 10_000_000_000n;

export function isUnderWay(drain: Drain | undefined): drain is Drain {
  return drain !== undefined && drain.over === undefined;
}

/** When a drain looks again. undefined: none is under way. */
export function drainDueNs(drain: Drain | undefined): bigint | undefined {
  if (!isUnderWay(drain)) return undefined;
  const quietNs = (drain.lookedNs - (drain.changedNs ?? drain.beganNs)) / 8n;
  const lookNs = drain.lookedNs + (quietNs < LOOK_NS ? LOOK_NS : quietNs < LONGEST_LOOK_NS ? quietNs : LONGEST_LOOK_NS);
  return drain.endsNs !== undefined && drain.endsNs < lookNs ? drain.endsNs : lookNs;
}
