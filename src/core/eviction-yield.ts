import { countedBy } from './usages.js';
import type { Departures } from './departure.js';
import type { Decision, EvictionInFlight, ThresholdCause } from './eviction.js';
import type { Observation, Observations } from './observation.js';
import type { Resource } from './signal.js';

/** Some filesystems give deleted files back a moment after the last process that held them has gone, and xfs one after the other in the background. */
const FILES_STILL_NS = 1_000_000_000n;
/**
 * What was killed keeps its process ids until its parent, mostly init, has reaped it. After a fork bomb, which had the processors, that was seen to take two seconds
 * for a hundred. All of these are waited for while they come back, …
 */
const SLOWLY_STILL_NS = 10_000_000_000n;
/** … but not for longer than this: others may come and go for ever. What a container has written comes back when its runtime has removed it, and is waited for so long in any case. */
const WITHIN_NS = 60_000_000_000n;

/** An eviction whose workload has no process left, with what has become available since. */
export function withYield(eviction: EvictionInFlight, observations: Observations | undefined, nowNs: bigint): EvictionInFlight {
  const { cause } = eviction.decision;
  const gone = { ...eviction, goneSinceNs: eviction.goneSinceNs ?? nowNs };
  if (cause.kind !== 'threshold') return gone;
  const available = nodeAfter(eviction.decision, observations)?.available;
  const most = eviction.risen?.available ?? cause.observation.available;
  return available === undefined || available <= most ? gone : { ...gone, risen: { available, atNs: nowNs } };
}

/** When it is given up to wait for what an eviction gives back; undefined: somebody is left. */
export function yieldClosesNs({ decision, goneSinceNs, risen }: EvictionInFlight): bigint | undefined {
  if (goneSinceNs === undefined) return undefined;
  const mostNs = goneSinceNs + WITHIN_NS;
  if (isRemoved(decision)) return mostNs; // its runtime may take its time
  const patienceNs = decision.resource === 'pids' ? SLOWLY_STILL_NS : FILES_STILL_NS;
  const stillNs = (risen?.atNs ?? goneSinceNs) + patienceNs;
  return stillNs < mostNs ? stillNs : mostNs;
}

/**
 * Whether it is too early to say what an eviction gave back, of a disk or of process ids. Until then nobody else goes for the same: he would go for what is already
 * over. (Of process ids with departure no-yield: the kubelet does not look.)
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

/** What an eviction was for, as it is now; undefined: it cannot be read, or is about another filesystem than it was. */
export function nodeAfter({ cause, victim }: Decision, observations: Observations | undefined): Observation | undefined {
  const after = cause.kind === 'threshold' ? observations?.observed.get(cause.threshold.signal) : undefined;
  const isOther = cause.kind === 'threshold' && victim.holding !== undefined && after?.source !== cause.observation.source;
  return isOther ? undefined : after;
}

/** The resources for which no other workload is evicted while this eviction is not over: what a removed container has written is bytes and inodes. */
export function relieved(decision: Decision): readonly Resource[] {
  return isRemoved(decision) ? DISK_RESOURCES : [decision.resource];
}

const DISK_RESOURCES: readonly Resource[] = ['ephemeral-storage', 'inodes'];

/** What it has on disks goes when its container runtime removes it. */
function isRemoved({ victim: { workload, holding } }: Decision): boolean {
  return holding !== undefined && workload.runtime !== undefined;
}

/** Nine tenths of it: others come and go meanwhile. */
function isBack(amount: bigint, { observation }: ThresholdCause, after: Observation | undefined): boolean {
  return after !== undefined && (after.available - observation.available) * 10n >= amount * 9n;
}
