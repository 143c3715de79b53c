import type { Taint } from './taint.js';
import { toleratesTaint, type Tolerates, type Toleration } from './toleration.js';
import { NS_PER_SECOND } from '../quantity/duration.js';

// When a workload is evicted for NoExecute taints (pkg/controller/tainteviction, v1.36.2).

const MAX_INT64 = 2n ** 63n - 1n;

export interface MatchingTolerations {
  readonly allTolerated: boolean;
  /** The first match of each taint. Empty if one is not tolerated. */
  readonly used: readonly Toleration[];
}

/** The tolerations that match the NoExecute taints (GetMatchingTolerations). */
export function matchingTolerations(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  tolerates: Tolerates = toleratesTaint,
): MatchingTolerations {
  const used: Toleration[] = [];
  for (const taint of taints) {
    const match = tolerations.find((toleration) => tolerates(toleration, taint));
    if (match === undefined) return { allTolerated: false, used: [] };
    used.push(match);
  }
  return { allTolerated: true, used };
}

/** Seconds until the eviction (getMinTolerationTime): 0 without tolerations, and for a negative one. */
export function minTolerationSeconds(used: readonly Toleration[]): bigint | 'infinite' {
  if (used.length === 0) return 0n;
  const seconds = used.flatMap(({ tolerationSeconds }) => tolerationSeconds ?? []);
  if (seconds.some((count) => count <= 0n)) return 0n;
  const least = seconds.reduce((min, count) => (count < min ? count : min), MAX_INT64);
  return least === MAX_INT64 ? 'infinite' : least;
}

/** An eviction that waits until a toleration ends. */
export interface WaitingEviction {
  readonly createdNs: bigint;
  readonly dueNs: bigint;
}

/** Its times are CLOCK_BOOTTIME. */
export interface TaintedWorkload extends WaitingEviction {
  readonly name: string;
  readonly path: string;
  /** The one that is tolerated for the shortest time: 'maintenance=yes:NoExecute'. */
  readonly taint: string;
}

/** Evictions that wait until a toleration ends, by workload id. */
export type TaintEvictions = ReadonlyMap<string, TaintedWorkload>;

/** When the workloads were compared with the taints last, and with what. */
export interface TaintEvaluation {
  readonly atNs: bigint;
  readonly bootNs: bigint;
  readonly of: string;
}

/**
 * Whether a workload is evicted (processPodOnNode). A waiting eviction is never moved: it is dropped, or overtaken by a
 * taint that is not tolerated.
 *
 * @param taints  those with the effect NoExecute
 * @param waiting  its eviction that waits already
 */
export function taintEviction<W extends WaitingEviction>(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  waiting: W | undefined,
  nowNs: bigint,
): 'now' | 'never' | W | WaitingEviction {
  if (taints.length === 0) return 'never';
  const { allTolerated, used } = matchingTolerations(taints, tolerations);
  if (!allTolerated) return 'now';
  const seconds = minTolerationSeconds(used);
  const forNs = seconds === 'infinite' ? -1n : BigInt.asIntN(64, seconds * NS_PER_SECOND); // a Go duration: 64 bits
  if (forNs < 0n) return 'never';
  if (waiting !== undefined && waiting.createdNs < nowNs) return waiting;
  return forNs === 0n ? 'now' : { createdNs: nowNs, dueNs: nowNs + forNs };
}
