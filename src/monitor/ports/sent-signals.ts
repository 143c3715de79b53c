import type { SignalResult } from './ports.js';

/** The moments of an eviction, monotonic nanoseconds. The journal has their differences. */
export interface EvictionTimes extends PassTimes {
  readonly crossingNs: bigint;
  readonly decisionNs: bigint;
  readonly signalNs: bigint | undefined;
  readonly killNs: bigint | undefined;
}

/** The moments of the pass that decided. undefined or left out: not known, in a replay or after a restart. */
export interface PassTimes {
  /** JavaScript runs. */
  readonly wakeNs: bigint | undefined;
  /** All candidates are read. */
  readonly candidatesNs?: bigint | undefined;
  /** The victim is chosen. */
  readonly chosenNs?: bigint | undefined;
  /** The decision is in the journal's ring. */
  readonly recordedNs?: bigint | undefined;
}

/** The first signal, SIGTERM or SIGKILL; and SIGKILL. By the time that each sets. */
export type SentSignal = 'signalNs' | 'killNs';

/**
 * The signals that the victim of an eviction has got. `Victims` keeps the value: the saved state, readings, escalations
 * and outcome records take theirs from it. Adapters keep only what it does not say:
 *
 * - `VictimKill`: which processes got SIGKILL, and when: new ones, and those that stay, need other means.
 * - `PodKill`: that SIGKILL was not refused. A refused one counts as sent here, and such a pod is not removed.
 * - `PendingDeletion`: that evictd itself has sent SIGTERM. It is saved with the deletion, which outlasts the eviction.
 * - `ShutdownRun`: the workloads that it has signalled, also those that have ended and are no victims any more.
 */
export interface SentSignals {
  readonly times: EvictionTimes;
  /** The last signal that was sent, or refused for good; undefined: none was. */
  readonly sent: SentSignal | undefined;
}

export function noSignalSent(times: Omit<EvictionTimes, 'signalNs' | 'killNs'>): SentSignals {
  return { times: { ...times, signalNs: undefined, killNs: undefined }, sent: undefined };
}

/** The native layer has sent SIGKILL. */
export function orderedSignals(crossingNs: bigint, signalNs: bigint): SentSignals {
  return { times: { crossingNs, wakeNs: undefined, decisionNs: signalNs, signalNs, killNs: signalNs }, sent: 'killNs' };
}

export function isFirstSent({ sent }: SentSignals, signal: SentSignal, { passing }: Pick<SignalResult, 'passing'>): boolean {
  return passing !== 'unsent' && sent !== signal;
}

/**
 * After a call that was to send a signal. Until one has reached a process, the times are those of the first attempt.
 */
export function afterSignal(before: SentSignals, signal: SentSignal, result: Pick<SignalResult, 'atNs' | 'passing'>): SentSignals {
  const { times, sent } = before;
  const { atNs } = result;
  const isFirst = isFirstSent(before, signal, result);
  const signalNs = isFirst && sent === undefined ? atNs : (times.signalNs ?? atNs);
  const killNs = signal === 'killNs' ? (isFirst ? atNs : (times.killNs ?? atNs)) : undefined;
  return { times: { ...times, signalNs, killNs }, sent: isFirst ? signal : sent };
}

/** When the last signal was sent, or tried; undefined: none was. */
export function lastSignalNs({ times: { killNs, signalNs } }: SentSignals): bigint | undefined {
  return killNs ?? signalNs;
}
