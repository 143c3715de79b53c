import { memoryClosesNs, type JudgedMemory } from './node-yield.js';
import { countedBy } from '../rank/candidate-usages.js';
import type { Departures } from '../decide/departures.js';
import type { Decision, EvictionInFlight } from '../decide/eviction.js';
import { nodeBefore } from '../rank/eviction-cause.js';
import type { ThresholdCause } from '../threshold/threshold-cause.js';
import type { Observation, Observations } from '../signal/observation.js';
import type { Resource } from '../signal/signal.js';

/**
 * Some filesystems free deleted files a moment after their last process has ended; xfs frees them in the background,
 * one by one.
 */
const FILES_STILL_NS = 1_000_000_000n;
/**
 * A killed process keeps its id until its parent, mostly init, reaps it. After a fork bomb this took two seconds for a
 * hundred processes. evictd waits while values still rise, …
 */
const SLOWLY_STILL_NS = 10_000_000_000n;
/**
 * … but at most this long, because other workloads use the resource too. A runtime gets this long to remove a
 * container's files.
 */
const WITHIN_NS = 60_000_000_000n;

/**
 * An eviction whose workload has no process left, with what has become available since.
 *
 * @param judged  the reading by which the node judges it; left out: its own
 */
export function withYield(
  eviction: EvictionInFlight,
  observations: Observations | undefined,
  nowNs: bigint,
  judged?: JudgedMemory,
): EvictionInFlight {
  const { cause } = eviction.decision;
  const gone = { ...eviction, exitedSinceNs: eviction.exitedSinceNs ?? nowNs };
  const before = judged?.before ?? nodeBefore(cause)?.observation;
  if (before === undefined) return gone;
  const after = judged === undefined ? nodeAfter(eviction.decision, observations) : observations?.observed.get(judged.signal);
  const available = after?.available;
  const most = eviction.risen?.available ?? before.available;
  return available === undefined || available <= most ? gone : { ...gone, risen: { available, atNs: nowNs } };
}

/** When waiting for the yield ends; undefined: processes are left. */
export function yieldClosesNs(eviction: EvictionInFlight): bigint | undefined {
  const { decision, exitedSinceNs, risen } = eviction;
  if (exitedSinceNs === undefined) return undefined;
  if (decision.resource === 'memory') return memoryClosesNs(eviction);
  const mostNs = exitedSinceNs + WITHIN_NS;
  if (isRemoved(decision)) return mostNs; // A runtime may take its time.
  const timeoutNs = decision.resource === 'pids' ? SLOWLY_STILL_NS : FILES_STILL_NS;
  const stillNs = (risen?.atNs ?? exitedSinceNs) + timeoutNs;
  return stillNs < mostNs ? stillNs : mostNs;
}

/**
 * Reports whether it is too early to tell what an eviction freed on a disk or of process ids. Until then no other
 * workload is evicted for the resource. (Process ids only with departure no-yield: the kubelet does not check.)
 */
export function isYieldOpen(
  eviction: EvictionInFlight,
  observations: Observations | undefined,
  nowNs: bigint,
  departures: Departures,
): boolean {
  const { decision } = eviction;
  const { cause, resource } = decision;
  if (cause.kind !== 'threshold' || nowNs >= (yieldClosesNs(eviction) ?? nowNs)) return false;
  const after = nodeAfter(decision, observations);
  const { usage = 0n, holding } = decision.victim;
  if (resource === 'pids') return departures['no-yield'] && !isBack(usage, cause, after);
  return holding !== undefined && !isBack(countedBy(cause.threshold.signal, holding.frees), cause, after);
}

/** The signal's current reading; undefined: unreadable, or of another filesystem than before. */
export function nodeAfter({ cause, victim }: Decision, observations: Observations | undefined): Observation | undefined {
  const before = nodeBefore(cause);
  const after = before && observations?.observed.get(before.signal);
  const isOther = victim.holding !== undefined && after?.source !== before?.observation.source;
  return isOther ? undefined : after;
}

/**
 * The resources for which no other workload is evicted while this eviction is not over: what a removed container has
 * written is bytes and inodes.
 */
export function relieved(decision: Decision): readonly Resource[] {
  return isRemoved(decision) ? DISK_RESOURCES : [decision.resource];
}

const DISK_RESOURCES: readonly Resource[] = ['ephemeral-storage', 'inodes'];

/** Its container runtime removes its files. */
function isRemoved({ victim: { workload, holding } }: Decision): boolean {
  return holding !== undefined && workload.runtime !== undefined;
}

/** Nine tenths: other workloads use the resource meanwhile. */
function isBack(amount: bigint, { observation }: ThresholdCause, after: Observation | undefined): boolean {
  return after !== undefined && (after.available - observation.available) * 10n >= amount * 9n;
}
