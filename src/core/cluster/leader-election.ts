// The election of a leader by a Lease (client-go: tools/leaderelection, v1.36.2). Times are of the local clock only: clocks may differ.

export interface ElectionTimings {
  /** Another process may take a lease after this time in which it has not seen a renewal. */
  readonly leaseNs: bigint;
  /** The leader stops if it has not renewed the lease for so long. Shorter than `leaseNs`. */
  readonly renewDeadlineNs: bigint;
  /** Between two attempts. */
  readonly retryNs: bigint;
}

export const DEFAULT_TIMINGS: ElectionTimings = { leaseNs: 15_000_000_000n, renewDeadlineNs: 10_000_000_000n, retryNs: 2_000_000_000n };

/** The spec of a Lease (coordination.k8s.io/v1). Times as written. */
export interface LeaseSpec {
  /** '': it is free. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly leaseTransitions: number;
}

/** A lease, and since when it has not changed. */
export interface SeenLease {
  readonly spec: LeaseSpec;
  readonly sinceNs: bigint;
}

export function seeLease(before: SeenLease | undefined, spec: LeaseSpec, nowNs: bigint): SeenLease {
  const isSame = before?.spec.holderIdentity === spec.holderIdentity && before.spec.renewTime === spec.renewTime;
  return isSame ? before : { spec, sinceNs: nowNs };
}

/** @param leastNs  a lease counts as held for at least so long after its last change */
export function isHeld({ spec, sinceNs }: SeenLease, nowNs: bigint, leastNs = 0n): boolean {
  const leaseNs = BigInt(spec.leaseDurationSeconds) * 1_000_000_000n;
  return spec.holderIdentity !== '' && nowNs - sinceNs <= (leaseNs > leastNs ? leaseNs : leastNs);
}

/**
 * The spec with which `identity` takes the lease or renews it; undefined: another one holds it.
 *
 * @param seen  undefined: there is no lease
 * @param now  of the wall clock, for readers
 */
export function claim(
  seen: SeenLease | undefined,
  identity: string,
  { leaseNs }: ElectionTimings,
  nowNs: bigint,
  now: string,
): LeaseSpec | undefined {
  const leaseDurationSeconds = Number(leaseNs / 1_000_000_000n);
  if (seen === undefined) return { holderIdentity: identity, leaseDurationSeconds, acquireTime: now, renewTime: now, leaseTransitions: 0 };
  const { spec } = seen;
  if (spec.holderIdentity === identity) return { ...spec, leaseDurationSeconds, renewTime: now };
  if (isHeld(seen, nowNs)) return undefined;
  const leaseTransitions = spec.leaseTransitions + 1;
  return { holderIdentity: identity, leaseDurationSeconds, acquireTime: now, renewTime: now, leaseTransitions };
}

/** The spec with which a leader that ends lets another one lead at once. */
export function released(spec: LeaseSpec, now: string): LeaseSpec {
  return { ...spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now };
}
