import { formatDuration, NS_PER_SECOND } from '../quantity/duration.js';

/** How long logind delays a shutdown for holders of a delay inhibitor (InhibitDelayMaxSec=). */
export type InhibitDelay =
  | { readonly kind: 'known'; readonly maxNs: bigint }
  /** Not readable, or no logind. */
  | { readonly kind: 'unknown'; readonly reason: string };

/**
 * evictd learns of a shutdown and reads the workloads after logind's clock has started, and the last group's killed
 * workloads need a second to exit.
 */
const OWN_NS = 2n * NS_PER_SECOND;

/** The delay that logind must allow for the configured grace periods. */
export function neededDelayNs(requestedNs: bigint): bigint {
  return requestedNs + OWN_NS;
}

/** 'the configuration needs 30s, and evictd 2s more' */
export function requestedText(requestedNs: bigint): string {
  return `the configuration needs ${formatDuration(requestedNs)}, and evictd ${formatDuration(OWN_NS)} more`;
}

/** undefined: not known. */
export function suffices(delay: InhibitDelay, requestedNs: bigint): boolean | undefined {
  return delay.kind === 'known' ? delay.maxNs >= neededDelayNs(requestedNs) : undefined;
}

/** The setting of logind.conf(5) that allows a long enough delay, rounded up: 'InhibitDelayMaxSec=32'. */
export function inhibitDelaySetting(requestedNs: bigint): string {
  return `InhibitDelayMaxSec=${String((neededDelayNs(requestedNs) + NS_PER_SECOND - 1n) / NS_PER_SECOND)}`;
}
