/** How long logind lets a shutdown wait for those who hold a delay inhibitor (InhibitDelayMaxSec=). */
export type InhibitDelay =
  | { readonly kind: 'known'; readonly maxNs: bigint }
  /** Nobody knows, or there is nothing that would wait. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** undefined: not known. Exactly as long as asked for is enough. */
export function suffices(delay: InhibitDelay, requestedNs: bigint): boolean | undefined {
  return delay.kind === 'known' ? delay.maxNs >= requestedNs : undefined;
}

const NS_PER_SECOND = 1_000_000_000n;

/** 'InhibitDelayMaxSec=30' of logind.conf(5): what lets a shutdown wait for so long. Rounded up. */
export function inhibitDelaySetting(requestedNs: bigint): string {
  return `InhibitDelayMaxSec=${String((requestedNs + NS_PER_SECOND - 1n) / NS_PER_SECOND)}`;
}
