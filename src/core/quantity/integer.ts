/** What an amount × 10⁹ is divided by. */
export const NANO = 1_000_000_000n;

/** An integer that every JSON reader keeps exact: a number up to 2⁵³, else a decimal string. */
export function jsonInteger(value: bigint): number | string {
  return value >= -(2n ** 53n) && value <= 2n ** 53n ? Number(value) : value.toString();
}

/** An amount × 10⁹ as a number, with a fraction where it has one. */
export function jsonOfNano(nano: bigint): number | string {
  return nano % NANO === 0n ? jsonInteger(nano / NANO) : Number(nano) / 1e9;
}

export function minBigInt(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function maxBigInt(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
