import { formatDuration } from './duration.js';

/** How long logind lets a shutdown wait for those who hold a delay inhibitor (InhibitDelayMaxSec=). */
export type InhibitDelay =
  | { readonly kind: 'known'; readonly maxNs: bigint }
  /** Nobody knows, or there is nothing that would wait. */
  | { readonly kind: 'unknown'; readonly reason: string };

const NS_PER_SECOND = 1_000_000_000n;

/** evictd hears of a shutdown, and looks who is there, when logind has begun to count; and whoever is killed at the end of the last group has a second to go. */
const OWN_NS = 2n * NS_PER_SECOND;

/** What logind has to wait for where the configuration asks for `requestedNs`. */
export function neededDelayNs(requestedNs: bigint): bigint {
  return requestedNs + OWN_NS;
}

/** 'the configuration asks for 30s, and evictd for 2s beside' */
export function askedText(requestedNs: bigint): string {
  return `the configuration asks for ${formatDuration(requestedNs)}, and evictd for ${formatDuration(OWN_NS)} beside`;
}

/** undefined: not known. */
export function suffices(delay: InhibitDelay, requestedNs: bigint): boolean | undefined {
  return delay.kind === 'known' ? delay.maxNs >= neededDelayNs(requestedNs) : undefined;
}

/** 'InhibitDelayMaxSec=32' of logind.conf(5): what lets a shutdown wait for long enough. Rounded up. */
export function inhibitDelaySetting(requestedNs: bigint): string {
  return `InhibitDelayMaxSec=${String((neededDelayNs(requestedNs) + NS_PER_SECOND - 1n) / NS_PER_SECOND)}`;
}
