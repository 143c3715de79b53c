/** How long logind lets a shutdown wait for those who hold a delay inhibitor (InhibitDelayMaxSec=). */
export type InhibitDelay =
  | { readonly kind: 'known'; readonly maxNs: bigint }
  /** Nobody knows, or there is nothing that would wait. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** undefined: not known. Exactly as long as asked for is enough. */
export function suffices(delay: InhibitDelay, requestedNs: bigint): boolean | undefined {
  return delay.kind === 'known' ? delay.maxNs >= requestedNs : undefined;
}
