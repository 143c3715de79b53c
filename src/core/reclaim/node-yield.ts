import type { Departures } from '../decide/departures.js';
import { knownBytes, type Decision, type EvictionInFlight, type NotFreed } from '../decide/eviction.js';
import type { Observation, Observations } from '../signal/observation.js';
import type { EvictionCause } from '../rank/eviction-cause.js';
import { isPressure, isResourceSignal, SIGNAL_FACTS, type ResourceSignal, type Signal } from '../signal/signal.js';
import type { ThresholdCause } from '../threshold/threshold-cause.js';
import { operandsOf, resolve, type Threshold } from '../threshold/threshold.js';

/**
 * A yield counts as small only if what the node has available has not risen for this long. A process frees its memory
 * before it leaves its cgroup, but the kernel sums its per-processor counters once a second (vm.stat_interval).
 */
const STILL_NS = 1_500_000_000n;
/** The longest time that counts, because other workloads free memory, too. */
const WITHIN_NS = 10_000_000_000n;

/** The reading of memory by which an eviction is judged. */
export interface JudgedMemory {
  readonly signal: ResourceSignal;
  /** When it was decided. */
  readonly before: Observation;
  /** What has to be available, in bytes. undefined: what caused the eviction requires no amount. */
  readonly limit: bigint | undefined;
}

/**
 * The reading by which the node judges an eviction (departure node-yield): of its signal, or, where that is pressure, of
 * the joined operand that counts bytes of memory, or else of memory.available. undefined: there is none, or it is not about
 * memory of the node.
 */
export function judgedMemory({ cause, resource }: Decision, departures: Departures): JudgedMemory | undefined {
  return departures['node-yield'] && resource === 'memory' ? nodeMemory(cause) : undefined;
}

/** The memory that judges an eviction, whether the departure is on or not. */
export function nodeMemory(cause: EvictionCause): JudgedMemory | undefined {
  if (cause.kind === 'threshold') return memoryOf(cause);
  return cause.kind === 'policy' && cause.judgedBy === undefined ? available(cause.memory) : undefined;
}

/** The memory that judges an eviction for a threshold that may evict for memory. */
export function memoryOf({ threshold, observation, limit, joined = [], memory }: MemoryCause): JudgedMemory | undefined {
  if (!isPressure(threshold.signal)) return { signal: threshold.signal, before: observation, limit };
  for (const { operand, observation: before } of joined) {
    const { signal, value } = operand;
    if (before === undefined || isPressure(signal) || !isResourceSignal(signal) || SIGNAL_FACTS[signal].resource !== 'memory') continue;
    return { signal, before, limit: resolve(value, before.capacity) };
  }
  return available(memory);
}

/** The signals by which an eviction of the threshold may be judged. */
export function judgingSignals(threshold: Threshold): readonly Signal[] {
  const signals = operandsOf(threshold).map(({ signal }) => signal);
  return isPressure(threshold.signal) ? [...signals, 'memory.available'] : signals;
}

function available(memory: Observation | undefined): JudgedMemory | undefined {
  return memory && { signal: 'memory.available', before: memory, limit: undefined };
}

type MemoryCause = Pick<ThresholdCause, 'threshold' | 'observation' | 'limit' | 'joined' | 'memory'>;

/** What the node got back from an eviction without a process left. */
export interface NodeYield {
  /** The gain of the node; below 0: other workloads have used more since than the victim freed. */
  readonly gained: bigint;
  readonly isEnough: boolean;
  /** undefined: it is enough, or the reason is not known because the cgroup is removed. */
  readonly notFreed: NotFreed | undefined;
}

/**
 * Enough is half of what was expected, because others use memory meanwhile, and not less than what stays: a victim that
 * leaves more behind than it frees does not cure the shortage. undefined: the node's memory or the expected amount is
 * not known.
 */
export function nodeYield(
  eviction: EvictionInFlight,
  { signal, before }: JudgedMemory,
  observations: Observations | undefined,
  removed: boolean,
): NodeYield | undefined {
  const { victim } = eviction.decision;
  const expected = knownBytes(victim);
  const after = observations?.observed.get(signal)?.available;
  if (after === undefined || expected === undefined) return undefined;
  const gained = after - before.available;
  const isHalf = gained * 2n >= expected;
  const isEnough = isHalf && gained >= (victim.stays ?? 0n);
  return { gained, isEnough, notFreed: isEnough ? undefined : isHalf ? 'stays' : reason(eviction, expected, removed) };
}

function reason({ peakUsageBytes, usageBytes }: EvictionInFlight, expected: bigint, removed: boolean): NotFreed | undefined {
  const isFreed = (peakUsageBytes - usageBytes) * 2n >= expected;
  return isFreed ? 'taken' : removed ? undefined : 'stays';
}

/** When waiting for memory ends. */
export function memoryClosesNs({ exitedSinceNs = 0n, risen }: EvictionInFlight): bigint {
  const mostNs = exitedSinceNs + WITHIN_NS;
  const stillNs = (risen?.atNs ?? exitedSinceNs) + STILL_NS;
  return stillNs < mostNs ? stillNs : mostNs;
}

/**
 * Reports whether it is too early to tell what the node got back. It is not too early if other workloads take the
 * memory: the cgroup has freed it, and less is available than before.
 */
export function isMemoryOpen(eviction: EvictionInFlight, found: NodeYield | undefined, nowNs: bigint): boolean {
  if (nowNs >= memoryClosesNs(eviction) || found?.isEnough) return false;
  return found === undefined ? knownBytes(eviction.decision.victim) !== undefined : found.notFreed !== 'taken' || found.gained >= 0n;
}
